// SPDX-License-Identifier: Apache-2.0
//
// The enumerations of the collision library, which Python may give by name. Every file that binds
// something with one of them includes this, so that all see the same conversion.
#pragma once

#include "casters.hpp"

#include <tangere/collision.hpp>

TANGERE_PYTHON_ENUM(tangere::ShapeType);
TANGERE_PYTHON_ENUM(tangere::ContactType);
TANGERE_PYTHON_ENUM(tangere::QueryStatus);
TANGERE_PYTHON_ENUM(tangere::ConvexAlgorithm);
TANGERE_PYTHON_ENUM(tangere::ImpactStatus);
TANGERE_PYTHON_ENUM(tangere::BroadPhaseType);
