// SPDX-License-Identifier: Apache-2.0
//
// The sections of an MJCF file that refer to its bodies: contact, equality, tendon, actuator,
// sensor and keyframe.
#pragma once

#include "io/mjcf_bodies.hpp"
#include "io/mjcf_elements.hpp"
#include "io/robot_import.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tangere::io {

class MjcfParts {
 public:
  MjcfParts(RobotImport& import, const MjcfCompiler& compiler, const MjcfDefaults& defaults,
            MjcfBodies& bodies, const MjcfDisabled& disabled)
      : import_(import),
        compiler_(compiler),
        defaults_(defaults),
        bodies_(bodies),
        disabled_(disabled) {}

  // Each for one section element, after the bodies are finished. Mistakes go to the notes.
  void readContact(const XmlElement& section);
  void readEquality(const XmlElement& section);
  void readTendon(const XmlElement& section);
  void readActuator(const XmlElement& section);
  void readSensor(const XmlElement& section);
  void readKeyframe(const XmlElement& section);

 private:
  void readPair(const XmlElement& element);
  void readExclude(const XmlElement& element);
  void readBodyEquality(XmlReader& reader, Equality* out);
  void readCoupling(XmlReader& reader, const char* kind, Equality* out);
  [[nodiscard]] bool readTerms(XmlReader& reader, Tendon* out);
  [[nodiscard]] bool readPath(XmlReader& reader, Tendon* out);
  [[nodiscard]] bool readTarget(XmlReader& reader, Actuator* out);
  void resolveDamping(XmlReader& reader, const MjcfActuator& settings, Actuator* out);
  void inheritRange(XmlReader& reader, const MjcfActuator& settings, Actuator* out);
  void readFrame(XmlReader& reader, const char* type, const char* name, std::string* object,
                 Sensor::Frame* frame, bool* isWorld);

  void normalizeQuaternions(XmlReader& reader, std::vector<Real>* q);

  /// The index of the body that an attribute names; -1 after an error.
  [[nodiscard]] int bodyOf(XmlReader& reader, const char* attribute);
  /// The full name of what an attribute names; empty after an error.
  [[nodiscard]] std::string nameOf(XmlReader& reader, const char* kind, const char* attribute);
  [[nodiscard]] const MjcfClass* classOf(XmlReader& reader);
  [[nodiscard]] std::string takeName(XmlReader& reader, const char* kind);
  /// A limit's range; false when there is none.
  [[nodiscard]] bool isLimited(XmlReader& reader, MjcfLimited limited, const MjcfRange& range,
                               const char* name);
  /// Calls `add`, which throws InvalidInput, and takes a note of that.
  template <class Add>
  void tryTo(XmlReader& reader, const Add& add);

  RobotImport& import_;
  const MjcfCompiler& compiler_;
  const MjcfDefaults& defaults_;
  MjcfBodies& bodies_;
  const MjcfDisabled& disabled_;
  std::map<std::string, Tendon> tendons_;  // by their full names
  std::set<std::string> given_;            // "tendon a": names that the file gives, not ours
  int num_controls_ = 0, num_activations_ = 0;
};

}  // namespace tangere::io
