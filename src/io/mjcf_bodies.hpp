// SPDX-License-Identifier: Apache-2.0
//
// The <worldbody> of an MJCF file: bodies with their frames, joints, geoms and sites, in the order
// in which MuJoCo numbers them, and their masses as MuJoCo computes them.
#pragma once

#include <tangere/model.hpp>

#include "io/mjcf_assets.hpp"
#include "io/mjcf_elements.hpp"
#include "io/robot_import.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tangere::io {

/// What <option><flag .../> switches off.
struct MjcfDisabled {
  bool contacts = false, equalities = false, limits = false, frictionLoss = false, springs = false,
       dampers = false, parentFilter = false;
};

struct MjcfBody {
  const XmlElement* element = nullptr;
  int parent = -1;
  Body body{};            ///< shapes, joints and names are complete
  Transform pose{};       ///< X_WB with all joints at their references
  bool isStatic = false;  ///< nothing between it and the world moves
  bool isMocap = false;
  bool hasInertial = false;  ///< an <inertial> is among its elements, read already or not
  std::optional<MassProperties> inertial{};  ///< as the file gives it
  std::vector<MassProperties> geoms{};       ///< of the geoms that count, in the body's frame
  std::vector<std::pair<Site, const XmlElement*>> sites{};
  MassProperties mass{};
  std::vector<VisualShape> looks{};  ///< of the geoms that MuJoCo shows
  bool hasLooks = false;             ///< they are not just how it collides
};

struct MjcfSiteEntry {
  int body = 0;
  Transform pose{};            ///< X_BS
  bool isApproximate = false;  ///< a capsule or cylinder, as the ellipsoid around it
};

struct MjcfJointEntry {
  int body = 0;
  int index = 0;  ///< among the joints of the body
};

class MjcfBodies {
 public:
  MjcfBodies(RobotImport& import, const MjcfCompiler& compiler, const MjcfDefaults& defaults,
             MjcfAssets& assets, const MjcfDisabled& disabled);

  /// Geoms that collide whatever their bits say; known before the bodies are read.
  void keepShape(const std::string& geom) { kept_geoms_.insert(geom); }
  /// A <worldbody>. Mistakes go to the notes.
  void read(const XmlElement& worldbody);
  /// Masses, and everything into the builder.
  void finish();

  /// The index of a body by its name in the file; 0: the world; -1: none.
  [[nodiscard]] int find(const std::string& name) const;
  [[nodiscard]] const MjcfBody& body(int index) const {
    return bodies_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const std::vector<MjcfBody>& bodies() const { return bodies_; }
  [[nodiscard]] std::vector<std::string> bodyNames() const;
  /// By their names in the file; null when there is none.
  [[nodiscard]] const MjcfSiteEntry* findSite(const std::string& name) const;
  [[nodiscard]] const MjcfJointEntry* findJoint(const std::string& name) const;
  [[nodiscard]] const Joint& joint(const MjcfJointEntry& entry) const;
  /// The inertia that a joint of one coordinate moves at the references, its armature included.
  [[nodiscard]] Real inertiaAt(const MjcfJointEntry& entry) const;
  [[nodiscard]] const std::map<std::string, std::string>& shapes() const { return shapes_; }
  [[nodiscard]] const MjcfGeom* findGeom(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> siteNames() const { return namesOf(sites_); }
  [[nodiscard]] std::vector<std::string> jointNames() const { return namesOf(joints_); }
  [[nodiscard]] std::vector<std::string> geomNames() const { return namesOf(geoms_); }

  int numPositions = 0, numVelocities = 0;

 private:
  /// Where elements are read: in which body, at which frame of it, with which default class.
  struct Scope {
    int body = 0;
    Transform frame{};  // X_BF
    const MjcfClass* settings = nullptr;
    std::string suffix{};  // of names, inside replicate
    bool isInReplicate = false;
  };

  template <class T>
  [[nodiscard]] static std::vector<std::string> namesOf(const std::map<std::string, T>& table) {
    std::vector<std::string> out;
    out.reserve(table.size());
    for (const auto& [name, entry] : table) out.push_back(name);
    return out;
  }

  void reserveNames(const XmlElement& worldbody);
  void countCopies(const XmlElement& section, Real times);
  void readChildren(const XmlElement& section, const Scope& scope);
  void readBody(const XmlElement& element, const Scope& scope);
  void readFrame(const XmlElement& element, const Scope& scope);
  void readReplicate(const XmlElement& element, const Scope& scope);
  void readInertial(const XmlElement& element, const Scope& scope);
  void readJoint(const XmlElement& element, const Scope& scope);
  void readGeom(const XmlElement& element, const Scope& scope);
  void readSite(const XmlElement& element, const Scope& scope);
  [[nodiscard]] Joint makeJoint(XmlReader& reader, const MjcfJoint& settings, const Scope& scope);
  [[nodiscard]] bool fitFromTo(XmlReader& reader, MjcfGeom* geom);
  [[nodiscard]] bool fitToMesh(XmlReader& reader, MjcfGeom* geom);
  [[nodiscard]] bool requireMesh(XmlReader& reader, const MjcfGeom& geom);
  [[nodiscard]] std::shared_ptr<const Shape> makeShape(XmlReader& reader, const MjcfGeom& geom);
  [[nodiscard]] std::optional<MassProperties> massOf(XmlReader& reader, const MjcfGeom& geom,
                                                     const Shape* shape);
  /// The class that an attribute names, `fallback` when there is none, null after an error.
  [[nodiscard]] const MjcfClass* classOf(XmlReader& reader, const char* attribute,
                                         const MjcfClass* fallback);
  /// What a geom or a site begins with; null when it is not to be read: after an error, or at the
  /// limit of their number.
  [[nodiscard]] const MjcfClass* settingsOfShape(XmlReader& reader, const Scope& scope);
  [[nodiscard]] std::string takeName(XmlReader& reader, const char* kind, const Scope& scope,
                                     std::string* fileName);
  [[nodiscard]] ImportNotes& notes() { return is_copy_ ? muted_ : import_.notes; }

  void addLook(const MjcfGeom& geom, const Transform& pose, bool collides,
               const std::shared_ptr<const Shape>& shape, MjcfBody* body);
  [[nodiscard]] std::string materialOf(XmlReader& reader, const MjcfGeom& geom);
  void addMaterials();
  void computeMasses();
  [[nodiscard]] bool boundMass(MjcfBody& body);
  void requireMasses();
  void addBodies();
  void addSites();
  void addLooks();

  RobotImport& import_;
  const MjcfCompiler& compiler_;
  const MjcfDefaults& defaults_;
  MjcfAssets& assets_;
  const MjcfDisabled& disabled_;
  ImportNotes muted_{""};  // what copies would say again
  bool is_copy_ = false;
  bool is_full_ = false;  // a limit was reached: nothing more is read
  struct Expansion {
    Real copies = 0, bodies = 0, shapes = 0, elements = 0;  // beyond any integer, where asked for
  } expansion_;

  std::vector<MjcfBody> bodies_;
  std::map<std::string, int> index_;
  std::map<std::string, MjcfSiteEntry> sites_;
  std::map<std::string, MjcfJointEntry> joints_;
  std::map<std::string, MjcfGeom> geoms_;
  std::map<std::string, std::string> shapes_;  // full names of shapes by names of geoms
  std::set<std::string> kept_geoms_;

  struct Surface {
    int contactDimension = 3;
    int priority = 0;
    std::array<Real, 3> friction{};
    friend bool operator<(const Surface& a, const Surface& b) {
      return std::tie(a.contactDimension, a.priority, a.friction) <
             std::tie(b.contactDimension, b.priority, b.friction);
    }
  };
  std::map<Surface, std::string> surface_names_;
  std::vector<Surface> surfaces_;  // in order of first use
};

/// What friction of two geoms comes to in MuJoCo: the higher priority's, else the larger of each.
struct MjcfFriction {
  Real sliding = 0, torsional = 0, rolling = 0;
};
[[nodiscard]] MjcfFriction combinedFriction(int contactDimension,
                                            const std::array<Real, 3>& friction);

}  // namespace tangere::io
