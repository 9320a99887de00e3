// SPDX-License-Identifier: Apache-2.0
//
// Links and the joints between them, as URDF and SDFormat list them, on their way to the bodies of
// a model: a tree in which every link keeps its name. Rings, links held twice and links without
// mass where a joint moves them are errors in the notes.
#pragma once

#include <tangere/model.hpp>

#include "io/robot_import.hpp"
#include "io/xml_document.hpp"

#include <map>
#include <string>
#include <vector>

namespace tangere::io {

/// "who: message" at a place in the file of the element.
void say(ImportNotes& notes, ImportNote::Kind kind, const XmlElement& element, Place place,
         const std::string& message);

struct RobotLink {
  enum class Base : unsigned char {
    Free,   ///< moves freely where no joint holds it
    Fixed,  ///< stands where no joint holds it
    World,  ///< is the world; a body of its own only where it has shapes
  };
  std::string name{};  ///< as joints call it
  const XmlElement* element = nullptr;
  /// Name, shapes, mass and the like. `pose` is X_WB for a link that no joint holds.
  Body body{};
  Base base = Base::Free;
  /// Where a mass is needed its collision shapes give it theirs.
  enum class FromShapes : unsigned char {
    Never,    ///< it has a mass, or the format has a rule of its own
    IfMoved,  ///< the file says nothing of its mass: where a joint moves it
    IfNeeded  ///< the file says that it has none: where nothing else that moves with it has one
  };
  FromShapes massFromShapes = FromShapes::Never;
};

struct RobotJoint {
  std::string name{};  ///< for messages; those of `joints` are full names
  const XmlElement* element = nullptr;
  int parent = -1;  ///< index of a link; -1: the world
  int child = -1;
  /// X_PC with every coordinate at zero.
  Transform pose{};
  /// None: welded. The coordinates start at `start`, or as near as the limits allow.
  std::vector<Joint> joints{};
  Real start = 0;
  /// Nothing holds the child: it is a free body, placed by `pose`.
  bool isFloating = false;
};

/// Coordinate of `follower` = multiplier * coordinate of `leader` + offset.
struct RobotMimic {
  std::string follower{}, leader{};  ///< full names of joints
  Real multiplier = 1, offset = 0;
  const XmlElement* element = nullptr;
  Place place{};  ///< of the leader's name
};

class RobotTree {
 public:
  explicit RobotTree(RobotImport& import) : import_(import) {}

  /// Its index. The name must be new.
  int addLink(RobotLink link);
  void addJoint(RobotJoint joint) { joints_.push_back(std::move(joint)); }
  void addMimic(RobotMimic mimic) { mimics_.push_back(std::move(mimic)); }

  /// Inertias of drives, by the full names of their joints. Before build().
  void setArmatures(const std::map<std::string, Real>& armatures);

  /// -1 when there is none.
  [[nodiscard]] int findLink(const std::string& name) const;
  [[nodiscard]] std::vector<RobotLink>& links() { return links_; }
  [[nodiscard]] const std::vector<RobotJoint>& joints() const { return joints_; }
  [[nodiscard]] std::vector<std::string> linkNames() const;

  /// False after errors in the notes: a link held by two joints, a ring.
  [[nodiscard]] bool connect();
  /// Links that no joint holds, in their order. After connect().
  [[nodiscard]] std::vector<int> roots() const;
  /// Adds the bodies to the builder, a parent before its children and these in the order of their
  /// joints, and the mimicked joints. After connect().
  void build();

 private:
  [[nodiscard]] bool checkRings();
  void placeStarts();
  void placeFollower(const RobotMimic& mimic);
  void moveStart(RobotJoint& joint, Real start);
  [[nodiscard]] Real startOf(std::size_t joint);
  void weighShapes(const std::vector<int>& order);
  bool takeMassOfShapes(int link);
  [[nodiscard]] bool isMoved(int link) const;
  [[nodiscard]] bool checkMasses(const std::vector<int>& order);
  void addBody(int link);
  void addMimics();

  RobotImport& import_;
  std::vector<RobotLink> links_;
  std::map<std::string, int> index_;
  std::vector<RobotJoint> joints_;
  std::vector<RobotMimic> mimics_;
  std::vector<int> holder_;              // of each link: the joint above it; -1: none
  std::vector<std::vector<int>> below_;  // of each link: the joints below it
  std::map<std::string, std::size_t> joint_of_coordinate_;  // joints of one coordinate alone
};

}  // namespace tangere::io
