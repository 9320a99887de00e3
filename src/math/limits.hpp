// SPDX-License-Identifier: Apache-2.0
//
// Limits of a scalar as constants: a device cannot call the functions of std::numeric_limits.
#pragma once

#include <limits>

namespace tangere::math {

template <class S>
inline constexpr auto kEpsilon = std::numeric_limits<S>::epsilon();
template <class S>
inline constexpr auto kLargest = std::numeric_limits<S>::max();

}  // namespace tangere::math
