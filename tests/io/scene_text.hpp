// SPDX-License-Identifier: Apache-2.0
//
// For tests of scene texts: what was refused, and where.
#pragma once

#include <tangere/scene.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tangere::test {

/// "line:column: message" of every error; empty when the text is accepted.
inline std::vector<std::string> errorsOf(const std::string& text,
                                         const std::filesystem::path& folder = {},
                                         const SceneLimits& limits = {}) {
  try {
    (void)readSceneToml(text, folder, "s.toml", limits);
    return {};
  } catch (const SceneError& error) {
    std::vector<std::string> out;
    for (const ImportNote& note : error.errors()) {
      EXPECT_EQ(note.file, "s.toml");
      EXPECT_EQ(note.kind, ImportNote::Kind::Error);
      out.push_back(std::to_string(note.line) + ":" + std::to_string(note.column) + ": " +
                    note.message);
    }
    return out;
  }
}

/// The one error of a text, or what is wrong with that.
inline std::string errorOf(const std::string& text, const std::filesystem::path& folder = {},
                           const SceneLimits& limits = {}) {
  const std::vector<std::string> errors = errorsOf(text, folder, limits);
  if (errors.empty()) return "accepted";
  return errors.size() == 1 ? errors[0] : errors[0] + " | " + errors[1];
}

inline std::vector<std::string> notesOf(const Scene& scene, ImportNote::Kind kind) {
  std::vector<std::string> out;
  for (const ImportNote& note : scene.report.notes) {
    if (note.kind == kind) out.push_back(std::to_string(note.line) + ": " + note.message);
  }
  return out;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_HAS(text, part) EXPECT_TRUE(::tangere::test::contains(text, part)) << (text)

/// A folder of its own for each test, removed with it.
class SceneFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("tangere_") + info->test_suite_name() + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace tangere::test
