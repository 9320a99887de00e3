// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_elements.hpp"

#include "io/text.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

constexpr Real kPi = 3.14159265358979323846;

/// Sets as many of the numbers as the attribute gives, as MuJoCo does with a partial list.
template <std::size_t N>
int readSome(XmlReader& reader, std::string_view name, const NumberRule& rule,
             std::array<Real, N>* out) {
  const auto numbers = reader.numbers(name, 1, N, rule);
  if (!numbers) return 0;
  std::copy(numbers->begin(), numbers->end(), out->begin());
  return static_cast<int>(numbers->size());
}

void readInto(XmlReader& reader, std::string_view name, const NumberRule& rule, Real* out) {
  *out = reader.number(name, rule).value_or(*out);
}

void readLimited(XmlReader& reader, std::string_view name, MjcfLimited* out) {
  if (const auto word = reader.word(name, {"false", "true", "auto"}))
    *out = static_cast<MjcfLimited>(*word);
}

void readRange(XmlReader& reader, std::string_view name, MjcfRange* out) {
  const auto numbers = reader.numbers(name, 2, 2, kRange);
  if (!numbers) return;
  if ((*numbers)[0] > (*numbers)[1]) {
    reader.errorFound(name, "the lower number first");
    return;
  }
  *out = {(*numbers)[0], (*numbers)[1]};
}

/// A coefficient that newer files may give as a polynomial, of which we have the first term.
void readCoefficient(XmlReader& reader, std::string_view name, Real* out) {
  constexpr std::size_t kMaxTerms = 8;
  const auto numbers = reader.numbers(name, 1, kMaxTerms, kFinite);
  if (!numbers) return;
  if (std::any_of(numbers->begin() + 1, numbers->end(), [](Real x) { return x != 0; })) {
    reader.errorFound(name, "one number: polynomials are not available in this version");
    return;
  }
  if (numbers->front() < 0) {
    reader.errorFound(name, kNotNegative.expected);
    return;
  }
  *out = numbers->front();
}

void changeSolver(XmlReader& reader, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    reader.change(name, "the SAP solver's own stiffness and dissipation are used instead");
}

}  // namespace

Real MjcfCompiler::radians(Real angle) const { return isDegree ? angle * (kPi / 180) : angle; }

Mat3 rotationFromEuler(const MjcfCompiler& compiler, const Vec3& angles) {
  Quat out;
  for (int i = 0; i < 3; ++i) {
    const char letter = compiler.eulerSequence[static_cast<std::size_t>(i)];
    const bool isFixedAxis = letter >= 'X' && letter <= 'Z';
    Vec3 axis{};
    axis[letter - (isFixedAxis ? 'X' : 'x')] = 1;
    const Quat turn = math::quatFromAxisAngle(axis, compiler.radians(angles[i]));
    out = isFixedAxis ? turn * out : out * turn;
  }
  return rotationMatrix(out);
}

Mat3 rotationFromZ(const Vec3& direction) {
  const Vec3 z = direction / math::scaledNorm(direction);
  constexpr Real kOpposite = 1e-10;  // where there is no least rotation: about x
  if (z.z < 0 && z.x * z.x + z.y * z.y < kOpposite * kOpposite)
    return rotationMatrix(Quat{0, 1, 0, 0});
  return rotationMatrix(Quat{1 + z.z, -z.y, z.x, 0});
}

void readMjcfPlacement(XmlReader& reader, const MjcfCompiler& compiler, Vec3* position,
                       Mat3* rotation) {
  *position = reader.vec3("pos", kPosition).value_or(*position);
  int numRotations = 0;
  for (const std::string_view name : {"quat", "axisangle", "euler", "xyaxes", "zaxis"}) {
    if (!reader.has(name)) continue;
    if (++numRotations > 1) {
      reader.error(reader.placeOf(name),
                   "found more than one orientation, expected one of quat, "
                   "axisangle, euler, xyaxes and zaxis");
      return;
    }
  }
  if (const auto q = reader.numbers("quat", 4, 4, kFinite)) {
    const Quat quat{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    const Mat3 matrix = rotationMatrix(quat);
    if (!std::isfinite(matrix.col[0].x)) {
      reader.errorFound("quat", "a quaternion other than zero");
      return;
    }
    *rotation = matrix;
  } else if (const auto a = reader.numbers("axisangle", 4, 4, kFinite)) {
    const Vec3 axis{(*a)[0], (*a)[1], (*a)[2]};
    if (!(math::scaledNorm(axis) > kTooShort)) {
      reader.errorFound("axisangle", "an axis other than zero");
      return;
    }
    if (std::fabs((*a)[3]) > kAngle.upper) {
      reader.errorFound("axisangle", kAngle.expected);
      return;
    }
    *rotation = rotationMatrix(math::quatFromAxisAngle(axis, compiler.radians((*a)[3])));
  } else if (const auto angles = reader.vec3("euler", kAngle)) {
    *rotation = rotationFromEuler(compiler, *angles);
  } else if (const auto axes = reader.numbers("xyaxes", 6, 6, kFinite)) {
    const Vec3 first{(*axes)[0], (*axes)[1], (*axes)[2]};
    const Real length = math::scaledNorm(first);
    Mat3 matrix;
    matrix.col[0] = first / (length > 0 ? length : Real(1));
    const Vec3 second{(*axes)[3], (*axes)[4], (*axes)[5]};
    const Vec3 y = second - matrix.col[0] * dot(matrix.col[0], second);
    const Real lengthY = math::scaledNorm(y);
    if (!(length > kTooShort) || !(lengthY > kTooShort)) {
      reader.errorFound("xyaxes", "two directions that are neither zero nor parallel");
      return;
    }
    matrix.col[1] = y / lengthY;
    matrix.col[2] = cross(matrix.col[0], matrix.col[1]);
    *rotation = matrix;
  } else if (const auto z = reader.vec3("zaxis", kFinite)) {
    if (!(math::scaledNorm(*z) > kTooShort)) {
      reader.errorFound("zaxis", "a direction other than zero");
      return;
    }
    *rotation = rotationFromZ(*z);
  }
}

void readMjcfJoint(XmlReader& reader, MjcfJoint* out) {
  constexpr JointType kTypes[] = {JointType::Free, JointType::Ball, JointType::Prismatic,
                                  JointType::Revolute};
  if (const auto word = reader.word("type", {"free", "ball", "slide", "hinge"}))
    out->type = kTypes[*word];
  out->position = reader.vec3("pos", kPosition).value_or(out->position);
  out->axis = reader.vec3("axis", kFinite).value_or(out->axis);
  readLimited(reader, "limited", &out->limited);
  readRange(reader, "range", &out->range);
  readLimited(reader, "actuatorfrclimited", &out->forceLimited);
  readRange(reader, "actuatorfrcrange", &out->forceRange);
  readCoefficient(reader, "stiffness", &out->stiffness);
  readCoefficient(reader, "damping", &out->damping);
  readInto(reader, "armature", kNotNegative, &out->armature);
  readInto(reader, "frictionloss", kNotNegative, &out->frictionLoss);
  readInto(reader, "ref", kFinite, &out->reference);
  readInto(reader, "springref", kFinite, &out->springReference);
  reader.refuse("springdamper",
                "it is not available in this version; give stiffness and damping instead");
  if (const auto compensates = reader.boolean("actuatorgravcomp"); compensates && *compensates)
    reader.change("actuatorgravcomp", "gravity compensation does not count as actuator force");
  changeSolver(reader, {"solreflimit", "solimplimit", "solreffriction", "solimpfriction"});
  reader.change("margin", "limits act where they are reached");
}

void readMjcfGeom(XmlReader& reader, const MjcfCompiler& compiler, MjcfGeom* out) {
  if (const auto word = reader.word("type", {"plane", "hfield", "sphere", "capsule", "ellipsoid",
                                             "cylinder", "box", "mesh", "sdf"}))
    out->type = static_cast<MjcfGeomType>(*word);
  const auto bits = [&](const char* name, std::uint32_t* value) {
    // 32 bits, of which some files set all by -1.
    if (const auto given = reader.integer(name, -0x80000000LL, 0xffffffffLL, "an integer"))
      *value = static_cast<std::uint32_t>(*given);
  };
  bits("contype", &out->contactType);
  bits("conaffinity", &out->contactAffinity);
  if (const auto dimension = reader.integer("condim", 1, 6, "1, 3, 4 or 6, an integer")) {
    if (*dimension == 2 || *dimension == 5)
      reader.errorFound("condim", "1, 3, 4 or 6");
    else
      out->contactDimension = static_cast<int>(*dimension);
    if (*dimension >= 4)
      reader.change("condim",
                    "the SAP solver has sliding friction alone, neither torsional nor "
                    "rolling");
  }
  if (const auto group = reader.integer("group", -1000, 1000, "an integer"))
    out->group = static_cast<int>(*group);
  if (const auto priority = reader.integer("priority", -1000, 1000, "an integer"))
    out->priority = static_cast<int>(*priority);
  readSome(reader, "size", kSize, &out->size);
  readSome(reader, "friction", {0, 1000, "a friction coefficient from 0 to 1000"}, &out->friction);
  if (const auto mass = reader.number("mass", {0, 1e150, "a mass of 0 or more [kg]"}))
    out->mass = *mass;
  readInto(reader, "density", {0, 1e12, "a density from 0 to 1e12 [kg/m^3]"}, &out->density);
  if (const auto isShell = reader.boolean("shellinertia")) out->isShell = *isShell;
  if (const auto ends = reader.numbers("fromto", 6, 6, kPosition)) {
    out->fromTo.emplace();
    std::copy(ends->begin(), ends->end(), out->fromTo->begin());
  }
  readMjcfPlacement(reader, compiler, &out->position, &out->rotation);
  out->heightField = reader.string("hfield").value_or(out->heightField);
  out->mesh = reader.string("mesh").value_or(out->mesh);
  readInto(reader, "fitscale", {0, 1e12, "a scale above 0", true}, &out->fitScale);
  // Looks are taken where they can be, and are reported as unread: they move nothing.
  if (const XmlAttribute* material = peekAttribute(reader.element(), "material"))
    out->material = material->value;
  if (const XmlAttribute* color = peekAttribute(reader.element(), "rgba"))
    out->color = readRgba(color->value);
  changeSolver(reader, {"solref", "solimp", "solmix"});
  reader.change("margin", "contacts begin where surfaces touch");
  reader.change("gap", "contacts begin where surfaces touch");
  reader.refuse("surfacevel", "surfaces that move by themselves are not available in this version");
  reader.refuse("adhesion", "adhesion is not available in this version");
  if (const XmlAttribute* shape = reader.find("fluidshape"); shape != nullptr)
    reader.change("fluidshape", "there is no fluid in this version");
  reader.change("fluidcoef", "there is no fluid in this version");
}

void readMjcfSite(XmlReader& reader, const MjcfCompiler& compiler, MjcfSite* out) {
  if (const auto word = reader.word("type", {"sphere", "capsule", "ellipsoid", "cylinder", "box"}))
    out->type = static_cast<MjcfSite::Type>(*word);
  readSome(reader, "size", kSize, &out->size);
  if (const auto ends = reader.numbers("fromto", 6, 6, kPosition)) {
    out->fromTo.emplace();
    std::copy(ends->begin(), ends->end(), out->fromTo->begin());
  }
  readMjcfPlacement(reader, compiler, &out->position, &out->rotation);
}

void readMjcfMesh(XmlReader& reader, MjcfMesh* out) {
  constexpr NumberRule kScale{-1e12, 1e12, "a scale other than 0"};
  if (const auto scale = reader.vec3("scale", kScale)) {
    if (scale->x == 0 || scale->y == 0 || scale->z == 0)
      reader.errorFound("scale", kScale.expected);
    else
      out->scale = *scale;
  }
  if (const auto word = reader.word("inertia", {"convex", "exact", "legacy", "shell"}))
    out->inertia = static_cast<MjcfMesh::Inertia>(*word);
  reader.change("maxhullvert", "all vertices of the hull are kept");
}

void readMjcfPair(XmlReader& reader, MjcfPair* out) {
  if (const auto dimension = reader.integer("condim", 1, 6, "1, 3, 4 or 6, an integer")) {
    if (*dimension == 2 || *dimension == 5)
      reader.errorFound("condim", "1, 3, 4 or 6");
    else
      out->contactDimension = static_cast<int>(*dimension);
  }
  if (reader.has("friction")) {
    std::array<Real, 5> friction =
        out->friction.value_or(std::array<Real, 5>{1, 1, 0.005, 1e-4, 1e-4});
    if (readSome(reader, "friction", {0, 1000, "a friction coefficient from 0 to 1000"},
                 &friction) > 0)
      out->friction = friction;
  }
  changeSolver(reader, {"solref", "solreffriction", "solimp"});
  reader.change("margin", "contacts begin where surfaces touch");
  reader.change("gap", "contacts begin where surfaces touch");
  reader.refuse("adhesion", "adhesion is not available in this version");
}

void readMjcfEquality(XmlReader& reader, MjcfEquality* out) {
  if (const auto isActive = reader.boolean("active")) out->isActive = *isActive;
  changeSolver(reader, {"solref", "solimp"});
}

void readMjcfTendon(XmlReader& reader, MjcfTendon* out) {
  readLimited(reader, "limited", &out->limited);
  readRange(reader, "range", &out->range);
  readInto(reader, "frictionloss", kNotNegative, &out->frictionLoss);
  readCoefficient(reader, "stiffness", &out->stiffness);
  readCoefficient(reader, "damping", &out->damping);
  readInto(reader, "armature", kNotNegative, &out->armature);
  if (const auto lengths =
          reader.numbers("springlength", 1, 2, {-1, 1e150, "a length of 0 or more, or -1 [m]"})) {
    out->springLower = lengths->front();
    out->springUpper = lengths->back();
    if (out->springLower > out->springUpper)
      reader.errorFound("springlength", "the shorter length first");
  }
  reader.refuse("actuatorfrcrange",
                "it is not available in this version; limit the force of the "
                "actuators instead");
  if (reader.has("actuatorfrclimited") && !reader.has("actuatorfrcrange"))
    reader.ignore({"actuatorfrclimited"}, "there is no actuatorfrcrange");
  changeSolver(reader, {"solreflimit", "solimplimit", "solreffriction", "solimpfriction"});
  reader.change("margin", "limits act where they are reached");
}

namespace {

void setPosition(XmlReader& reader, MjcfActuator* out) {
  const bool isIntegrated = reader.element().name == "intvelocity";
  Real kp = out->gain[0];
  readInto(reader, "kp", kNotNegative, &kp);
  out->gain[0] = kp;
  out->bias[1] = -kp;
  if (reader.has("kv") && reader.has("dampratio"))
    reader.error(reader.placeOf("dampratio"), "found kv and dampratio, expected one of them");
  if (const auto kv = reader.number("kv", kNotNegative)) out->bias[2] = -*kv;
  // As in MuJoCo, a positive number is a damping ratio, until the inertia it refers to is known.
  if (const auto ratio = reader.number("dampratio", kNotNegative)) out->bias[2] = *ratio;
  if (const auto time = reader.number("timeconst", kNotNegative)) {
    out->timeConstant = *time;
    out->dynamics = *time > 0 ? Actuator::Dynamics::FilterExact : Actuator::Dynamics::None;
  }
  readInto(reader, "inheritrange", kNotNegative, &out->inheritRange);
  if (out->inheritRange > 0 && (isIntegrated ? out->activationRange : out->controlRange).isSet())
    reader.errorFound("inheritrange", "no range beside it");
  out->isGainAffine = false;
  out->isBiasAffine = true;
  if (isIntegrated) out->dynamics = Actuator::Dynamics::Integrator;
}

void setVelocity(XmlReader& reader, MjcfActuator* out) {
  Real kv = out->gain[0];
  readInto(reader, "kv", kNotNegative, &kv);
  out->gain[0] = kv;
  out->bias = {0, 0, -kv};
  out->dynamics = Actuator::Dynamics::None;
  out->isGainAffine = false;
  out->isBiasAffine = true;
}

void setDamper(XmlReader& reader, MjcfActuator* out) {
  Real kv = out->isGainAffine ? -out->gain[2] : 0;
  readInto(reader, "kv", kNotNegative, &kv);
  out->gain = {0, 0, -kv};
  out->controlLimited = MjcfLimited::True;
  out->dynamics = Actuator::Dynamics::None;
  out->isGainAffine = true;
  out->isBiasAffine = false;
  if (out->controlRange.lower < 0) reader.errorFound("ctrlrange", "controls of 0 or more");
}

void setCylinder(XmlReader& reader, MjcfActuator* out) {
  readInto(reader, "timeconst", kNotNegative, &out->timeConstant);
  readInto(reader, "area", kNotNegative, &out->gain[0]);
  if (const auto diameter = reader.number("diameter", kNotNegative))
    out->gain[0] = kPi / 4 * *diameter * *diameter;
  readSome(reader, "bias", kFinite, &out->bias);
  out->dynamics = Actuator::Dynamics::Filter;
  out->isGainAffine = false;
  out->isBiasAffine = true;
}

/// A list of parameters of which ours has three; more are fine as long as they are zero.
void readParameters(XmlReader& reader, const char* name, std::array<Real, 3>* out) {
  constexpr std::size_t kMaxParameters = 16;
  const auto numbers = reader.numbers(name, 1, kMaxParameters, kFinite);
  if (!numbers) return;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    if (i < 3) {
      (*out)[i] = (*numbers)[i];
    } else if ((*numbers)[i] != 0) {
      reader.errorFound(name, "zeros after the third parameter");
      return;
    }
  }
}

void setGeneral(XmlReader& reader, MjcfActuator* out) {
  const auto refuse = [&](const char* name) {
    out->refused = std::string(name) + " " + io::quoted(reader.find(name)->value);
    out->refusedPlace = reader.placeOf(name);
  };
  if (const auto word = reader.word("dyntype", {"none", "integrator", "filter", "filterexact",
                                                "muscle", "user", "dcmotor", "pid"})) {
    if (*word <= 3)
      out->dynamics = static_cast<Actuator::Dynamics>(*word);
    else
      refuse("dyntype");
  }
  if (const auto word =
          reader.word("gaintype", {"fixed", "affine", "muscle", "user", "dcmotor", "so3", "pid"})) {
    out->isGainAffine = *word == 1;
    if (*word > 1) refuse("gaintype");
  }
  if (const auto word =
          reader.word("biastype", {"none", "affine", "muscle", "user", "dcmotor", "so3"})) {
    out->isBiasAffine = *word == 1;
    if (*word > 1) refuse("biastype");
  }
  std::array<Real, 3> dynamics{out->timeConstant, 0, 0};
  readParameters(reader, "dynprm", &dynamics);
  out->timeConstant = dynamics[0];
  readParameters(reader, "gainprm", &out->gain);
  readParameters(reader, "biasprm", &out->bias);
  if (const auto size = reader.integer("actdim", -1, 1'000'000, "an integer"); size && *size > 1)
    reader.errorFound("actdim", "at most one activation");
  reader.change("actearly", "forces follow the activation at the start of a step");
  for (const char* name : {"input", "velrange", "ffrange"})
    reader.refuse(name, "it is not available in this version");
}

}  // namespace

void readMjcfActuator(XmlReader& reader, MjcfActuator* out) {
  readLimited(reader, "ctrllimited", &out->controlLimited);
  readLimited(reader, "forcelimited", &out->forceLimited);
  readLimited(reader, "actlimited", &out->activationLimited);
  readRange(reader, "ctrlrange", &out->controlRange);
  readRange(reader, "forcerange", &out->forceRange);
  readRange(reader, "actrange", &out->activationRange);
  readSome(reader, "gear", kFinite, &out->gear);
  for (const char* name : {"nsample", "interp", "delay", "damping", "armature"})
    reader.refuse(name, "it is not available for actuators in this version");
  reader.ignore({"lengthrange"}, "it is for muscles");

  const std::string& kind = reader.element().name;
  out->refused.clear();
  if (kind == "motor") {
    out->gain[0] = 1;
    out->dynamics = Actuator::Dynamics::None;
    out->isGainAffine = out->isBiasAffine = false;
  } else if (kind == "position" || kind == "intvelocity") {
    setPosition(reader, out);
  } else if (kind == "velocity") {
    setVelocity(reader, out);
  } else if (kind == "damper") {
    setDamper(reader, out);
  } else if (kind == "cylinder") {
    setCylinder(reader, out);
  } else if (kind == "general") {
    setGeneral(reader, out);
  } else {
    out->refused = "<" + kind + ">";
    out->refusedPlace = reader.place();
    for (const XmlAttribute& attribute : reader.element().attributes) attribute.isRead = true;
  }
}

void MjcfDefaults::read(const XmlElement& element, const MjcfCompiler& compiler,
                        ImportNotes& notes) {
  XmlReader reader(notes, element, "default");
  const std::string name = reader.string("class").value_or("main");
  if (name != "main") {
    reader.errorFound("class", "'main' or no name: the class at the top has it");
    return;
  }
  readClass(element, name, compiler, notes);
}

void MjcfDefaults::readClass(const XmlElement& element, const std::string& name,
                             const MjcfCompiler& compiler, ImportNotes& notes) {
  MjcfClass& out = classes_[name];
  for (const XmlElement& child : element.children) {
    const std::string& kind = child.name;
    if (kind == "default") continue;
    XmlReader reader(notes, child, "default class " + io::quoted(name) + ": " + kind);
    if (kind == "joint") {
      readMjcfJoint(reader, &out.joint);
    } else if (kind == "geom") {
      readMjcfGeom(reader, compiler, &out.geom);
    } else if (kind == "site") {
      readMjcfSite(reader, compiler, &out.site);
    } else if (kind == "mesh") {
      readMjcfMesh(reader, &out.mesh);
    } else if (kind == "pair") {
      readMjcfPair(reader, &out.pair);
    } else if (kind == "equality") {
      readMjcfEquality(reader, &out.equality);
    } else if (kind == "tendon") {
      readMjcfTendon(reader, &out.tendon);
    } else if (kind == "material" || kind == "camera" || kind == "light") {
      child.isRead = false;  // reported as a whole
    } else {
      readMjcfActuator(reader, &out.actuator);
    }
  }
  for (const XmlElement& child : element.children) {
    if (child.name != "default") continue;
    XmlReader reader(notes, child, "default");
    const std::string childName = reader.string("class").value_or("");
    if (childName.empty()) {
      reader.error(reader.place(), "class is missing, expected a name for a class inside another");
      continue;
    }
    const auto [made, isNew] = classes_.emplace(childName, classes_.at(name));
    if (!isNew) {
      reader.errorFound("class", "a name that no other class has");
      continue;
    }
    readClass(child, childName, compiler, notes);
  }
}

const MjcfClass* MjcfDefaults::find(const std::string& name) const {
  const auto found = classes_.find(name);
  return found != classes_.end() ? &found->second : nullptr;
}

std::vector<std::string> MjcfDefaults::names() const {
  std::vector<std::string> out;
  out.reserve(classes_.size());
  for (const auto& [name, settings] : classes_) out.push_back(name);
  return out;
}

}  // namespace tangere::io
