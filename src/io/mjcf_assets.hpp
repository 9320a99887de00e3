// SPDX-License-Identifier: Apache-2.0
//
// The <asset> section: meshes and height fields. A file is opened when something needs it, so one
// that is only looked at is not read at all.
#pragma once

#include <tangere/mesh.hpp>
#include <tangere/shape.hpp>

#include "io/mjcf_elements.hpp"
#include "io/robot_import.hpp"
#include "io/robot_visuals.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

/// The inertia of a mesh as MuJoCo keeps it: by principal moments and axes, found by rotations that
/// end when the next would turn by less than 4.5e-7. What is then left off the diagonal is lost.
[[nodiscard]] Mat3 throughPrincipalAxes(const Mat3& inertia);

class MjcfAssets {
 public:
  MjcfAssets(RobotImport& import, const MjcfCompiler& compiler, const MjcfDefaults& defaults)
      : import_(import), compiler_(compiler), defaults_(defaults) {}

  /// An <asset> element. Mistakes go to the notes.
  void read(const XmlElement& section);

  [[nodiscard]] bool hasMesh(const std::string& name) const { return meshes_.count(name) > 0; }
  [[nodiscard]] bool hasHeightField(const std::string& name) const {
    return fields_.count(name) > 0;
  }
  [[nodiscard]] std::vector<std::string> meshNames() const;
  [[nodiscard]] std::vector<std::string> heightFieldNames() const;

  /// The convex hull, which is what MuJoCo collides. Null after an error in the notes.
  [[nodiscard]] std::shared_ptr<const Shape> hull(const std::string& mesh);
  /// Mass properties as MuJoCo computes them, for a mass of `mass` [kg], or for `density`
  /// [kg/m^3, kg/m^2 of a shell] where there is none. Nothing after an error in the notes.
  [[nodiscard]] std::optional<MassProperties> massProperties(const std::string& mesh,
                                                             std::optional<Real> mass,
                                                             Real density);
  /// Gives a primitive that names a mesh the sizes and the place that MuJoCo gives it: those of the
  /// box of the same inertia, or of the bounds along the principal axes. False after an error.
  [[nodiscard]] bool fit(MjcfGeom* geom);
  [[nodiscard]] std::shared_ptr<const Shape> heightField(const std::string& name);
  /// How the mesh of a geom looks: its file, or its triangles. False when it cannot be drawn.
  [[nodiscard]] bool lookOf(const std::string& mesh, VisualShape* out) const;
  /// Of a material; nothing where there is none.
  [[nodiscard]] std::optional<Rgba> colorOf(const std::string& material) const;
  /// Notes about meshes that nothing needed.
  void reportUnused();

 private:
  struct MeshEntry {
    const XmlElement* element = nullptr;
    std::string file{};
    MjcfMesh settings{};
    Vec3 offset{};                 // refpos
    Mat3 turn = Mat3::identity();  // refquat
    std::vector<Vec3> vertices{};  // given in the text
    std::vector<Triangle> triangles{};
    bool isLoaded = false, hasFailed = false;
    TriangleMesh mesh{};  // in the frame of the geom
    std::shared_ptr<const Shape> hull{};
    bool isHullReported = false;
    std::optional<MassProperties> unitMass{};  // of density 1
  };

  void readMesh(const XmlElement& element);
  void readHeightField(const XmlElement& element);
  [[nodiscard]] bool readHeightFile(XmlReader& reader, const std::string& file, int* numRows,
                                    int* numColumns, std::vector<Real>* heights);
  /// The path of a file that an attribute names, from the folder of the meshes.
  [[nodiscard]] std::filesystem::path resolve(const std::string& file) const;
  [[nodiscard]] bool load(MeshEntry& entry, const std::string& name);
  [[nodiscard]] const Shape* makeHull(MeshEntry& entry, const std::string& name);

  RobotImport& import_;
  const MjcfCompiler& compiler_;
  const MjcfDefaults& defaults_;
  std::map<std::string, MeshEntry> meshes_;
  std::map<std::string, Rgba> colors_;                          // of materials
  std::map<std::string, std::shared_ptr<const Shape>> fields_;  // null: refused
};

}  // namespace tangere::io
