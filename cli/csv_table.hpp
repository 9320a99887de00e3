// SPDX-License-Identifier: Apache-2.0
//
// A comma-separated table in memory that knows where every field stands in its file. Fields may be
// quoted; lines may end in CR LF; a UTF-8 byte order mark is skipped. Numbers are read with a
// decimal point whatever the locale.
#pragma once

#include "console.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::cli {

struct CsvField {
  std::string text;
  int column = 0;  ///< of the first character, counted from 1
};

struct CsvRow {
  int line = 0;
  std::vector<CsvField> fields;
};

class CsvTable {
 public:
  /// Reads a regular file ("-": stdin). Throws CommandError: kInputOutput when it cannot be read,
  /// kResourceLimit above `kMaxFileBytes`, kInputRejected when it has no header, a row has another
  /// number of fields than the header, or it is not text.
  explicit CsvTable(const std::string& path);
  static constexpr long long kMaxFileBytes = 1LL << 30;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<CsvField>& header() const { return header_; }
  /// Index of a column, or -1.
  [[nodiscard]] int find(std::string_view name) const;
  /// Index of a column that has to be there. When it is not, that goes to `errors`, with the
  /// nearest name among the columns that are not in `known`.
  [[nodiscard]] int require(const std::string& name, const std::vector<std::string>& known,
                            Diagnostics& errors) const;

 private:
  std::string path_;
  std::vector<CsvField> header_;
  std::vector<CsvRow> rows_;
};

/// The whole text of a regular file; throws CommandError as CsvTable does.
[[nodiscard]] std::string readTextFile(const std::string& path, long long maxBytes);

/// A finite decimal number, the whole field. A number too small for a double reads as zero.
[[nodiscard]] std::optional<double> parseNumber(std::string_view text);
[[nodiscard]] std::optional<int> parseIndex(std::string_view text);

/// The text in quotes, cut to a readable length and without control characters.
[[nodiscard]] std::string inQuotes(std::string_view text);

}  // namespace tangere::cli
