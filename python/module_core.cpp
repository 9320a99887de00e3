// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

#include <tangere/config.hpp>

NB_MODULE(_core, m) {
  using namespace tangere::python;
  m.attr("version") = TANGERE_VERSION_STRING;
  m.doc() = "Models, simulation and scene files; see tangere.";
  nanobind::module_::import_("tangere._collision");  // shapes, and the errors of both
  bindTetFiles(m);
  bindMaterial(m);
  bindPublishedMaterials(m);
  bindSolverOptions(m);
  bindArticulation(m);
  bindSoftBody(m);
  bindModel(m);
  bindScene(m);
  bindIntegrator(m);
  bindSimulator(m);
}
