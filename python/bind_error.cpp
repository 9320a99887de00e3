// SPDX-License-Identifier: Apache-2.0
//
// The exceptions of the engine become those of tangere.errors.
#include "bindings.hpp"

#include <tangere/limit_exceeded.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tangere::python {

namespace nb = nanobind;

namespace {

void raise(const char* name, const char* what) {
  const nb::object type = nb::module_::import_("tangere.errors").attr(name);
  PyErr_SetString(type.ptr(), what);
}

}  // namespace

void bindError(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const LimitExceeded& error) {
      raise("LimitExceeded", error.what());
    } catch (const InvalidInput& error) {
      raise("InvalidInput", error.what());
    } catch (const FileError& error) {
      raise("FileError", error.what());
    }
  });
  m.def("near_names", &nearNames, nb::arg("word"), nb::arg("candidates"),
        "\" (did you mean 'x'?)\" for the candidates nearest to a word, or nothing.\n\n"
        ">>> from tangere.collision import near_names\n"
        ">>> near_names('bax', ['box', 'sphere'])\n"
        "\" (did you mean 'box'?)\"\n");
}

}  // namespace tangere::python
