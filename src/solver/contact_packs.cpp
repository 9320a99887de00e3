// SPDX-License-Identifier: Apache-2.0
#include "solver/contact_packs.hpp"

#include "solver/contact_packs_body.hpp"

namespace tangere::solver {

const PackFunctions& packFunctions() {
  static const PackFunctions* const functions = [] {
    if (avx512PackFunctions() != nullptr) return avx512PackFunctions();
    return avx2PackFunctions() != nullptr ? avx2PackFunctions() : &genericPackFunctions();
  }();
  return *functions;
}

const PackFunctions& genericPackFunctions() { return kFunctions; }

}  // namespace tangere::solver
