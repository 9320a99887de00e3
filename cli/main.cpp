// SPDX-License-Identifier: Apache-2.0
//
// tangere COMMAND ...: reads the command line, runs one command, turns what it throws into an exit
// code and a message.
#include "commands.hpp"

#include <tangere/config.hpp>
#include <tangere/limit_exceeded.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace tangere::cli {

namespace {

void addCommonOptions(CLI::App& program, CommonOptions& common) {
  program.set_version_flag("--version", "tangere " TANGERE_VERSION_STRING);
  program.add_flag("--json", common.json, "One JSON document on stdout, nothing else");
  program.add_flag("-q,--quiet", common.quiet, "Say less (twice: no warnings)");
  program.add_flag("-v,--verbose", common.verbose, "Say more");
  program.add_option("--threads", common.threads, "Worker threads; any number gives the same bits")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->default_str("1");
}

std::vector<std::string> commandNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App* findCommand(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

/// What the parser said, with the nearest known name where a word was not understood.
std::string usageMessage(const CLI::App& program, const CLI::ParseError& error,
                         const std::vector<std::string>& words) {
  const CLI::App* command = nullptr;
  for (std::size_t i = 0; i < words.size() && command == nullptr; ++i) {
    const bool isValue = i > 0 && words[i - 1] == "--threads";
    if (words[i].rfind('-', 0) == 0 || isValue) continue;
    command = findCommand(program, words[i]);
    if (command == nullptr)
      return "unknown command '" + words[i] + "'" + nearNames(words[i], commandNames(program));
  }
  std::vector<std::string> known = optionNames(program);
  if (command != nullptr)
    for (const std::string& name : optionNames(*command)) known.push_back(name);
  for (const std::string& word : words) {
    if (word.rfind("--", 0) != 0 || word.size() == 2) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) == known.end())
      return "unknown option '" + name + "'" + nearNames(name, known);
  }
  return error.what();
}

/// The code of a command that has done all but print: what it said must have reached the user.
int reportFullStdout(const CommonOptions& common) {
  try {
    flushStdout();
    return kDone;
  } catch (const CommandError& error) {
    return reportError(error, common);
  }
}

int run(int argc, char** argv) {
  CommonOptions common;
  CLI::App program("Tangere: bodies in contact, with a depth for every contact point", "tangere");
  program.require_subcommand(1);
  program.fallthrough();
  addCommonOptions(program, common);
  addRunCommand(program, common);
  addDiffCommand(program, common);
  addExportCommand(program, common);
  addQueryCommand(program, common);
  addCheckCommand(program, common);
  addMeshCommand(program, common);
  addCompareCommand(program, common);
  addViewCommand(program, common);
  addVerifyCommand(program, common);
  addBenchCommand(program, common);
  addDoctorCommand(program, common);
  program.footer(
      "Example:\n  tangere run stack.toml --duration 2 --record stack.h5\n"
      "  tangere COMMAND --help shows the options of a command with an example.\n"
      "Exit codes: 0 done, 2 usage, 3 input rejected, 4 simulation stopped, 5 resource limit, "
      "6 input/output, 7 device, 130 interrupted.");
  try {
    catchInterrupts();
    program.parse(argc, argv);
    return reportFullStdout(common);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      program.exit(error);
      return reportFullStdout(common);
    }
    const std::vector<std::string> words(argv + 1, argv + argc);
    common.json = std::find(words.begin(), words.end(), "--json") != words.end();
    return reportError(
        CommandError(kUsage, usageMessage(program, error, words) + "; see tangere --help"), common);
  } catch (const CommandError& error) {
    return reportError(error, common);
  } catch (const CommandEnd& end) {
    return end.code;
  } catch (const LimitExceeded& error) {
    return reportError(CommandError(kResourceLimit, error.what()), common);
  } catch (const InvalidInput& error) {
    return reportError(CommandError(kInputRejected, error.what()), common);
  } catch (const FileError& error) {
    return reportError(CommandError(kInputOutput, error.what()), common);
  } catch (const std::bad_alloc&) {
    return reportError(CommandError(kResourceLimit, "out of memory"), common);
  }
}

constexpr const char* kNoMemory = "tangere: out of memory or a failure of the system\n";

/// Whether there is nothing left, not even for an exception to be thrown.
bool isMemoryGone() {
  constexpr std::size_t kLittle = std::size_t{1} << 20;
  void* volatile memory = std::malloc(kLittle);
  std::free(memory);
  return memory == nullptr;
}

/// A destructor that needs memory has no way to say that there is none: that of a JSON value does.
[[noreturn]] void endWithoutMemory() {
  bool isGone = isMemoryGone();
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    isGone = true;
  } catch (...) {  // a fault of ours, which is not hidden
  }
  if (!isGone) std::abort();
  (void)!write(STDERR_FILENO, kNoMemory, std::strlen(kNoMemory));
  _exit(kResourceLimit);
}

// Before the constructors of this program, which need memory as well.
[[gnu::constructor(101)]] void prepareForNoMemory() { std::set_terminate(endWithoutMemory); }

}  // namespace

}  // namespace tangere::cli

int main(int argc, char** argv) {
  try {
    return tangere::cli::run(argc, argv);
  } catch (...) {
    std::fputs(tangere::cli::kNoMemory, stderr);
    return tangere::cli::kResourceLimit;
  }
}
