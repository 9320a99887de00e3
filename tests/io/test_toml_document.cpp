// SPDX-License-Identifier: Apache-2.0
#include "io/toml_document.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

namespace tangere::io {
namespace {

/// The tree as one line: what was read, without places.
std::string text(const Value& value) {
  if (const auto* table = value.table()) {
    std::string out = "{";
    for (const Member& member : *table)
      out.append(out.size() > 1 ? " " : "")
          .append(member.key)
          .append("=")
          .append(text(member.value));
    return out + "}";
  }
  if (const auto* array = value.array()) {
    std::string out = "[";
    for (const Value& item : *array) out.append(out.size() > 1 ? " " : "").append(text(item));
    return out + "]";
  }
  if (const auto* word = value.string()) return std::string("<").append(*word).append(">");
  return describe(value);
}

std::string read(const std::string& toml) {
  try {
    return text(parseToml(toml));
  } catch (const TomlError& error) {
    return std::to_string(error.place().line) + ":" + std::to_string(error.place().column) + ": " +
           error.what();
  }
}

bool isRefused(const std::string& toml) { return read(toml).front() != '{'; }

TEST(TomlDocument, ValuesOfEveryKind) {
  EXPECT_EQ(
      read("a = 1\nb = -0.5e1\nc = 'x'\nd = true\ne = [1, 'y', [2.5,],]\nf = {g = 1, h.i = 2}\n"),
      "{a=1 b=-5 c=<x> d=true e=[1 <y> [2.5]] f={g=1 h={i=2}}}");
  EXPECT_EQ(read("a = 1979-05-27\nb = 07:32:00\nc = 1979-05-27 07:32:00Z # day\n"),
            "{a=a date or time b=a date or time c=a date or time}");
  EXPECT_EQ(read(""), "{}");
  EXPECT_EQ(read("\xef\xbb\xbf# nothing\r\n\r\n"), "{}");
}

TEST(TomlDocument, Integers) {
  EXPECT_EQ(read("a=[0, +0, -0, 42, 1_000, 0xdead_BEEF, 0o17, 0b101, 9223372036854775807, "
                 "-9223372036854775808]"),
            "{a=[0 0 0 42 1000 3735928559 15 5 9223372036854775807 -9223372036854775808]}");
  for (const char* number :
       {"01", "1_", "_1", "1__0", "+0x1", "-0b1", "0x", "0x_1", "0xg", "0o8", "0b2",
        "9223372036854775808", "0x8000000000000000", "--1", "+-1", "1a", "0X1"})
    EXPECT_TRUE(isRefused(std::string("a = ") + number)) << number;
}

TEST(TomlDocument, FloatsAreNearestAndNeverDependOnTheLocale) {
  const Value value =
      parseToml("a = [0.1, 1e3, 6.626e-34, 1_0.0_1, -0.0, 1.7976931348623157e308, 5e-324]");
  const double expected[] = {0.1, 1e3, 6.626e-34, 10.01, -0.0, 1.7976931348623157e308, 5e-324};
  const Value::Array& items = *value.table()->front().value.array();
  ASSERT_EQ(items.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(std::get<double>(items[i].data), expected[i]);
    EXPECT_FALSE(items[i].hasUnderflowed);
  }
  EXPECT_TRUE(std::signbit(std::get<double>(items[4].data)));
  EXPECT_EQ(read("a = [inf, -inf, +inf]"), "{a=[inf -inf inf]}");
  for (const char* number :
       {".5",   "5.",   "1.e3",     "1e",   "1e+",   "01.5",  "1._5",   "1_.5",
        "1e_5", "1_e5", "1.0.0",    "1,5",  "0x1p3", "1e999", "-1e999", "1e99999999999999999999",
        "Inf",  "NaN",  "infinity", "0x1.8"})
    EXPECT_TRUE(isRefused(std::string("a = ") + number)) << number;
}

TEST(TomlDocument, NumbersTooSmallAreZeroAndMarked) {
  const Value value = parseToml("a = [1e-400, 0.0001e-330, 0e-400, 0.0, -1e-99999999999999999999]");
  const bool expected[] = {true, true, false, false, true};
  for (std::size_t i = 0; i < 5; ++i) {
    const Value& item = (*value.table()->front().value.array())[i];
    EXPECT_EQ(std::get<double>(item.data), 0);
    EXPECT_EQ(item.hasUnderflowed, expected[i]) << i;
  }
}

TEST(TomlDocument, Strings) {
  EXPECT_EQ(read(R"(a = "t\tq\"b\\u\u00e4\U0001F642")"),
            "{a=<t\tq\"b\\u\xc3\xa4\xf0\x9f\x99\x82>}");
  EXPECT_EQ(read(R"(a = 'no \escape "here"')"), R"({a=<no \escape "here">})");
  EXPECT_EQ(read("a = \"\"\"\none\n\"two\" \\\n   three\"\"\"\"\""),
            "{a=<one\n\"two\" three\"\">}");
  EXPECT_EQ(read("a = '''\r\nx\\n'y''''"), "{a=<x\\n'y'>}");
  EXPECT_EQ(read("a = ''\nb = \"\"\n"), "{a=<> b=<>}");
  for (const char* string :
       {"'", "\"", "\"a", "'a\nb'", "\"\\x\"", "\"\\ud800\"", "\"\\U00110000\"", "\"\\u12\"",
        "\"\x01\"", "'''a", "\"\"\"a\"\"", "\"\\", "\"\\u"})
    EXPECT_TRUE(isRefused(std::string("a = ") + string)) << string;
}

TEST(TomlDocument, KeysMayBeBareQuotedAndDotted) {
  EXPECT_EQ(read("a-b_1 = 1\n\"c d\" = 2\n'' = 3\ne . f.\"g.h\" = 4\n1.2 = 5\n"),
            "{=3 1={2=5} a-b_1=1 c d=2 e={f={g.h=4}}}");
  for (const char* line : {"= 1", "a", "a =", "a = \n1", "a b = 1", "a. = 1", ".a = 1", "a..b = 1",
                           "\"\"\"a\"\"\" = 1", "a = 1 b = 2", "\xc3\xa4 = 1", "a = 1 ]"})
    EXPECT_TRUE(isRefused(line)) << line;
}

TEST(TomlDocument, TablesAndArraysOfTables) {
  EXPECT_EQ(read("x = 1\n[a.b]\nc = 1\n[a]\nd = 2\n[[e]]\nf = 1\n[e.g]\nh = 2\n[[e]]\n[[e.i]]\n[ a "
                 ". 'q' ]\n"),
            "{a={b={c=1} d=2 q={}} e=[{f=1 g={h=2}} {i=[{}]}] x=1}");
}

TEST(TomlDocument, NothingIsDefinedTwice) {
  EXPECT_EQ(read("a = 1\na = 2"), "2:1: found the key 'a' twice, first at 1:1");
  EXPECT_EQ(read("[a]\n[b]\n[a]"), "3:2: found 'a' twice, first at 1:2");
  for (const char* document :
       {"a = 1\n[a]", "a = 1\n[a.b]", "a = 1\n[[a]]", "a = []\n[[a]]", "[a]\n[[a]]", "[[a]]\n[a]",
        "a = {}\n[a.b]", "a = {b = 1}\na.c = 2", "a = {b = 1, b = 2}", "a.b = 1\na = 2",
        "a.b = 1\n[a]", "a.b = 1\na.b.c = 2", "[a.b.c]\nz = 9\n[a]\nb.c.t = 1",
        "[a.b]\n[a]\nb.c = 1", "[[a.b]]\n[a]\nb.c = 1", "a = [{b = 1}]\n[a.c]",
        "[a]\nb.c = 1\n[a.b]"})
    EXPECT_TRUE(isRefused(document)) << document;
  EXPECT_EQ(read("[a]\nb.c = 1\n[a.b.d]\n"), "{a={b={c=1 d={}}}}");
}

TEST(TomlDocument, InlineTablesStandOnOneLine) {
  for (const char* table : {"{", "{a = 1", "{a = 1,}", "{a = 1\n}", "{,}", "{a}", "{a = 1 b = 2}",
                            "[1 2]", "[1,,2]", "[,1]", "[1,}", "{a=1]", "[", "[1,"})
    EXPECT_TRUE(isRefused(std::string("a = ") + table)) << table;
  EXPECT_EQ(read("a = [ # one\n 1, # two\n\n 2\n]\n"), "{a=[1 2]}");
}

TEST(TomlDocument, EveryKeyAndValueKnowsItsPlace) {
  const Value root = parseToml("\n# \xc3\xa4\n[t]\nkey = [1,\n  { x = 'y' }]\n");
  const Member& t = root.table()->front();
  EXPECT_EQ(t.place.line, 3);
  EXPECT_EQ(t.place.column, 2);
  const Member& key = t.value.table()->front();
  EXPECT_EQ(key.place.line, 4);
  EXPECT_EQ(key.value.place.column, 7);
  const Value& inner = (*key.value.array())[1];
  EXPECT_EQ(inner.place.line, 5);
  EXPECT_EQ(inner.place.column, 3);
  EXPECT_EQ(inner.table()->front().value.place.column, 9);
}

TEST(TomlDocument, ColumnsCountCharactersAndNotBytes) {
  EXPECT_EQ(read("a = '\xc3\xa4\xe2\x82\xac' x").substr(0, 5), "1:10:");
}

TEST(TomlDocument, ErrorsSayWhatWasFoundAndExpected) {
  EXPECT_EQ(read("a = [1,}"), "1:8: found '}', expected a value");
  EXPECT_EQ(read("a = 1 2"), "1:7: found '2', expected the end of the line");
  EXPECT_EQ(read("a = 'x\n"),
            "1:7: found the end of the line, expected the end of the string that begins at 1:5");
  EXPECT_EQ(read("[a"), "1:3: found the end of the file, expected ']'");
  EXPECT_EQ(read("a = \n"), "1:5: found the end of the line, expected a value");
  EXPECT_EQ(read("a = yes"), "1:5: found 'yes', expected a value such as 1.5, \"text\" or true");
  EXPECT_EQ(read("a \x01= 1"),
            "1:3: found a character that does not belong here (byte 1), expected '=' after a key");
}

TEST(TomlDocument, LongLinesAndManyKeysTakeTimeInProportion) {
  std::string line = "a = [", keys, tables;
  for (int i = 0; i < 300'000; ++i) line += "1,";
  for (int i = 0; i < 60'000; ++i)
    keys.append("k").append(std::to_string(i * 7919 % 60'000)).append(" = 1\n");
  for (int i = 0; i < 60'000; ++i) tables += "[[t]]\nx=1\n";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parseToml(line + "]").table()->front().value.array()->size(), 300'000u);
  EXPECT_EQ(parseToml(keys).table()->size(), 60'000u);
  EXPECT_EQ(parseToml(tables).table()->front().value.array()->size(), 60'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tangere::io
