// SPDX-License-Identifier: Apache-2.0
#include "io/contact_law.hpp"

namespace tangere::io {

namespace {

constexpr NumberRule kStiffness{0, 1e150, "a stiffness above 0 [N/m]", true};
constexpr NumberRule kTime{0, 1e6, "a time of 0 or more [s]"};
constexpr NumberRule kDissipation{0, 1e6, "a dissipation of 0 or more [s/m]"};
constexpr NumberRule kModulus{0, 1e15, "a pressure above 0 [Pa], or \"rigid\"", true};
constexpr NumberRule kThickness{0, 1e6, "a length above 0 [m]", true};
constexpr NumberRule kResolution{0, 1e6, "a length from 0 to 1e6 [m]"};

}  // namespace

bool readContactLaw(TableReader& table, Material* out) {
  const Value* const contact = table.find("contact");
  if (contact == nullptr) return false;
  TableReader law(table.notes(), *contact, table.who() + ": contact");
  const auto word = law.word("model", {"point", "hydroelastic", "hertz"});
  if (word && *word > 1) {
    law.error(law.placeOf("model"), "model " + describe(*law.find("model")) +
                                        " is not available yet in this version; use \"point\" or "
                                        "\"hydroelastic\"");
  }
  const bool isHydroelastic = word && *word == 1;
  if (isHydroelastic) out->contact = ContactModel::Hydroelastic;
  for (const char* key : {"modulus", "thickness", "resolution"}) {
    if (!isHydroelastic && law.has(key))
      law.error(law.placeOf(key), std::string(key) + ": expected model = \"hydroelastic\"");
  }
  if (const Value* rigid = law.find("modulus"); rigid != nullptr && rigid->string() != nullptr) {
    if (law.word("modulus", {"rigid"})) out->hydroelasticModulus = kUnlimited;
  } else {
    out->hydroelasticModulus = law.number("modulus", kModulus).value_or(out->hydroelasticModulus);
  }
  out->hydroelasticThickness =
      law.number("thickness", kThickness).value_or(out->hydroelasticThickness);
  out->hydroelasticResolution =
      law.number("resolution", kResolution).value_or(out->hydroelasticResolution);
  out->stiffness = law.number("stiffness", kStiffness).value_or(out->stiffness);
  out->relaxationTime = law.number("relaxation_time", kTime).value_or(out->relaxationTime);
  out->dissipation = law.number("dissipation", kDissipation).value_or(out->dissipation);
  // One number for the damping of both laws; the linear one has it as a time.
  if (isHydroelastic && !law.has("relaxation_time") && law.has("dissipation"))
    out->relaxationTime = out->dissipation;
  law.finish();
  return true;
}

void copyContactLaw(const Material& from, Material* to) {
  to->stiffness = from.stiffness;
  to->relaxationTime = from.relaxationTime;
  to->dissipation = from.dissipation;
  to->contact = from.contact;
  to->hydroelasticModulus = from.hydroelasticModulus;
  to->hydroelasticThickness = from.hydroelasticThickness;
  to->hydroelasticResolution = from.hydroelasticResolution;
}

}  // namespace tangere::io
