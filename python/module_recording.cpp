// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

NB_MODULE(_recording, m) {
  m.doc() = "Recordings in HDF5; see tangere.Recording and tangere.Recorder.";
  nanobind::module_::import_("tangere._core");
  tangere::python::bindRecording(m);
}
