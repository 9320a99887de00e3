// SPDX-License-Identifier: Apache-2.0
#include "csv_table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace tangere::cli {

namespace {

/// Splits text into rows of fields, keeping positions.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, Diagnostics& errors) : text_(text), errors_(errors) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = lineStart_ = 3;
  }

  /// The next line that is not blank; false at the end.
  bool next(CsvRow& row) {
    row.fields.clear();
    while (at_ < text_.size()) {
      row.line = line_;
      readLine(row);
      if (row.fields.size() > 1 || !row.fields.front().text.empty()) return true;
      row.fields.clear();
    }
    return false;
  }

 private:
  void readLine(CsvRow& row) {
    for (;;) {
      CsvField field{.text = {}, .column = static_cast<int>(at_ - lineStart_) + 1};
      if (at_ < text_.size() && text_[at_] == '"')
        readQuoted(field, row.line);
      else
        readPlain(field);
      row.fields.push_back(std::move(field));
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      endLine();
      return;
    }
  }

  void readPlain(CsvField& field) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
      ++at_;
    std::size_t first = begin, last = at_;
    while (first < last && (text_[first] == ' ' || text_[first] == '\t')) ++first;
    while (last > first && (text_[last - 1] == ' ' || text_[last - 1] == '\t')) --last;
    field.text = std::string(text_.substr(first, last - first));
    field.column += static_cast<int>(first - begin);
  }

  void readQuoted(CsvField& field, int line) {
    ++at_;
    for (;; ++at_) {
      if (at_ >= text_.size() || text_[at_] == '\n') {
        errors_.add(line, field.column, "a quoted field is not closed on its line");
        return;
      }
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      }
      field.text += text_[at_];
    }
    ++at_;
    const std::size_t after = at_;
    CsvField rest;
    readPlain(rest);
    if (!rest.text.empty())
      errors_.add(line, static_cast<int>(after - lineStart_) + 1,
                  "found " + inQuotes(rest.text) + " after a quoted field, expected a comma");
  }

  void endLine() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    lineStart_ = at_;
  }

  std::string_view text_;
  Diagnostics& errors_;
  std::size_t at_ = 0, lineStart_ = 0;
  int line_ = 1;
};

void rejectBinary(const std::string& text, const std::string& path) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string::npos) return;
  throw CommandError(
      kInputRejected,
      {{.file = path, .message = "byte " + std::to_string(nul) + " is NUL: expected a text file"}});
}

}  // namespace

CsvTable::CsvTable(const std::string& path) : path_(path) {
  const std::string text = readTextFile(path, kMaxFileBytes);
  rejectBinary(text, path);
  Diagnostics errors(path);
  CsvScanner scanner(text, errors);
  CsvRow row;
  if (!scanner.next(row)) {
    errors.add(1, 1, "the file is empty, expected a header line with column names");
    errors.throwIfAny();
  }
  header_ = row.fields;
  for (std::size_t i = 0; i < header_.size(); ++i)
    if (find(header_[i].text) != static_cast<int>(i))
      errors.add(row.line, header_[i].column,
                 "column " + inQuotes(header_[i].text) + " occurs twice");
  while (scanner.next(row)) {
    if (row.fields.size() != header_.size())
      errors.add(row.line, row.fields.back().column,
                 "found " + std::to_string(row.fields.size()) + " fields, expected " +
                     std::to_string(header_.size()) + " as in the header");
    else
      rows_.push_back(std::move(row));
    if (errors.size() > 1000) break;  // not this kind of file: enough is known
  }
  errors.throwIfAny();
}

int CsvTable::find(std::string_view name) const {
  for (std::size_t i = 0; i < header_.size(); ++i)
    if (header_[i].text == name) return static_cast<int>(i);
  return -1;
}

int CsvTable::require(const std::string& name, const std::vector<std::string>& known,
                      Diagnostics& errors) const {
  const int index = find(name);
  if (index >= 0) return index;
  std::vector<std::string> unknown;
  for (const CsvField& field : header_)
    if (std::find(known.begin(), known.end(), field.text) == known.end())
      unknown.push_back(field.text);
  errors.addIn(path_, 1, 1, "column '" + name + "' is missing" + nearNames(name, unknown));
  return -1;
}

std::string readTextFile(const std::string& path, long long maxBytes) {
  const auto ioError = [&](const std::string& what) {
    return CommandError(kInputOutput, {{.file = path, .message = what}});
  };
  if (path == "-") {
    std::string text;
    char buffer[1 << 16];
    while (std::cin.read(buffer, sizeof buffer) || std::cin.gcount() > 0) {
      text.append(buffer, static_cast<std::size_t>(std::cin.gcount()));
      if (static_cast<long long>(text.size()) > maxBytes)
        throw CommandError(kResourceLimit, "stdin: more than " + std::to_string(maxBytes) +
                                               " bytes, which is the limit");
    }
    return text;
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) throw ioError(std::strerror(errno));
  // Opening a pipe or a device could wait for ever or never end.
  if (!S_ISREG(info.st_mode)) throw ioError("not a regular file");
  if (info.st_size > maxBytes)
    throw CommandError(kResourceLimit,
                       {{.file = path,
                         .message = std::to_string(info.st_size) + " bytes, the limit is " +
                                    std::to_string(maxBytes)}});
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw ioError(std::strerror(errno));
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) throw ioError("could not be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::optional<double> parseNumber(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say which end of the range was left. This program never calls
    // setlocale, so strtod reads a decimal point.
    const double nearest = std::strtod(std::string(text).c_str(), nullptr);
    if (std::fabs(nearest) < 1) return 0.0;
    return std::nullopt;
  }
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int> parseIndex(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown;
  for (const char c : text.substr(0, kLongest))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return "'" + shown + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace tangere::cli
