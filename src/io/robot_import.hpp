// SPDX-License-Identifier: Apache-2.0
//
// What the importers of robot files (MJCF, URDF, SDFormat) share: where things go, what they are
// called, what was said about them, and which files may be opened.
#pragma once

#include <tangere/mesh.hpp>
#include <tangere/model.hpp>
#include <tangere/scene.hpp>

#include "io/import_notes.hpp"
#include "io/mesh_file.hpp"
#include "io/xml_document.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

/// The files of a model: regular ones in its folder tree, in the package that it lies in (the
/// nearest folder above with a package.xml; without one the folder meshes beside a folder urdf or
/// robots), in the trees of folders that were allowed, and in the packages of ROS that it names;
/// links followed. Nothing else is ever opened. Each mesh is read once.
class ModelFiles {
 public:
  /// `folder` is that of the main file. `limits` gives the counts and the further roots.
  ModelFiles(const std::filesystem::path& folder, const SceneLimits& limits);

  /// The file that `name` means, seen from `base` (a folder; the main one by default). ".." is
  /// fine as long as it stays inside. "package://p/x" is x in the folder p of a root (or of the
  /// model's tree), or in a root that is itself called p. "model://" likewise; "file://" is a plain
  /// path. Throws InvalidInput with what was found and where it was looked for.
  [[nodiscard]] std::filesystem::path resolve(const std::string& name,
                                              const std::filesystem::path& base = {}) const;

  /// The text of another file of the model. Throws InvalidInput, also beyond 256 files;
  /// LimitExceeded beyond limits.maxBytes for all of them.
  [[nodiscard]] std::string readText(const std::filesystem::path& resolved,
                                     const std::string& name);

  struct MeshFile {
    TriangleMesh mesh{};                 ///< as in the file, numbers as they are
    std::vector<std::string> ignored{};  ///< what the reader passed over
  };
  /// Stays valid. Throws InvalidInput, LimitExceeded; for a file that failed before the same again.
  /// `name` is how messages call it. OBJ, STL or GLB.
  [[nodiscard]] const MeshFile& readMesh(const std::filesystem::path& resolved,
                                         const std::string& name);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Other files whose text was read.
  [[nodiscard]] int numTexts() const { return num_texts_; }

 private:
  [[nodiscard]] bool isInside(const std::filesystem::path& canonical) const;
  void addOwnPackage();
  /// In ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
  [[nodiscard]] std::vector<std::filesystem::path> packagesCalled(const std::string& name) const;

  std::filesystem::path folder_;              // canonical
  std::vector<std::filesystem::path> roots_;  // canonical, folder_ first
  std::string own_package_;                   // as its package.xml calls it
  std::filesystem::path own_folder_;
  std::vector<std::filesystem::path> package_path_;
  SceneLimits limits_;
  std::map<std::string, MeshFile> meshes_;  // by canonical path
  std::map<std::string, std::string> failures_;
  std::size_t num_triangles_ = 0;
  std::size_t num_bytes_ = 0;
  int num_texts_ = 0;
};

/// One robot file on its way into a model.
struct RobotImport {
  RobotImport(ModelBuilder& modelBuilder, ImportNotes& importNotes, ModelFiles& modelFiles,
              const SceneLimits& sceneLimits)
      : builder(modelBuilder), notes(importNotes), files(modelFiles), limits(sceneLimits) {}

  ModelBuilder& builder;
  ImportNotes& notes;
  ModelFiles& files;
  const SceneLimits& limits;
  /// Before every name of the file: "arm/". Empty for a scene that is one robot file.
  std::string prefix{};
  /// X_WM: where the file's world is.
  Transform pose{};
  /// Nothing else is in the scene: keyframes have all its coordinates.
  bool isWholeScene = true;
  /// What would float freely in the file stands still.
  bool isFixed = false;
  /// How all its surfaces yield, whatever the file says.
  std::optional<Material> contactLaw{};
  /// What the file says about time step and gravity is written here; the caller decides.
  SimulationOptions options{};

  /// How its bodies look; see robot_visuals.hpp.
  std::vector<VisualShape> visuals{};

  int numBodies = 0;
  int numShapes = 0;
  /// Of all kinds, with their prefixes: "body arm/link" and so on. See takeName().
  std::map<std::string, Place> names{};
  /// Names, likewise, that nothing unnamed gets because they are given further on.
  std::set<std::string> reserved{};

  /// The full name of something, taken from now on: `prefix` + `given`. Something unnamed gets
  /// `prefix` + kind + the lowest number that is free ("body3"), always the same for the same file.
  /// A name that is taken is an error in the notes at `place`, and the result is empty.
  [[nodiscard]] std::string takeName(std::string_view kind, const std::string& given,
                                     const XmlElement& element, Place place);
  [[nodiscard]] bool hasName(std::string_view kind, const std::string& full) const;
  /// All names of a kind, for "did you mean".
  [[nodiscard]] std::vector<std::string> namesOf(std::string_view kind) const;
  /// False after an error in the notes: more bodies or shapes than the limits allow.
  [[nodiscard]] bool countBody(const XmlElement& element);
  [[nodiscard]] bool countShape(const XmlElement& element);

 private:
  std::map<std::string, int, std::less<>> next_number_{};  // of unnamed things, by kind
};

/// A mesh as a collision shape: its hull (what MuJoCo and Drake make of one), with a Changed note
/// "hulled" the first time. Null after an error, which is in the notes.
[[nodiscard]] std::shared_ptr<const Shape> hullOf(const TriangleMesh& mesh, const std::string& name,
                                                  const XmlElement& element, Place place,
                                                  ImportNotes& notes);

/// The principal axes and moments of a symmetric matrix are positive and keep the triangle rule
/// (to rounding); otherwise why not.
[[nodiscard]] std::optional<std::string> whyNotInertia(const Mat3& inertia);

/// For SceneLimits::mendsInertia: three equal moments with the sum of those of `inertia`. Nothing
/// where the sum is not positive.
[[nodiscard]] std::optional<Mat3> mendedInertia(const Mat3& inertia);
/// "was made 2.33333 kg m^2 about every axis (--fix-inertia)".
[[nodiscard]] std::string describeMended(const Mat3& inertia);

/// Takes a robot file, told by its root element, apart and puts it into the builder: mujoco, robot,
/// sdf or world. Mistakes go to the notes. The text must have been parsed already.
void importMjcf(XmlElement root, RobotImport& import);
void importUrdf(const XmlElement& root, RobotImport& import);
void importSdformat(const XmlElement& root, RobotImport& import);

/// Any of these, as the name of the root element says.
void importRobot(XmlElement root, RobotImport& import);

/// The root element of a text; after an error, which is in the notes, nothing.
[[nodiscard]] std::optional<XmlElement> parseRobotXml(std::string_view text,
                                                      const std::string& name,
                                                      const SceneLimits& limits,
                                                      ImportNotes& notes);

}  // namespace tangere::io
