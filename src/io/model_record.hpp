// SPDX-License-Identifier: Apache-2.0
//
// The parts of a recording that do not grow: attributes, and the model with its shapes.
#pragma once

#include <tangere/model.hpp>
#include <tangere/visual.hpp>

#include "io/hdf5_handle.hpp"

#include <span>
#include <string>

namespace tangere::io {

void writeText(hid_t object, const char* attribute, const std::string& text);
/// As bytes that the structure of the file holds: a reader may look at it before it trusts the
/// file.
void writePaddedText(hid_t object, const char* attribute, const std::string& text);
void writeInteger(hid_t object, const char* attribute, int value);
void writeReal(hid_t object, const char* attribute, Real value);

/// The group /model: names, masses, shapes with their triangles, looks, joints, and the hash.
void writeModel(hid_t file, const Model& model, std::span<const VisualShape> visuals);

}  // namespace tangere::io
