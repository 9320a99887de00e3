// SPDX-License-Identifier: Apache-2.0
//
// The commands. Each add...Command() declares its options on the program; the callback it leaves
// runs the command and throws CommandError on everything but success.
#pragma once

#include "console.hpp"

#include <CLI/CLI.hpp>

namespace tangere::cli {

void addRunCommand(CLI::App& program, const CommonOptions& common);
void addDiffCommand(CLI::App& program, const CommonOptions& common);
void addExportCommand(CLI::App& program, const CommonOptions& common);
void addQueryCommand(CLI::App& program, const CommonOptions& common);
void addCheckCommand(CLI::App& program, const CommonOptions& common);
void addMeshCommand(CLI::App& program, const CommonOptions& common);
void addCompareCommand(CLI::App& program, const CommonOptions& common);
void addViewCommand(CLI::App& program, const CommonOptions& common);
void addVerifyCommand(CLI::App& program, const CommonOptions& common);
void addBenchCommand(CLI::App& program, const CommonOptions& common);
void addDoctorCommand(CLI::App& program, const CommonOptions& common);

}  // namespace tangere::cli
