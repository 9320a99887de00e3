// SPDX-License-Identifier: Apache-2.0
//
// What a command writes: to stdout, or to a file that appears under its name only when it is
// complete and that is none of those the command reads.
#pragma once

#include <tangere/output_file.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tangere::cli {

/// A file that a command reads or writes, and what it is to the user: "--record", "the scene".
struct NamedFile {
  std::string what, path;
};

/// Whether two names mean one file, which need not exist yet.
[[nodiscard]] bool isSameFile(const std::string& a, const std::string& b);

/// No output, nor its .partial, may destroy an input or another output; those without a path do not
/// count. Throws CommandError with kUsage and both names.
void requireDifferentFiles(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

class OutputFile {
 public:
  /// "" or "-": stdout. Throws CommandError with kInputOutput, as write() and commit() do.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  /// Gives the file its name. Without this call nothing remains.
  void commit();

 private:
  std::optional<tangere::OutputFile> file_;  // none: stdout
};

}  // namespace tangere::cli
