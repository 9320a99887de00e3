// SPDX-License-Identifier: Apache-2.0
//
// Libraries in C that do not survive the loss of an allocation: what they will need is asked for
// before they are called.
#pragma once

#include <cstddef>

namespace tangere::core {

/// Throws std::bad_alloc when so much memory is not to be had in one piece. Nothing is kept.
void requireMemory(std::size_t bytes);

}  // namespace tangere::core
