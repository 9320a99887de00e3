// SPDX-License-Identifier: Apache-2.0
//
// Output that appears under its final name only when it is complete: it is written to a temporary
// file beside it, flushed to the disk, and renamed. A failure or an interrupt leaves nothing.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tangere::cli {

class OutputFile {
 public:
  /// "" or "-": stdout. Throws CommandError with kInputOutput, as write() and commit() do.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  /// Gives the file its name. Without this call nothing remains.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_, temporary_;
  std::FILE* stream_ = nullptr;
};

}  // namespace tangere::cli
