// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

#include <tangere/config.hpp>

NB_MODULE(_collision, m) {
  using namespace tangere::python;
  // Objects that live when the interpreter ends are no news to users.
  nanobind::set_leak_warnings(false);
  m.attr("version") = TANGERE_VERSION_STRING;
  m.doc() = "Shapes, meshes and collision queries; see tangere.collision.";
  bindError(m);
  bindShape(m);
  bindMesh(m);
  bindTetMesh(m);
  bindIo(m);
  bindContact(m);
  bindBroadPhase(m);
  bindCollision(m);
  bindContactPatchCache(m);
}
