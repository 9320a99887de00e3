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

/// What a text that is no scene looks like; empty for one that may be.
std::string foreignFormat(std::string_view text) {
  if (text.substr(0, 4) == "glTF") return "a binary glTF mesh";
  if (text.substr(0, 2) == "PK") return "an archive; unpack it and load the model inside";
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' ? "JSON" : "";
}

/// A robot file begins with an element, a comment or a declaration.
bool isXml(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<';
}

}  // namespace

Scene loadScene(const std::filesystem::path& path, const SceneLimits& limits) {
  const std::string name = path.string();
  io::FilesRead files;
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
           "found " + format + ", expected a native scene in TOML, MJCF, URDF or SDFormat");
  }
  Scene scene = isXml(text) ? readSceneXml(text, path.parent_path(), name, limits)
                            : readSceneToml(text, path.parent_path(), name, limits);
  scene.files = files.take();
  return scene;
}

}  // namespace tangere
