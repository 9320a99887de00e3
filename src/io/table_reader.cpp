// SPDX-License-Identifier: Apache-2.0
#include "io/table_reader.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::io {

namespace {

bool isIn(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

TableReader::TableReader(ImportNotes& notes, const Value& value, std::string who)
    : notes_(notes), who_(std::move(who)), place_(value.place), table_(value.table()) {
  if (table_ == nullptr) error(place_, "found " + describe(value) + ", expected a table");
}

const Value* TableReader::find(std::string_view key) {
  if (!isIn(known_, key)) known_.emplace_back(key);
  return lookUp(key);
}

const Value* TableReader::lookUp(std::string_view key) const {
  if (table_ == nullptr) return nullptr;
  const auto found =
      std::lower_bound(table_->begin(), table_->end(), key,
                       [](const Member& member, std::string_view k) { return member.key < k; });
  return found != table_->end() && found->key == key ? &found->value : nullptr;
}

Place TableReader::placeOf(std::string_view key) {
  const Value* value = find(key);
  return value != nullptr ? value->place : place_;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = std::get_if<bool>(&value->data)) return *flag;
  errorFound(key, *value, "true or false");
  return std::nullopt;
}

std::optional<std::string> TableReader::string(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->string()) return *text;
  errorFound(key, *value, "a string");
  return std::nullopt;
}

std::optional<Real> TableReader::number(std::string_view key, const NumberRule& rule) {
  const Value* value = find(key);
  return value != nullptr ? readNumber(key, *value, rule) : std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t lower,
                                                 std::int64_t upper, const char* expected) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&value->data);
  if (integer != nullptr && *integer >= lower && *integer <= upper) return *integer;
  errorFound(
      key, *value,
      std::string(expected) + " from " + std::to_string(lower) + " to " + std::to_string(upper));
  return std::nullopt;
}

std::optional<std::vector<Real>> TableReader::numbers(std::string_view key, std::size_t count,
                                                      const NumberRule& rule) {
  const Value* value = find(key);
  return value != nullptr ? readNumbers(key, *value, count, rule) : std::nullopt;
}

std::optional<Vec3> TableReader::vec3(std::string_view key, const NumberRule& rule) {
  const Value* value = find(key);
  return value != nullptr ? readVec3(key, *value, rule) : std::nullopt;
}

std::optional<std::vector<Real>> TableReader::readNumbers(std::string_view key, const Value& value,
                                                          std::size_t count,
                                                          const NumberRule& rule) {
  const Value::Array* items = value.array();
  if (items == nullptr || items->size() != count) {
    errorFound(key, value,
               "an array of " + std::to_string(count) + " numbers, each " + rule.expected);
    return std::nullopt;
  }
  std::vector<Real> out;
  for (const Value& item : *items) {
    const std::optional<Real> number = readNumber(key, item, rule);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<Vec3> TableReader::readVec3(std::string_view key, const Value& value,
                                          const NumberRule& rule) {
  const std::optional<std::vector<Real>> three = readNumbers(key, value, 3, rule);
  if (!three) return std::nullopt;
  return Vec3{(*three)[0], (*three)[1], (*three)[2]};
}

std::optional<int> TableReader::word(std::string_view key,
                                     std::initializer_list<std::string_view> words) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::vector<std::string> known(words.begin(), words.end());
  const std::string* text = value->string();
  if (text != nullptr) {
    const auto found = std::find(known.begin(), known.end(), *text);
    if (found != known.end()) return static_cast<int>(found - known.begin());
  }
  std::string expected;
  for (const std::string& candidate : known) {
    if (!expected.empty()) expected += &candidate == &known.back() ? " or " : ", ";
    expected += '"' + candidate + '"';
  }
  if (text != nullptr) expected += nearNames(*text, known);
  errorFound(key, *value, expected);
  return std::nullopt;
}

std::optional<std::vector<std::string>> TableReader::strings(std::string_view key,
                                                             std::size_t count) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const Value::Array* items = value->array();
  std::vector<std::string> out;
  if (items != nullptr && items->size() == count) {
    for (const Value& item : *items) {
      if (const std::string* text = item.string()) out.push_back(*text);
    }
  }
  if (out.size() == count) return out;
  errorFound(key, *value, "an array of " + std::to_string(count) + " strings");
  return std::nullopt;
}

void TableReader::allow(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) (void)find(key);
}

int TableReader::finish() {
  if (table_ == nullptr) return 0;
  int unknown = 0;
  for (const Member& member : *table_) {
    if (isIn(known_, member.key)) continue;
    ++unknown;
    std::string expected = nearNames(member.key.substr(0, 64), known_);
    if (expected.empty()) {
      expected = ", expected one of ";
      for (const std::string& key : known_) expected += (&key == &known_.front() ? "" : ", ") + key;
    }
    error(member.place, "found unknown key " + io::quoted(member.key) + expected);
  }
  return unknown;
}

void TableReader::error(Place place, const std::string& message) {
  notes_.error(place, who_.empty() ? message : who_ + ": " + message);
}

void TableReader::errorFound(std::string_view key, const Value& value,
                             const std::string& expected) {
  error(value.place, std::string(key) + ": found " + describe(value) + ", expected " + expected);
}

std::optional<Real> TableReader::readNumber(std::string_view key, const Value& value,
                                            const NumberRule& rule) {
  Real number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) {
    number = static_cast<Real>(*integer);
  } else if (const auto* floating = std::get_if<double>(&value.data)) {
    number = *floating;
  } else {
    errorFound(key, value, rule.expected);
    return std::nullopt;
  }
  // Written so that NaN fails.
  const bool isInside =
      (rule.aboveLower ? number > rule.lower : number >= rule.lower) && number <= rule.upper;
  if (!isInside) {
    errorFound(key, value, rule.expected);
    return std::nullopt;
  }
  if (value.hasUnderflowed) {
    notes_.warning(value.place, (who_.empty() ? "" : who_ + ": ") + std::string(key) +
                                    ": a number too small for a double was read as 0");
  }
  return number;
}

std::string candidates(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kMaxListed = 5;
  std::string near = nearNames(word, known);
  if (!near.empty() || known.empty()) return near;
  std::string out = " (there is ";
  for (std::size_t i = 0; i < known.size() && i < kMaxListed; ++i)
    out += (i > 0 ? ", " : "") + io::quoted(known[i]);
  return out + (known.size() > kMaxListed ? ", ...)" : ")");
}

}  // namespace tangere::io
