// SPDX-License-Identifier: Apache-2.0
//
// Memory is asked for before it is taken: a machine that lends more than it has ends the process
// without a word.
#pragma once

#include <cstddef>
#include <string>

namespace tangere::python {

/// Throws LimitExceeded when `bytes` for `what` are more than the machine, or the group of
/// processes this one belongs to, has left.
void requireMemory(double bytes, const std::string& what);

/// Bytes that this process has taken from the heap.
[[nodiscard]] std::size_t heapBytes();

}  // namespace tangere::python
