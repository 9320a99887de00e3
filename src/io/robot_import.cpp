// SPDX-License-Identifier: Apache-2.0
#include "io/robot_import.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tangere::io {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxTexts = 256;
/// How far above its file a model's package begins.
constexpr int kMostLevels = 4;

bool isBelow(const fs::path& root, const fs::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

/// The part after "scheme://", when the name begins with that.
std::optional<std::string> afterScheme(const std::string& name, std::string_view scheme) {
  if (name.compare(0, scheme.size(), scheme) != 0) return std::nullopt;
  return name.substr(scheme.size());
}

/// The text of the first <name>: all that is asked of a package.xml. Empty where there is none.
std::string packageName(const fs::path& file) {
  constexpr std::size_t kMostBytes = 1 << 16;
  std::string text;
  try {
    text = readRegularFile(file, file.string(), kMostBytes);
  } catch (const InvalidInput&) {
    return "";
  }
  const std::size_t begin = text.find("<name>"), end = text.find("</name>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  const std::vector<std::string_view> words =
      splitWords(std::string_view(text).substr(begin + 6, end - begin - 6));
  return words.size() == 1 ? std::string(words[0]) : "";
}

}  // namespace

ModelFiles::ModelFiles(const fs::path& folder, const SceneLimits& limits) : limits_(limits) {
  std::error_code error;
  folder_ = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  // A folder that does not exist has no files: resolve() says so when one is asked for.
  if (error) folder_ = folder;
  roots_.push_back(folder_);
  for (const fs::path& root : limits.assetRoots) {
    fs::path canonical = fs::canonical(root, error);
    if (!error) roots_.push_back(std::move(canonical));
  }
  addOwnPackage();
  for (const char* variable : {"ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"}) {
    const char* value = std::getenv(variable);
    std::string_view left = value != nullptr ? value : "";
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(':'), left.size());
      fs::path place(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
      if (!place.is_absolute()) continue;
      if (std::string_view(variable) == "AMENT_PREFIX_PATH") place /= "share";
      package_path_.push_back(std::move(place));
    }
  }
}

void ModelFiles::addOwnPackage() {
  std::error_code error;
  fs::path above = folder_;
  for (int level = 0; level < kMostLevels && above.has_relative_path(); ++level) {
    if (fs::is_regular_file(above / "package.xml", error)) {
      own_package_ = packageName(above / "package.xml");
      roots_.push_back(above);
      own_folder_ = std::move(above);
      return;
    }
    above = above.parent_path();
  }
  const fs::path name = folder_.filename();
  if (name != "urdf" && name != "robots") return;
  const fs::path meshes = fs::canonical(folder_.parent_path() / "meshes", error);
  if (!error) roots_.push_back(meshes);
}

std::vector<fs::path> ModelFiles::packagesCalled(const std::string& name) const {
  std::vector<fs::path> out;
  for (const fs::path& place : package_path_) {
    std::error_code error;
    fs::path found = fs::canonical(place / name, error);
    if (error && place.filename() == name) found = fs::canonical(place, error);
    if (!error) out.push_back(std::move(found));
  }
  return out;
}

bool ModelFiles::isInside(const fs::path& canonical) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const fs::path& root) { return isBelow(root, canonical); });
}

fs::path ModelFiles::resolve(const std::string& name, const fs::path& base) const {
  const auto outside = [&]() {
    return InvalidInput("found the file " + io::quoted(name) +
                        ", expected one in the folder of the model or below it; other folders must "
                        "be allowed as asset roots");
  };
  std::string rest = name;
  std::vector<fs::path> places{base.empty() ? folder_ : base};
  std::vector<fs::path> packages;  // that may be read for this name alone
  std::optional<std::string> packaged = afterScheme(name, "package://");
  if (!packaged) packaged = afterScheme(name, "model://");
  if (packaged) {
    // In the folder of that name under a root, or in a root that has the name itself.
    const std::size_t slash = std::min(packaged->find('/'), packaged->size());
    const std::string package = packaged->substr(0, slash);
    rest = packaged->substr(std::min(slash + 1, packaged->size()));
    places.clear();
    if (package.empty() || package == "." || package == "..") throw outside();
    for (const fs::path& root : roots_) {
      places.push_back(root / package);
      if (root.filename() == package) places.push_back(root);
    }
    if (package == own_package_) places.push_back(own_folder_);
    // The package that the model lies in; what of it may be read is asked below.
    fs::path folder = base.empty() ? folder_ : base;
    for (int level = 0; isInside(folder) || level < kMostLevels; ++level) {
      if (folder.filename() == package) places.push_back(folder);
      if (folder == folder.parent_path()) break;
      folder = folder.parent_path();
    }
    packages = packagesCalled(package);
    places.insert(places.end(), packages.begin(), packages.end());
  } else if (const auto local = afterScheme(name, "file://")) {
    rest = *local;
  }
  // Backslashes, colons and percent signs: other systems' paths, addresses and encoded dots.
  const bool isPlain = std::none_of(rest.begin(), rest.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\\' || c == ':' || c == '%';
  });
  if (rest.empty() || !isPlain) throw outside();
  const fs::path relative(rest);
  if (relative.is_absolute()) places = {fs::path()};

  const auto mayRead = [&](const fs::path& path) {
    return isInside(path) || std::any_of(packages.begin(), packages.end(),
                                         [&](const fs::path& p) { return isBelow(p, path); });
  };
  std::error_code error;
  std::string reason;
  for (const fs::path& place : places) {
    // Lexically first: a path that leaves the trees is not even looked at.
    const fs::path wanted = (place / relative).lexically_normal();
    if (!mayRead(wanted)) continue;
    fs::path path = fs::canonical(wanted, error);
    if (error) {
      if (reason.empty()) reason = error.message();
      continue;
    }
    if (!mayRead(path)) continue;
    return path;
  }
  if (reason.empty()) throw outside();
  throw InvalidInput(io::quoted(name) + ": " + reason +
                     (packaged
                          ? "; looked for its package in and above the folder of the model, in "
                            "the asset roots, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH"
                          : ""));
}

std::string ModelFiles::readText(const fs::path& resolved, const std::string& name) {
  if (++num_texts_ > kMaxTexts)
    throw InvalidInput("more than " + std::to_string(kMaxTexts) + " included files, the limit");
  std::string text = readRegularFile(resolved, name, limits_.maxBytes);
  if (text.size() > limits_.maxBytes - num_bytes_) {
    throw LimitExceeded("the included files have more than " + std::to_string(limits_.maxBytes) +
                        " bytes together, the limit");
  }
  num_bytes_ += text.size();
  return text;
}

const ModelFiles::MeshFile& ModelFiles::readMesh(const fs::path& resolved,
                                                 const std::string& name) {
  const std::string key = resolved.string();
  if (const auto found = meshes_.find(key); found != meshes_.end()) return found->second;
  // A file that was refused is not read again, however often the model names it.
  if (const auto failed = failures_.find(key); failed != failures_.end())
    throw InvalidInput(failed->second);
  const std::size_t numFiles = meshes_.size() + failures_.size();
  if (numFiles >= static_cast<std::size_t>(std::max(limits_.maxMeshFiles, 0)))
    throw LimitExceeded("more than " + std::to_string(numFiles) + " mesh files, the limit");
  try {
    MeshFile out;
    out.mesh = readMeshFile(resolved, name, limits_.mesh, &out.ignored);
    if (out.mesh.triangles.size() > limits_.mesh.maxTriangles - num_triangles_) {
      throw LimitExceeded("the meshes of the model have more than " +
                          std::to_string(limits_.mesh.maxTriangles) + " triangles together");
    }
    num_triangles_ += out.mesh.triangles.size();
    return meshes_.emplace(key, std::move(out)).first->second;
  } catch (const InvalidInput& error) {
    failures_.emplace(key, error.what());
    throw;
  }
}

std::string RobotImport::takeName(std::string_view kind, const std::string& given,
                                  const XmlElement& element, Place place) {
  const std::string begin = std::string(kind) + " ";
  if (given.empty()) {
    int& number = next_number_.emplace(std::string(kind), 0).first->second;
    for (;; ++number) {
      std::string full = prefix + std::string(kind) + std::to_string(number);
      if (reserved.count(begin + full) > 0 || !names.emplace(begin + full, place).second) continue;
      ++number;
      return full;
    }
  }
  constexpr std::size_t kMaxName = 1000;
  if (given.size() > kMaxName) {
    notes.addIn(*element.file, ImportNote::Kind::Error, place,
                begin + io::quoted(given) + ": found a name of " + std::to_string(given.size()) +
                    " characters, expected at most " + std::to_string(kMaxName));
    return {};
  }
  std::string full = prefix + given;
  const auto [other, isNew] = names.emplace(begin + full, place);
  if (isNew) return full;
  notes.addIn(*element.file, ImportNote::Kind::Error, place,
              begin + io::quoted(given) + ": found the name twice, expected another than at " +
                  std::to_string(other->second.line) + ":" + std::to_string(other->second.column));
  return {};
}

bool RobotImport::hasName(std::string_view kind, const std::string& full) const {
  return names.find(std::string(kind) + " " + full) != names.end();
}

std::vector<std::string> RobotImport::namesOf(std::string_view kind) const {
  const std::string begin = std::string(kind) + " " + prefix;
  std::vector<std::string> out;
  for (auto at = names.lower_bound(begin);
       at != names.end() && at->first.compare(0, begin.size(), begin) == 0; ++at)
    out.push_back(at->first.substr(begin.size()));
  return out;
}

bool RobotImport::countBody(const XmlElement& element) {
  if (++numBodies <= limits.maxBodies) return true;
  if (numBodies == limits.maxBodies + 1) {
    notes.limitIn(*element.file, element.place,
                  "found more than " + std::to_string(limits.maxBodies) + " bodies, the limit");
  }
  return false;
}

bool RobotImport::countShape(const XmlElement& element) {
  if (++numShapes <= limits.maxShapes) return true;
  if (numShapes == limits.maxShapes + 1) {
    notes.limitIn(*element.file, element.place,
                  "found more than " + std::to_string(limits.maxShapes) + " shapes, the limit");
  }
  return false;
}

std::shared_ptr<const Shape> hullOf(const TriangleMesh& mesh, const std::string& name,
                                    const XmlElement& element, Place place, ImportNotes& notes) {
  try {
    auto hull = std::make_shared<Convex>(mesh.vertices);
    notes.addIn(*element.file, ImportNote::Kind::Changed, place,
                "mesh " + io::quoted(name) + ": hulled: " + std::to_string(mesh.triangles.size()) +
                    " triangles collide as their convex hull of " +
                    std::to_string(hull->vertices().size()) + " vertices");
    return hull;
  } catch (const InvalidInput& error) {
    notes.addIn(*element.file, ImportNote::Kind::Error, place,
                "mesh " + io::quoted(name) + ": " + error.what());
    return nullptr;
  }
}

std::optional<std::string> whyNotInertia(const Mat3& inertia) {
  Real a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      a[i][j] = inertia(i, j);
      if (!std::isfinite(a[i][j])) return "an inertia that is not finite";
    }
  }
  const math::SymmetricEigen<Real, 3> eigen = math::symmetricEigen(a);
  if (!(eigen.values[0] > 0)) return "an inertia that is not positive definite";
  constexpr Real kRounding = 1e-9;
  if (eigen.values[0] + eigen.values[1] < eigen.values[2] * (1 - kRounding))
    return "principal moments of which two are less than the third (no body has such an inertia)";
  return std::nullopt;
}

std::optional<Mat3> mendedInertia(const Mat3& inertia) {
  const Real mean = (inertia(0, 0) + inertia(1, 1) + inertia(2, 2)) / 3;
  if (!(mean > 0 && std::isfinite(mean))) return std::nullopt;
  return Mat3{{{mean, 0, 0}, {0, mean, 0}, {0, 0, mean}}};
}

std::string describeMended(const Mat3& inertia) {
  return "was made " + sixDigits(inertia(0, 0)) + " kg m^2 about every axis (--fix-inertia)";
}

std::optional<XmlElement> parseRobotXml(std::string_view text, const std::string& name,
                                        const SceneLimits& limits, ImportNotes& notes) {
  try {
    return parseXml(text, name, {.maxBytes = limits.maxBytes});
  } catch (const XmlError& error) {
    if (error.isLimit()) {
      notes.limitIn(name, error.place(), error.what());
    } else {
      notes.addIn(name, ImportNote::Kind::Error, error.place(), error.what());
    }
    return std::nullopt;
  }
}

}  // namespace tangere::io
