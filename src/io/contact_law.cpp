// SPDX-License-Identifier: Apache-2.0
#include "io/contact_law.hpp"

#include <tangere/error.hpp>
#include <tangere/published_materials.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace tangere::io {

namespace {

constexpr NumberRule kStiffness{0, 1e150, "a stiffness above 0 [N/m]", true};
constexpr NumberRule kTime{0, 1e6, "a time of 0 or more [s]"};
constexpr NumberRule kDissipation{0, 1e6, "a dissipation of 0 or more [s/m]"};
constexpr NumberRule kModulus{0, 1e15, "a pressure above 0 [Pa], or \"rigid\"", true};
constexpr NumberRule kThickness{0, 1e6, "a length above 0 [m]", true};
constexpr NumberRule kResolution{0, 1e6, "a length from 0 to 1e6 [m]"};
constexpr NumberRule kYoung{0, 1e100, "a pressure above 0 [Pa]", true};
constexpr NumberRule kPoisson{0, 0.5, "a number from 0 to 0.5"};
constexpr NumberRule kRollingResistance{0, 1000, "a number from 0 to 1000"};

/// Errors for keys that belong to another model than the one that was chosen.
void refuseUnless(bool isChosen, const char* model, std::initializer_list<const char*> keys,
                  TableReader& law) {
  for (const char* key : keys) {
    if (!isChosen && law.has(key))
      law.error(law.placeOf(key),
                std::string(key) + ": expected model = \"" + std::string(model) + "\"");
  }
}

void readHertz(bool isHertz, TableReader& law, Material* out) {
  refuseUnless(isHertz, "hertz", {"young", "poisson", "rolling_resistance"}, law);
  if (isHertz && !law.has("young") && !(out->youngsModulus > 0))
    law.error(law.place(), "young is missing: the law of Hertz needs Young's modulus [Pa]");
  out->youngsModulus = law.number("young", kYoung).value_or(out->youngsModulus);
  out->poissonRatio = law.number("poisson", kPoisson).value_or(out->poissonRatio);
  out->rollingResistance =
      law.number("rolling_resistance", kRollingResistance).value_or(out->rollingResistance);
}

}  // namespace

bool readContactLaw(TableReader& table, Material* out) {
  const Value* const contact = table.find("contact");
  if (contact == nullptr) return false;
  TableReader law(table.notes(), *contact, table.who() + ": contact");
  const auto word = law.word("model", {"point", "hydroelastic", "hertz", "observer"});
  if (word) out->contact = static_cast<ContactModel>(*word);
  const bool isHydroelastic = word && out->contact == ContactModel::Hydroelastic;
  refuseUnless(isHydroelastic, "hydroelastic", {"modulus", "thickness", "resolution", "plane"},
               law);
  readHertz(word && out->contact == ContactModel::Hertz, law, out);
  if (const Value* rigid = law.find("modulus"); rigid != nullptr && rigid->string() != nullptr) {
    if (law.word("modulus", {"rigid"})) out->hydroelasticModulus = kUnlimited;
  } else {
    out->hydroelasticModulus = law.number("modulus", kModulus).value_or(out->hydroelasticModulus);
  }
  out->hydroelasticThickness =
      law.number("thickness", kThickness).value_or(out->hydroelasticThickness);
  out->hydroelasticResolution =
      law.number("resolution", kResolution).value_or(out->hydroelasticResolution);
  if (const auto part = law.word("plane", {"elements", "vertices"}))
    out->planeContact = static_cast<PlaneContact>(*part);
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
  to->planeContact = from.planeContact;
  to->youngsModulus = from.youngsModulus;
  to->poissonRatio = from.poissonRatio;
  to->rollingResistance = from.rollingResistance;
}

std::string materialCandidates(const std::string& name,
                               const std::map<std::string, Material>& materials) {
  const std::string begin = name.substr(0, 64);
  std::vector<std::string> known, all;
  for (const auto& [candidate, material] : materials) known.push_back(candidate);
  all = known;
  for (const Material& material : publishedMaterials()) {
    if (materials.count(material.name) == 0) all.push_back(material.name);
  }
  const std::string near = nearNames(begin, all);
  return near.empty() ? candidates(begin, known) : near;
}

}  // namespace tangere::io
