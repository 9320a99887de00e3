// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "frozen_model.hpp"
#include "struct_binding.hpp"

#include <tangere/scene.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string_view.h>

namespace tangere::python {

namespace {

nb::object diagnosticOf(const ImportNote& note) {
  const nb::object type = nb::module_::import_("tangere.errors").attr("Diagnostic");
  const std::string kind(importNoteKindName(note.kind));
  return type(note.file, note.line, note.column, note.message, kind);
}

const char* classOf(SceneError::Cause cause) {
  switch (cause) {
    case SceneError::Cause::Content:
      return "SceneError";
    case SceneError::Cause::Limit:
      return "SceneLimitExceeded";
    case SceneError::Cause::File:
      return "SceneFileError";
  }
  return "SceneError";
}

void raise(const SceneError& error) {
  nb::list errors;
  for (const ImportNote& note : error.errors()) errors.append(diagnosticOf(note));
  const nb::object type = nb::module_::import_("tangere.errors").attr(classOf(error.cause()));
  const nb::object exception = type(error.what(), nb::tuple(errors), error.numErrors());
  PyErr_SetObject(type.ptr(), exception.ptr());
}

SceneLimits limitsOf(const std::vector<std::filesystem::path>& assetRoots,
                     std::optional<std::size_t> maxBytes) {
  SceneLimits limits;
  limits.assetRoots = assetRoots;
  if (maxBytes) limits.maxBytes = *maxBytes;
  return limits;
}

nb::object pathText(const std::filesystem::path& path) { return nb::str(path.c_str()); }

nb::tuple pathTexts(const std::vector<std::filesystem::path>& paths) {
  nb::list out;
  for (const std::filesystem::path& path : paths)
    out.append(pathText(std::filesystem::absolute(path)));
  return nb::tuple(out);
}

FrozenModel frozen(Scene&& scene, nb::object recipe) {
  return {std::move(scene.model), std::move(scene.name), std::move(scene.report.notes),
          std::move(recipe)};
}

FrozenModel load(const std::filesystem::path& path,
                 const std::vector<std::filesystem::path>& assetRoots,
                 std::optional<std::size_t> maxBytes) {
  const SceneLimits limits = limitsOf(assetRoots, maxBytes);
  Scene scene = [&] {
    const nb::gil_scoped_release release;
    return loadScene(path, limits);
  }();
  return frozen(std::move(scene), nb::make_tuple("load", pathText(std::filesystem::absolute(path)),
                                                 pathTexts(assetRoots), maxBytes));
}

FrozenModel loads(const std::string& text, const std::filesystem::path& folder,
                  const std::string& name, const std::vector<std::filesystem::path>& assetRoots) {
  const SceneLimits limits = limitsOf(assetRoots, std::nullopt);
  Scene scene = [&] {
    const nb::gil_scoped_release release;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool isXml = first != std::string::npos && text[first] == '<';
    return isXml ? readSceneXml(text, folder, name, limits)
                 : readSceneToml(text, folder, name, limits);
  }();
  return frozen(std::move(scene),
                nb::make_tuple("loads", text, pathText(std::filesystem::absolute(folder)), name,
                               pathTexts(assetRoots)));
}

}  // namespace

void bindScene(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const SceneError& error) {
      raise(error);
    }
  });
  bindResult<ImportNote>(m, "ImportNote", "One thing said about an input.",
                         field("file", &ImportNote::file, "the file it is about"),
                         field("line", &ImportNote::line, "from 1; 0: none"),
                         field("column", &ImportNote::column, "from 1; 0: none"),
                         field("message", &ImportNote::message, "what is said"))
      .def_prop_ro(
          "kind", [](const ImportNote& self) { return std::string(importNoteKindName(self.kind)); },
          "read, changed, ignored, warning or error")
      .def("__str__", [](const ImportNote& self) { return describe(self); });
  m.def("load", &load, nb::arg("path"),
        nb::arg("asset_roots") = std::vector<std::filesystem::path>{},
        nb::arg("max_bytes") = nb::none(), "Reads a scene or robot file; see tangere.load().");
  m.def("loads", &loads, nb::arg("text"), nb::arg("folder"), nb::arg("name"),
        nb::arg("asset_roots") = std::vector<std::filesystem::path>{},
        "Reads the text of a scene or robot file; see tangere.loads().");
}

}  // namespace tangere::python
