// SPDX-License-Identifier: Apache-2.0
//
// Takes an SDFormat file apart: first models, links, joints and frames with their names, then,
// once every name is known, poses, masses, shapes and axes. docs/sdformat.md lists every element
// and what becomes of it.
#pragma once

#include "io/collision_filter_groups.hpp"
#include "io/robot_import.hpp"
#include "io/robot_schema.hpp"
#include "io/robot_shapes.hpp"
#include "io/robot_tree.hpp"
#include "io/sdformat_frames.hpp"
#include "io/xml_reader.hpp"

#include <deque>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

class SdfReader {
 public:
  SdfReader(const XmlElement& root, RobotImport& import)
      : root_(root),
        import_(import),
        notes_(import.notes),
        shapes_(import),
        tree_(import),
        filters_(import),
        frames_(import.notes),
        first_shape_(import.numShapes) {}

  void read();

 private:
  static constexpr int kOldest = 4, kNewest = 12;  // versions 1.4 to 1.12

  /// The file something is in.
  struct Source {
    std::filesystem::path folder{};
    std::vector<std::filesystem::path> chain{};  ///< of included files, this one last
    int version = 0;                             ///< 9 for 1.9
    int depth = 0;                               ///< of models within models
  };
  struct Model {
    std::string scope{};  ///< its scoped name
    std::string root{};   ///< of the outermost model it is in
    const XmlElement* element = nullptr;
    Source source{};
    bool isStatic = false;
    bool selfCollides = false;
  };
  struct PendingLink {
    const XmlElement* element;
    std::string name;  ///< scoped
    std::size_t model;
  };
  struct PendingJoint {
    const XmlElement* element = nullptr;
    std::string name{};             ///< scoped
    std::string frame{};            ///< its own, as SdfFrames calls it
    std::string scope{};            ///< "" for a joint of the world
    std::string parent{}, child{};  ///< scoped frames
    std::string relativeTo{};
    Place relativePlace{};
    int version = 0;
    bool isStatic = false;
    bool isBroken = false;  ///< an end was not found: there is an error already
  };
  struct PoseText {
    Transform X{};
    std::string relativeTo{};
    Place place{};
    bool isGiven = false;
  };
  /// What an <include> says about the model it includes.
  struct Overrides {
    std::optional<std::string> name{};
    std::optional<PoseText> pose{};
    std::optional<bool> isStatic{};
    std::optional<std::string> placement{};
    Place placementPlace{};
    const XmlElement* element = nullptr;
  };

  // The whole: sdformat.cpp
  [[nodiscard]] std::optional<int> readVersion(const XmlElement& root);
  void readRoot();
  void readWorld(const XmlElement& element, const Source& source);
  void readPhysics(const XmlElement& element, const std::string& who);
  void separateLinks();
  void summarize();

  // Models: sdformat_model.cpp
  void readModel(const XmlElement& element, const std::string& parent, const Source& source,
                 const Model* outer, const Overrides& overrides);
  void readMembers(std::size_t model);
  /// Its scoped name; empty after an error.
  [[nodiscard]] std::string collectLink(const XmlElement& element, std::size_t model);
  void addFrame(const XmlElement& element, const std::string& scope);
  void collectJoint(const XmlElement& element, const std::string& scope, const Source& source,
                    bool isStatic);
  void resolveReferences();
  void resolveFrames();
  void resolveModels();
  void resolveJoints();
  void readFilters();
  struct Reference {
    const std::string& scope;
    const std::string& name;
    const XmlElement& element;
    Place place;
    std::string who;
  };
  /// `*to` becomes the scoped name of the frame that is meant, if one is and there is such a frame.
  void follow(const Reference& reference, std::string* to);

  // Files: sdformat_include.cpp
  void readInclude(const XmlElement& element, const std::string& parent, const Source& source,
                   const Model* outer);
  [[nodiscard]] Overrides readOverrides(const XmlElement& include);
  [[nodiscard]] std::optional<std::filesystem::path> locate(const XmlElement& uri,
                                                            const Source& source);
  [[nodiscard]] std::optional<std::filesystem::path> fileOfConfig(
      const std::filesystem::path& config, const XmlElement& uri);
  /// What is in a file that `source` includes; nothing after an error: a ring, or too deep.
  [[nodiscard]] std::optional<Source> enter(const std::filesystem::path& path, const Source& source,
                                            const XmlElement& uri);
  /// The root of a file; null after an error.
  [[nodiscard]] const XmlElement* load(const std::filesystem::path& path, const XmlElement& uri);

  // Links: sdformat_link.cpp
  void readLink(const PendingLink& pending);
  [[nodiscard]] std::optional<MassProperties> readInertial(const XmlElement& link,
                                                           const std::string& who,
                                                           const Body& body);
  struct Density {
    std::size_t shape;
    Real value;
  };
  void readCollision(const XmlElement& element, const std::string& link, const Transform& X_WL,
                     const Model& model, Body* body);
  [[nodiscard]] std::shared_ptr<const Shape> readGeometry(const XmlElement& element,
                                                          const std::string& who,
                                                          const Model& model, Transform* pose);
  [[nodiscard]] std::shared_ptr<const Shape> readMesh(const XmlElement& element,
                                                      const std::string& who, const Model& model);
  void readSurface(const XmlElement& element, const std::string& who, Material* surface,
                   BodyShape* shape);

  // Joints: sdformat_joint.cpp
  /// Of a joint in its child.
  struct Placement {
    Transform X_CJ{};
    Mat3 R_WC = Mat3::identity();
  };
  void readJoint(const PendingJoint& pending);
  [[nodiscard]] std::string readJointType(XmlReader& reader);
  [[nodiscard]] bool findEnds(XmlReader& reader, const PendingJoint& pending, RobotJoint* joint,
                              Placement* out);
  [[nodiscard]] bool addTwoAxes(XmlReader& reader, const PendingJoint& pending,
                                const Placement& placement, const std::string& type, Joint first,
                                RobotJoint* joint);
  [[nodiscard]] bool addOneAxis(XmlReader& reader, const PendingJoint& pending,
                                const Placement& placement, const std::string& type, Joint only,
                                RobotJoint* joint);
  [[nodiscard]] bool readAxis(const XmlElement& joint, const char* key, const PendingJoint& pending,
                              const Placement& placement, const std::string& who, Joint* out,
                              Real* start);
  [[nodiscard]] Real readPitch(const XmlElement& joint, const std::string& who);
  void noteIdle(const XmlElement& joint, const std::string& who, const std::string& type);
  void readLimit(const XmlElement& axis, const std::string& who, Joint* out);
  void readMimic(const XmlElement& mimic, const PendingJoint& pending, const std::string& who,
                 const std::string& follower);
  void readDrive(const XmlElement& joint, const std::string& who, const std::string& fullJoint,
                 std::vector<Joint>* joints);

  // Values: sdformat_values.cpp
  [[nodiscard]] PoseText readPose(const XmlElement& parent, const std::string& who);
  [[nodiscard]] std::optional<Real> number(const XmlElement& parent, std::string_view key,
                                           const NumberRule& rule, const std::string& who);
  [[nodiscard]] std::optional<Vec3> vec3(const XmlElement& parent, std::string_view key,
                                         const NumberRule& rule, const std::string& who);
  [[nodiscard]] std::optional<bool> boolean(const XmlElement& parent, std::string_view key,
                                            const std::string& who);
  [[nodiscard]] std::optional<std::string> text(const XmlElement& parent, std::string_view key,
                                                const std::string& who);
  /// A note for every child of these names.
  void ignore(const XmlElement& parent, const std::string& who, const std::string& why,
              std::initializer_list<std::string_view> names);
  void checkChildren(const XmlElement& element, const std::string& who,
                     std::initializer_list<std::string_view> single,
                     std::initializer_list<std::string_view> many = {}) {
    io::checkChildren(notes_, element, who, {single, many, {}}, &extensions_);
  }
  void note(ImportNote::Kind kind, const XmlElement& element, const std::string& message) {
    say(notes_, kind, element, element.place, message);
  }
  /// The name in the model that is made: without the one model of a file that is no world.
  [[nodiscard]] std::string plainName(const std::string& name) const;

  const XmlElement& root_;
  RobotImport& import_;
  ImportNotes& notes_;
  RobotShapes shapes_;
  RobotTree tree_;
  CollisionFilterGroups filters_;
  SdfFrames frames_;
  int first_shape_;                   // how many there were before
  std::deque<XmlElement> documents_;  // of included files
  std::string lone_;                  // the one model of a file that is no world, with "::"
  std::deque<Model> models_;
  std::vector<PendingLink> links_;
  std::vector<PendingJoint> joints_;
  struct PendingFrame {
    const XmlElement* element = nullptr;
    std::string name{}, scope{};
    std::string attachedTo{}, relativeTo{};
    Place attachedPlace{}, relativePlace{};
  };
  std::vector<PendingFrame> pending_frames_;
  struct PendingModel {
    const XmlElement* element = nullptr;
    std::string name{}, parent{}, canonical{}, relativeTo{}, placement{};
    Place canonicalPlace{}, relativePlace{}, placementPlace{};
    const XmlElement* poseElement = nullptr;
  };
  std::vector<PendingModel> pending_models_;
  struct LinkFlags {
    std::string root;  // of its outermost model
    std::string body;
    bool selfCollides = false;
  };
  std::vector<LinkFlags> touching_;  // links with shapes that move
  std::vector<Density> densities_;   // of the shapes of the link that is being read
  struct PendingActuator {
    Actuator actuator;
    const XmlElement* element;
  };
  std::vector<PendingActuator> actuators_;
  Tally visuals_, sensors_, plugins_, velocities_, springs_, extensions_, defaults_, odes_;
};

}  // namespace tangere::io
