// SPDX-License-Identifier: Apache-2.0
//
// The parts of a recording that do not grow: attributes, and the model with its shapes.
#pragma once

#include <tangere/model.hpp>

#include "io/hdf5_handle.hpp"

#include <string>

namespace tangere::io {

void writeText(hid_t object, const char* attribute, const std::string& text);
void writeInteger(hid_t object, const char* attribute, int value);
void writeReal(hid_t object, const char* attribute, Real value);

/// The group /model: names, masses, shapes with their triangles, and the hash.
void writeModel(hid_t file, const Model& model);

}  // namespace tangere::io
