// SPDX-License-Identifier: Apache-2.0
#include "argument.hpp"

#include <algorithm>
#include <cctype>

namespace tangere::python {

std::string shownValue(nb::handle value) {
  constexpr std::size_t kLongest = 60;
  // Characters that are no text (lone surrogates) are written as \udcff by ascii().
  const nb::object text = nb::steal(PyObject_ASCII(value.ptr()));
  if (!text.is_valid()) {
    PyErr_Clear();
    return nb::cast<std::string>(value.type().attr("__name__"));
  }
  auto shown = nb::cast<std::string>(text);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  if (shown.size() > kLongest) shown = shown.substr(0, kLongest - 3) + "...";
  return shown;
}

std::string nearMembers(nb::handle enumeration, const std::string& name) {
  std::vector<std::string> known;
  for (const nb::handle member : enumeration.attr("__members__")) {
    auto text = nb::cast<std::string>(member);
    for (char& letter : text)
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    known.push_back(std::move(text));
  }
  // Without the quotes of the value as it is shown.
  std::string near = nearNames(name.size() < 2 ? name : name.substr(1, name.size() - 2), known);
  if (!near.empty()) return near;
  for (const std::string& member : known)
    near += (near.empty() ? " (there are '" : ", '") + member + "'";
  return near + ")";
}

void refuseUnknown(const char* owner, const nb::kwargs& unknown,
                   const std::vector<const char*>& known) {
  for (const auto& [key, value] : unknown) {
    const auto name = nb::cast<std::string>(key);
    const std::vector<std::string> names(known.begin(), known.end());
    throw nb::type_error(
        (std::string(owner) + " has no '" + name + "'" + nearNames(name, names)).c_str());
  }
}

}  // namespace tangere::python
