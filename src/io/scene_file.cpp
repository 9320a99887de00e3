// SPDX-License-Identifier: Apache-2.0
//
// Scene files: what a file is, its content tells, not its name.
#include <tangere/error.hpp>
#include <tangere/scene.hpp>

#include "io/mesh_file.hpp"

namespace tangere {

namespace {

[[noreturn]] void refuse(SceneError::Cause cause, const std::string& name,
                         const std::string& message) {
  throw SceneError(cause, {{ImportNote::Kind::Error, name, 0, 0, message}}, 1);
}

/// What a text that is no native scene looks like; empty for one that may be.
std::string foreignFormat(std::string_view text) {
  if (text.substr(0, 4) == "glTF") return "a binary glTF mesh";
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(begin);
  if (text[0] == '{') return "JSON";
  if (text[0] != '<') return "";
  const auto has = [&](std::string_view element) {
    return text.substr(0, 65'536).find(element) != std::string_view::npos;
  };
  if (has("<mujoco")) return "MJCF";
  if (has("<robot")) return "URDF";
  if (has("<sdf")) return "SDFormat";
  return "XML";
}

}  // namespace

Scene loadScene(const std::filesystem::path& path, const SceneLimits& limits) {
  const std::string name = path.string();
  std::string text;
  try {
    text = io::readRegularFile(path, name, limits.maxBytes);
  } catch (const InvalidInput& error) {
    const bool isLimit = dynamic_cast<const io::LimitExceeded*>(&error) != nullptr;
    std::string_view what = error.what();
    what.remove_prefix(name.size() + 2);  // "name: "
    refuse(isLimit ? SceneError::Cause::Limit : SceneError::Cause::File, name, std::string(what));
  }
  if (const std::string format = foreignFormat(text); !format.empty()) {
    refuse(SceneError::Cause::Content, name,
           "found " + format +
               ", which is not available yet as a scene in this version; expected the native "
               "scene in TOML");
  }
  return readSceneToml(text, path.parent_path(), name, limits);
}

}  // namespace tangere
