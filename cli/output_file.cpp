// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "console.hpp"

#include <tangere/error.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tangere::cli {

namespace {

/// What is thrown about a file says which.
template <class Function>
void forCommand(const Function& function) {
  try {
    function();
  } catch (const FileError& error) {
    throw CommandError(kInputOutput, error.what());
  }
}

[[noreturn]] void failStdout() {
  throw CommandError(kInputOutput,
                     {{.file = "stdout",
                       .message = "cannot be written: " + std::generic_category().message(errno)}});
}

void requireDifferent(const NamedFile& output, const NamedFile& other, const char* ending) {
  if (output.path.empty() || output.path == "-" || other.path.empty()) return;
  if (isSameFile(output.path, other.path + ending) ||
      isSameFile(output.path + ".partial", other.path))
    throw CommandError(kUsage,
                       join(output.what, " ", output.path, " is the same file as ", other.what));
}

}  // namespace

bool isSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error) && !error) return true;
  const auto pathA = std::filesystem::weakly_canonical(a, error);
  const auto pathB = std::filesystem::weakly_canonical(b, error);
  return !error && pathA == pathB;
}

void requireDifferentFiles(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) requireDifferent(outputs[i], input, "");
    for (std::size_t k = 0; k < i; ++k) {
      requireDifferent(outputs[k], outputs[i], "");
      requireDifferent(outputs[k], outputs[i], ".partial");
    }
  }
}

OutputFile::OutputFile(const std::string& path) {
  if (!path.empty() && path != "-") forCommand([&] { file_.emplace(path); });
}

void OutputFile::write(std::string_view text) {
  if (file_)
    forCommand([&] { file_->write(text); });
  else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    failStdout();
}

void OutputFile::commit() {
  if (file_)
    forCommand([&] { file_->commit(); });
  else if (std::fflush(stdout) != 0)
    failStdout();
}

}  // namespace tangere::cli
