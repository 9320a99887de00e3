// SPDX-License-Identifier: Apache-2.0
//
// What robot files say about looks, on its way to VisualShape. A look never spoils a scene: what
// cannot be drawn (a mesh that is missing, a size that is no number) is left out without an error.
#pragma once

#include <tangere/visual.hpp>

#include "io/robot_import.hpp"
#include "io/xml_document.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tangere::io {

using Rgba = std::array<Real, 4>;

/// An attribute or a child, not marked as read: looks are reported as what moves nothing.
[[nodiscard]] const XmlAttribute* peekAttribute(const XmlElement& element, std::string_view name);
[[nodiscard]] const XmlElement* peekChild(const XmlElement& element, std::string_view name);

/// "0.1 0.2 0.3 1", each within [0, 1]; the opacity may be missing. Nothing for another text.
[[nodiscard]] std::optional<Rgba> readRgba(std::string_view text);

/// The <material> elements below the root of a URDF that say a colour, by name.
[[nodiscard]] std::map<std::string, Rgba> urdfColors(const XmlElement& root);

/// A <visual> of a link, which is the body `body`, goes to import.visuals.
void addUrdfVisual(const XmlElement& visual, const std::string& body,
                   const std::map<std::string, Rgba>& colors, RobotImport& import);

/// The same of SDFormat; files are seen from `folder`. One whose pose is given relative to another
/// frame is left out.
void addSdfVisual(const XmlElement& visual, const std::string& body,
                  const std::filesystem::path& folder, RobotImport& import);

}  // namespace tangere::io
