// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a robot file, from seeds that are MJCF: refused with at most twenty errors, or a
// model that is sound.
#include "fuzz/robot_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tangere::fuzz::readAnyRobot({reinterpret_cast<const char*>(data), size});
  return 0;
}
