// SPDX-License-Identifier: Apache-2.0
//
// contact = { model = "hydroelastic", modulus = 1e7, ... }: how a surface yields.
#pragma once

#include <tangere/material.hpp>

#include "io/table_reader.hpp"

namespace tangere::io {

/// Reads the key `contact` of a table into the contact law of a material; what is not given stays.
/// False when there is none.
bool readContactLaw(TableReader& table, Material* out);

/// The contact law of `from`, and nothing else of it.
void copyContactLaw(const Material& from, Material* to);

}  // namespace tangere::io
