// SPDX-License-Identifier: Apache-2.0
//
// The enumerations of models and solvers, which Python may give by name. Every file that binds
// something with one of them includes this, so that all see the same conversion.
#pragma once

#include "casters.hpp"
#include "collision_enums.hpp"

#include <tangere/integrator.hpp>
#include <tangere/model.hpp>

TANGERE_PYTHON_ENUM(tangere::BodyType);
TANGERE_PYTHON_ENUM(tangere::SolverType);
TANGERE_PYTHON_ENUM(tangere::JointStep);
TANGERE_PYTHON_ENUM(tangere::ContactModel);
TANGERE_PYTHON_ENUM(tangere::PlaneContact);
TANGERE_PYTHON_ENUM(tangere::ContactKind);
TANGERE_PYTHON_ENUM(tangere::PositionCorrection);
TANGERE_PYTHON_ENUM(tangere::SapLinearSolver);
TANGERE_PYTHON_ENUM(tangere::SoftPreconditioner);
TANGERE_PYTHON_ENUM(tangere::SapGuess);
TANGERE_PYTHON_ENUM(tangere::SapContactModel);
TANGERE_PYTHON_ENUM(tangere::SapFriction);
TANGERE_PYTHON_ENUM(tangere::EventMethod);
TANGERE_PYTHON_ENUM(tangere::EventPolicy);
TANGERE_PYTHON_ENUM(tangere::RestitutionDamping);
TANGERE_PYTHON_ENUM(tangere::EventCause);
TANGERE_PYTHON_ENUM(tangere::JointType);
TANGERE_PYTHON_ENUM(tangere::Tendon::Via::Kind);
TANGERE_PYTHON_ENUM(tangere::Actuator::Target);
TANGERE_PYTHON_ENUM(tangere::Actuator::Dynamics);
TANGERE_PYTHON_ENUM(tangere::Equality::Type);
TANGERE_PYTHON_ENUM(tangere::SensorType);
TANGERE_PYTHON_ENUM(tangere::Sensor::Frame);
TANGERE_PYTHON_ENUM(tangere::ElasticModel);
