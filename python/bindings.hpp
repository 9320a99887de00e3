// SPDX-License-Identifier: Apache-2.0
//
// One function for each public header; each is in the file of its name.
#pragma once

#include <nanobind/nanobind.h>

namespace tangere::python {

class Environments;

// tangere._collision
void bindError(nanobind::module_& m);
void bindShape(nanobind::module_& m);
void bindMesh(nanobind::module_& m);
void bindTetMesh(nanobind::module_& m);
void bindIo(nanobind::module_& m);
void bindContact(nanobind::module_& m);
void bindBroadPhase(nanobind::module_& m);
void bindCollision(nanobind::module_& m);
void bindContactPatchCache(nanobind::module_& m);

// tangere._core
void bindTetFiles(nanobind::module_& m);
void bindMaterial(nanobind::module_& m);
void bindPublishedMaterials(nanobind::module_& m);
void bindSolverOptions(nanobind::module_& m);
void bindArticulation(nanobind::module_& m);
void bindSoftBody(nanobind::module_& m);
void bindModel(nanobind::module_& m);
void bindModelBuilder(nanobind::module_& m);
void bindScene(nanobind::module_& m);
void bindIntegrator(nanobind::module_& m);
void bindSimulator(nanobind::module_& m);

// Parts of the class Simulator.
void bindState(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindBatch(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindDynamics(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindContacts(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindBodies(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindSofts(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindEvents(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindContactHandler(nanobind::module_& m, nanobind::class_<Environments>& simulator);
void bindCheckpoint(nanobind::module_& m, nanobind::class_<Environments>& simulator);

// tangere._recording
void bindRecording(nanobind::module_& m);

}  // namespace tangere::python
