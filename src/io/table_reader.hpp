// SPDX-License-Identifier: Apache-2.0
//
// Reads the keys of one table by name and type. What is missing stays empty; what is there and
// wrong becomes an error in the notes, and then stays empty as well. A key that nobody asked for is
// an error too: what is not understood is never ignored.
#pragma once

#include <tangere/types.hpp>

#include "io/import_notes.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

/// Numbers from `lower` to `upper`, both included unless `aboveLower`.
struct NumberRule {
  Real lower;
  Real upper;
  const char* expected;  ///< for messages: "a positive mass [kg]"
  bool aboveLower = false;
};

class TableReader {
 public:
  /// `who` begins every message: "body 'a'". `value` must be a table; anything else is an error
  /// and then reads as an empty one.
  TableReader(ImportNotes& notes, const Value& value, std::string who);

  [[nodiscard]] Place place() const { return place_; }
  /// The value of a key, which is known from now on; null when there is none.
  [[nodiscard]] const Value* find(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) { return find(key) != nullptr; }
  /// Where the key's value is; where the table is when there is none.
  [[nodiscard]] Place placeOf(std::string_view key);

  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::optional<std::string> string(std::string_view key);
  [[nodiscard]] std::optional<Real> number(std::string_view key, const NumberRule& rule);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t lower,
                                                    std::int64_t upper, const char* expected);
  /// An array of `count` numbers.
  [[nodiscard]] std::optional<std::vector<Real>> numbers(std::string_view key, std::size_t count,
                                                         const NumberRule& rule);
  [[nodiscard]] std::optional<Vec3> vec3(std::string_view key, const NumberRule& rule);
  /// One of the words; its index.
  [[nodiscard]] std::optional<int> word(std::string_view key,
                                        std::initializer_list<std::string_view> words);
  [[nodiscard]] std::optional<std::vector<std::string>> strings(std::string_view key,
                                                                std::size_t count);

  /// One number or three of a larger value of `key`.
  [[nodiscard]] std::optional<Real> readNumber(std::string_view key, const Value& value,
                                               const NumberRule& rule);
  [[nodiscard]] std::optional<Vec3> readVec3(std::string_view key, const Value& value,
                                             const NumberRule& rule);

  /// Keys that may be there without having been asked for.
  void allow(std::initializer_list<std::string_view> keys);
  /// Errors for every key that nobody asked for, with the nearest that exists. Returns how many.
  int finish();

  void error(Place place, const std::string& message);
  /// "who: 'key': found X, expected Y".
  void errorFound(std::string_view key, const Value& value, const std::string& expected);

  [[nodiscard]] const std::string& who() const { return who_; }
  void setWho(std::string who) { who_ = std::move(who); }
  [[nodiscard]] ImportNotes& notes() { return notes_; }

 private:
  [[nodiscard]] const Value* lookUp(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<Real>> readNumbers(std::string_view key,
                                                             const Value& value, std::size_t count,
                                                             const NumberRule& rule);

  ImportNotes& notes_;
  std::string who_;
  Place place_;
  const Value::Table* table_ = nullptr;
  std::vector<std::string> known_;
};

/// nearNames(), or the first few candidates where none is near.
[[nodiscard]] std::string candidates(const std::string& word,
                                     const std::vector<std::string>& known);

}  // namespace tangere::io
