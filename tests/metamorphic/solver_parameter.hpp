// SPDX-License-Identifier: Apache-2.0
//
// The solvers as the parameter of a test.
#pragma once

#include <tangere/model.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tangere::test {

inline constexpr SolverType kAllSolvers[] = {SolverType::Impulse, SolverType::Sap,
                                             SolverType::Event};

/// "Impulse", "Sap", "Event": the end of the name of the test.
inline std::string nameOfSolver(const testing::TestParamInfo<SolverType>& one) {
  std::string name = solverTypeName(one.param);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

}  // namespace tangere::test
