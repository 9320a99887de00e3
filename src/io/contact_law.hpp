// SPDX-License-Identifier: Apache-2.0
//
// contact = { model = "hydroelastic", modulus = 1e7, ... }: how a surface yields; and the names of
// materials.
#pragma once

#include <tangere/material.hpp>

#include "io/table_reader.hpp"

#include <map>
#include <string>

namespace tangere::io {

/// Reads the key `contact` of a table into the contact law of a material; what is not given stays.
/// False when there is none.
bool readContactLaw(TableReader& table, Material* out);

/// The contact law of `from`, and nothing else of it.
void copyContactLaw(const Material& from, Material* to);

/// What may have been meant by the name of a material that does not exist: one of the scene or a
/// published one that is near, else the first few of the scene.
[[nodiscard]] std::string materialCandidates(const std::string& name,
                                             const std::map<std::string, Material>& materials);

}  // namespace tangere::io
