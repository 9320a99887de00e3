// SPDX-License-Identifier: Apache-2.0
//
// Version, scalar type and the marks that let one function body serve host and device.
#pragma once

#include <limits>

#define TANGERE_VERSION_MAJOR 0
#define TANGERE_VERSION_MINOR 1
#define TANGERE_VERSION_PATCH 0
#define TANGERE_VERSION_STRING "0.1.0"

/// Marks a function that is compiled for the host and, by nvcc, for the device as well.
#ifdef __CUDACC__
#define TANGERE_HD __host__ __device__
#else
#define TANGERE_HD
#endif

namespace tangere {

/// The scalar of every public quantity. SI units throughout: m, kg, s, rad.
using Real = double;

/// A limit that is none.
inline constexpr Real kUnlimited = std::numeric_limits<Real>::infinity();

}  // namespace tangere
