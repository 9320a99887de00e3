// SPDX-License-Identifier: Apache-2.0
#include "solver/six_blocks.hpp"

#include "solver/six_blocks_body.hpp"

namespace tangere::solver {

const SixFunctions& sixFunctions() {
  static const SixFunctions* const functions =
      avx2SixFunctions() != nullptr ? avx2SixFunctions() : &genericSixFunctions();
  return *functions;
}

const SixFunctions& genericSixFunctions() { return kFunctions; }

}  // namespace tangere::solver
