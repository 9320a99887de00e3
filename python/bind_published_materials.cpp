// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/published_materials.hpp>

namespace tangere::python {

void bindPublishedMaterials(nb::module_& m) {
  m.def(
      "published_materials",
      [] {
        const std::span<const Material> all = publishedMaterials();
        return std::vector<Material>(all.begin(), all.end());
      },
      "Materials with published constants, for the law of Hertz; scene files know them by name.\n\n"
      ">>> import tangere\n"
      ">>> [material.name for material in tangere.published_materials()][-1]\n"
      "'Steel'\n");
  m.def(
      "published_pairs",
      [] {
        const std::span<const MaterialPair> all = publishedPairs();
        return std::vector<MaterialPair>(all.begin(), all.end());
      },
      "What pairs of the published materials do to each other.\n\n"
      ">>> import tangere\n"
      ">>> {pair.material1 for pair in tangere.published_pairs()} <= "
      "{material.name for material in tangere.published_materials()}\n"
      "True\n");
}

}  // namespace tangere::python
