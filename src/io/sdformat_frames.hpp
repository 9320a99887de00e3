// SPDX-License-Identifier: Apache-2.0
//
// The frames of an SDFormat file: every link, joint, model and <frame> is one, known by its scoped
// name ("arm::hand::tip"), placed against another one and attached to a link.
#pragma once

#include <tangere/types.hpp>

#include "io/import_notes.hpp"
#include "io/xml_document.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

struct SdfFrame {
  std::string name{};  ///< scoped; "" is the world
  const XmlElement* element = nullptr;
  Place place{};     ///< of what decides its pose
  Transform pose{};  ///< in the frame `relativeTo`
  std::string relativeTo{};
  std::string attachedTo{};  ///< the next frame on the way to a link; itself for a link
  /// Of a model: the frame in it that has `pose`; empty: the model's own.
  std::string placement{};
  bool isLink = false;
};

class SdfFrames {
 public:
  explicit SdfFrames(ImportNotes& notes);

  /// False after an error in the notes: the name is taken.
  bool add(SdfFrame frame);
  /// Where the references of a frame lead is known late; null when there is none.
  [[nodiscard]] SdfFrame* find(const std::string& name);
  /// The scoped name of what `name` means in a scope; after an error in the notes nothing.
  [[nodiscard]] std::optional<std::string> lookUp(const std::string& scope, const std::string& name,
                                                  const XmlElement& element, Place place,
                                                  const std::string& who);
  /// X_WF; after an error in the notes (frames placed against each other in a ring) nothing.
  [[nodiscard]] std::optional<Transform> pose(const std::string& name);
  /// The scoped name of the link it is attached to, "" for the world; after an error nothing.
  [[nodiscard]] std::optional<std::string> link(const std::string& name);

 private:
  [[nodiscard]] std::optional<Transform> poseIn(const SdfFrame& frame);
  void errorRing(const SdfFrame& frame, const std::string& what);

  ImportNotes& notes_;
  std::map<std::string, SdfFrame> frames_;
  std::map<std::string, Transform> poses_;    // in the world, as far as they are known
  std::map<std::string, std::string> links_;  // likewise
  std::map<std::string, Transform> placed_;   // models by a frame in them: poseIn()
  int depth_ = 0;                             // of placement frames within placement frames
};

/// "a::b" from "a" and "b"; "b" in the world.
[[nodiscard]] std::string scoped(const std::string& scope, const std::string& name);

}  // namespace tangere::io
