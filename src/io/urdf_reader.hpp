// SPDX-License-Identifier: Apache-2.0
//
// Takes a URDF file apart. docs/urdf.md lists every element and attribute and what becomes of it.
#pragma once

#include "io/collision_filter_groups.hpp"
#include "io/robot_import.hpp"
#include "io/robot_schema.hpp"
#include "io/robot_shapes.hpp"
#include "io/robot_tree.hpp"
#include "io/robot_visuals.hpp"
#include "io/xml_reader.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

class UrdfReader {
 public:
  UrdfReader(const XmlElement& root, RobotImport& import)
      : root_(root),
        import_(import),
        notes_(import.notes),
        shapes_(import),
        tree_(import),
        colors_(urdfColors(root)),
        first_shape_(import.numShapes) {}

  void read();

 private:
  /// True after an error: the file still has to go through xacro.
  [[nodiscard]] bool hasXacro();
  void readRoot();
  void readFrame(const XmlElement& element);
  void build();
  void chooseBase(int root);
  void summarize();

  // Links: urdf_link.cpp
  void readLink(const XmlElement& element);
  [[nodiscard]] std::optional<MassProperties> readInertial(const XmlElement& element,
                                                           const std::string& who);
  void readCollision(const XmlElement& element, const std::string& link, Body* body);
  [[nodiscard]] std::shared_ptr<const Shape> readGeometry(const XmlElement& element,
                                                          const std::string& who);
  void passVisual(const XmlElement& element, const std::string& link);

  // Joints: urdf_joint.cpp
  void readJoint(const XmlElement& element);
  /// A word; "fixed" after an error.
  [[nodiscard]] std::string readJointType(XmlReader& reader);
  [[nodiscard]] std::optional<int> readEnd(const XmlElement& element, const char* end,
                                           const std::string& who);
  /// Of a joint that moves.
  void readCoordinate(const XmlElement& element, const std::string& type, const std::string& who,
                      Joint* joint);
  void readAxis(const XmlElement& element, const std::string& who, Joint* joint);
  void readLimits(const XmlElement& element, const std::string& type, const std::string& who,
                  Joint* joint);
  void readDynamics(const XmlElement& element, const std::string& who, Joint* joint);
  void readMimic(const XmlElement& element, const std::string& who, const std::string& follower);
  void readPitch(const XmlElement& element, const std::string& who, Joint* joint);

  // Drives: urdf_transmission.cpp
  void readTransmission(const XmlElement& element);
  void readActuator(const XmlElement& element, const std::string& joint, Real reduction,
                    const std::string& who);

  /// Pose of a child "origin"; the identity without one.
  [[nodiscard]] Transform readOrigin(const XmlElement& element, const std::string& who);
  /// Errors for children that do not belong and for a second one of the single ones.
  void checkChildren(const XmlElement& element, const std::string& who,
                     std::initializer_list<std::string_view> single,
                     std::initializer_list<std::string_view> many = {});
  void note(ImportNote::Kind kind, const XmlElement& element, const std::string& message) {
    say(notes_, kind, element, element.place, message);
  }

  const XmlElement& root_;
  RobotImport& import_;
  ImportNotes& notes_;
  RobotShapes shapes_;
  RobotTree tree_;
  std::map<std::string, Rgba> colors_;
  int first_shape_;  // how many there were before
  std::string robot_;
  std::map<std::string, std::string> joint_types_;
  std::map<std::string, Real> armatures_;  // of joints, by their full names
  struct PendingActuator {
    Actuator actuator;
    const XmlElement* element;
  };
  std::vector<PendingActuator> actuators_;
  struct PendingSite {
    Site site;
    const XmlElement* element;
  };
  std::vector<PendingSite> sites_;
  Tally visuals_, materials_, velocities_, idle_, extensions_;
};

}  // namespace tangere::io
