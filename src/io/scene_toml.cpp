// SPDX-License-Identifier: Apache-2.0
//
// The native scene: [simulation], [material.NAME], [[pair]], [[body]], [[soft]], [[model]],
// [[control]], [[exclude]].
// docs/scene_file.md lists every key.
#include <tangere/error.hpp>
#include <tangere/published_materials.hpp>
#include <tangere/scene.hpp>
#include <tangere/simulator.hpp>

#include "io/contact_law.hpp"
#include "io/import_notes.hpp"
#include "io/scene_bodies.hpp"
#include "io/scene_models.hpp"
#include "io/scene_softs.hpp"
#include "io/table_reader.hpp"
#include "io/text.hpp"
#include "io/toml_document.hpp"

#include <limits>
#include <map>
#include <set>

namespace tangere {

namespace {

using io::describe;
using io::ImportNotes;
using io::NumberRule;
using io::Place;
using io::TableReader;
using io::Value;

constexpr Real kLargest = 1e15;
constexpr NumberRule kTimeStep{0, 1, "a time step above 0 and at most 1 [s]", true};
constexpr NumberRule kGravity{-1e6, 1e6, "an acceleration within 1e6 [m/s^2]"};
constexpr NumberRule kSpeed{0, kLargest, "a speed of 0 or more [m/s]"};
constexpr NumberRule kPositiveSpeed{0, kLargest, "a speed above 0 [m/s]", true};
constexpr NumberRule kDistance{0, kLargest, "a length of 0 or more [m]"};
constexpr NumberRule kFraction{0, 1, "a number from 0 to 1"};
constexpr NumberRule kCosine{-1, 1, "a cosine from -1 to 1"};
constexpr NumberRule kTolerance{0, 1, "a tolerance above 0 and at most 1 [m/s]", true};
constexpr NumberRule kDuration{0, kLargest, "a duration of 0 or more [s]"};
constexpr NumberRule kDensity{0, 1e12, "a density above 0 and at most 1e12 [kg/m^3]", true};
constexpr NumberRule kFriction{0, 1000, "a friction coefficient from 0 to 1000"};
constexpr NumberRule kRestitution{0, 1, "a coefficient of restitution from 0 to 1"};
constexpr NumberRule kStiffness{0, 1e150, "a stiffness above 0 [N/m]", true};
constexpr NumberRule kTime{0, 1e6, "a time of 0 or more [s]"};
constexpr NumberRule kDissipation{0, 1e6, "a dissipation of 0 or more [s/m]"};
constexpr NumberRule kArm{0, 1e6, "a length from 0 to 1e6 [m]"};
constexpr NumberRule kRollingResistance{0, 1000, "a number from 0 to 1000"};
constexpr NumberRule kPositiveSpin{0, kLargest, "a speed above 0 [rad/s]", true};

class SceneReader {
 public:
  SceneReader(std::string_view text, const std::filesystem::path& folder, std::string_view name,
              const SceneLimits& limits)
      : text_(text), folder_(folder), name_(name), limits_(limits), notes_(name_) {}

  Scene read();

 private:
  void requireText();
  void saySplitMeshes(const Model& model);
  void readDocument(const Value& document);
  void readSimulation(const Value& value);
  void readImpulse(const Value& value);
  void readSap(const Value& value);
  void readEvent(const Value& value);
  void readLimits(TableReader& simulation, const Value& value);
  void readCache(const Value& value);
  void readSleep(const Value& value);
  void readMaterials(const Value& value);
  void readMaterial(const std::string& name, const Value& value);
  void addPublishedMaterials(const Value& document);
  void addPublishedPairs();
  void completePair(MaterialPair* pair) const;
  void readPairs(const Value& value);
  void readExcluded(const Value& value, const std::map<std::string, Place>& bodies,
                    const std::map<std::string, Place>& softs);
  void readControls(const Value& value);

  std::string_view text_;
  const std::filesystem::path& folder_;
  std::string name_;
  const SceneLimits& limits_;
  ImportNotes notes_;
  ModelBuilder builder_;
  SimulationOptions options_;
  Place gravity_place_{};
  std::map<std::string, Material> materials_{{"default", Material{.name = "default"}}};
  std::set<std::string> published_;  ///< materials that the scene uses and does not define
  std::map<std::pair<std::string, std::string>, Place> pairs_;
  std::vector<VisualShape> visuals_;
  io::NamedPlaces places_;  ///< of what the model may be refused for
  std::map<std::string, Place> soft_places_;
  std::map<std::string, std::size_t> given_vertices_;  ///< of the meshes of soft bodies
};

Scene SceneReader::read() {
  requireText();
  Value document;
  try {
    document = io::parseToml(text_);
  } catch (const io::TomlError& error) {
    notes_.error(error.place(), error.what());
    notes_.throwIfErrors();
  }
  readDocument(document);
  document = {};  // a model of a million bodies needs the memory
  try {
    Model model = builder_.build();
    requireSimulatable(model);
    saySplitMeshes(model);
    notes_.noteStarts(model, places_);
    return {std::move(model), notes_.report(), std::filesystem::path(name_).stem().string(),
            std::move(visuals_)};
  } catch (const InvalidInput& error) {
    notes_.errorOfModel(places_, error.what());
  }
  notes_.throwIfErrors();
  throw InvalidInput(name_);  // not reached: there is an error
}

/// Everything that is in the document, into the builder. Throws SceneError.
void SceneReader::readDocument(const Value& document) {
  TableReader root(notes_, document, "");
  // Robots and soft bodies need the SAP solver; a scene with one need not say so.
  if (root.has("model") || root.has("soft")) {
    options_.solver = SolverType::Sap;
    builder_.setOptions(options_);
  }
  if (const Value* simulation = root.find("simulation")) readSimulation(*simulation);
  if (const Value* materials = root.find("material")) readMaterials(*materials);
  addPublishedMaterials(document);
  if (const Value* pairs = root.find("pair")) readPairs(*pairs);
  addPublishedPairs();
  io::SceneBodies bodies(materials_, folder_, limits_, notes_, builder_);
  if (const Value* list = root.find("body")) bodies.read(*list);
  if (const Value* models = root.find("model")) {
    io::SceneModels robots(materials_, folder_, limits_, notes_, builder_, bodies);
    robots.read(*models);
    visuals_ = robots.takeVisuals();
    places_ = robots.takePlaces();
  }
  io::SceneSofts softs(notes_, builder_, bodies);
  if (const Value* list = root.find("soft")) softs.read(*list);
  if (const Value* excluded = root.find("exclude"))
    readExcluded(*excluded, bodies.places(), softs.places());
  if (const Value* controls = root.find("control")) readControls(*controls);
  root.finish();
  if (!notes_.hasErrors() && bodies.places().empty() && softs.isEmpty())
    notes_.error({},
                 "no scene: found no body, expected at least one [[body]], [[soft]] or [[model]]");
  notes_.throwIfErrors();
  bodies.warnAboutSizes(options_.gravity, gravity_place_);
  bodies.summarize();
  softs.summarize();
  soft_places_ = softs.places();
  // A model of a million bodies needs the memory.
  constexpr std::size_t kMostPlaces = 10'000;
  if (bodies.places().size() <= kMostPlaces)
    for (const auto& [name, place] : bodies.places()) places_.emplace("body " + name, place);
  for (const auto& [name, place] : soft_places_) places_.emplace("soft " + name, place);
  given_vertices_ = softs.numVertices();
}

/// The pressure inside needs a vertex off the surface in every tetrahedron.
void SceneReader::saySplitMeshes(const Model& model) {
  for (const auto& [name, given] : given_vertices_) {
    const std::size_t made = model.softMesh(model.findSoftBody(name)).vertices().size();
    if (made == given) continue;
    notes_.add(ImportNote::Kind::Changed, soft_places_.at(name),
               "soft " + io::quoted(name) + ": " + std::to_string(given) + " vertices became " +
                   std::to_string(made) +
                   ": tetrahedra in which the pressure would be even, with all corners on the "
                   "surface, are split in four");
  }
}

/// Throws SceneError unless the bytes are UTF-8 text with something in it.
void SceneReader::requireText() {
  const auto beginsWith = [&](std::string_view prefix) {
    return text_.substr(0, prefix.size()) == prefix;
  };
  if (text_.size() > limits_.maxBytes) {
    notes_.limit({}, "found " + std::to_string(text_.size()) + " bytes, the limit is " +
                         std::to_string(limits_.maxBytes));
  } else if (beginsWith("\xff\xfe") || beginsWith("\xfe\xff")) {
    notes_.error({1, 1}, "found UTF-16 (a byte order mark at byte 0), expected UTF-8");
  } else if (const std::size_t at = io::findInvalidUtf8(text_); at != std::string_view::npos) {
    notes_.error(io::placeOfByte(text_, at),
                 std::string(text_[at] == '\0' ? "found a NUL byte" : "found a byte not of UTF-8") +
                     " at byte " + std::to_string(at) + ", expected UTF-8 text");
  } else {
    const std::string_view content = text_.substr(beginsWith("\xef\xbb\xbf") ? 3 : 0);
    if (content.find_first_not_of(" \t\r\n") == std::string_view::npos)
      notes_.error({}, "no scene: the file is empty");
  }
  notes_.throwIfErrors();
}

void SceneReader::readSimulation(const Value& value) {
  const std::size_t numErrors = notes_.numErrors();
  TableReader table(notes_, value, "simulation");
  options_.dt = table.number("dt", kTimeStep).value_or(options_.dt);
  constexpr Real kLongStep = 0.1;
  if (options_.dt > kLongStep)
    notes_.warning(table.placeOf("dt"),
                   "simulation: dt of more than 0.1 s is too long for contacts");
  options_.gravity = table.vec3("gravity", kGravity).value_or(options_.gravity);
  gravity_place_ = table.placeOf("gravity");
  if (const auto word = table.word("solver", {"impulse", "sap", "event"})) {
    options_.solver = static_cast<SolverType>(*word);
  }
  constexpr NumberRule kAccuracy{0, 1, "a number from 0 to 1 [m, rad]"};
  options_.accuracy = table.number("accuracy", kAccuracy).value_or(options_.accuracy);
  if (const auto word = table.word("joint_step", {"midpoint", "backward_euler"}))
    options_.jointStep = static_cast<JointStep>(*word);
  options_.excludeStartOverlaps =
      table.boolean("exclude_start_overlaps").value_or(options_.excludeStartOverlaps);
  options_.restitutionThreshold =
      table.number("restitution_threshold", kSpeed).value_or(options_.restitutionThreshold);
  options_.maxImpactsPerStep =
      static_cast<int>(table.integer("max_impacts_per_step", 0, 100'000'000, "an integer")
                           .value_or(options_.maxImpactsPerStep));
  if (const Value* impulse = table.find("impulse")) readImpulse(*impulse);
  if (const Value* sap = table.find("sap")) readSap(*sap);
  if (const Value* event = table.find("event")) readEvent(*event);
  if (const Value* limits = table.find("max_contacts")) readLimits(table, *limits);
  if (const Value* cache = table.find("cache")) readCache(*cache);
  if (const Value* sleep = table.find("sleep")) readSleep(*sleep);
  table.finish();
  if (notes_.numErrors() > numErrors) return;
  try {
    builder_.setOptions(options_);
  } catch (const InvalidInput& error) {
    table.error(value.place, error.what());
  }
}

void SceneReader::readImpulse(const Value& value) {
  TableReader table(notes_, value, "simulation.impulse");
  ImpulseOptions& out = options_.impulse;
  const auto integer = [&](const char* key, int lower, int upper, int fallback) {
    return static_cast<int>(table.integer(key, lower, upper, "an integer").value_or(fallback));
  };
  out.maxExactPoints = integer("max_exact_points", 0, 1000, out.maxExactPoints);
  out.numSubsteps = integer("num_substeps", 1, 10'000, out.numSubsteps);
  out.numSweeps = integer("num_sweeps", 1, 1'000'000, out.numSweeps);
  out.numProjections = integer("num_projections", 0, 1000, out.numProjections);
  out.numProjectionSteps = integer("num_projection_steps", 1, 100'000, out.numProjectionSteps);
  out.numCorrectionSweeps = integer("num_correction_sweeps", 1, 1'000'000, out.numCorrectionSweeps);
  out.tolerance = table.number("tolerance", kTolerance).value_or(out.tolerance);
  if (const auto word = table.word("correction", {"split_impulse", "baumgarte", "none"})) {
    constexpr PositionCorrection kWays[] = {
        PositionCorrection::SplitImpulse, PositionCorrection::Baumgarte, PositionCorrection::None};
    out.correction = kWays[*word];
  }
  out.correctionRate = table.number("correction_rate", kFraction).value_or(out.correctionRate);
  out.slop = table.number("slop", kDistance).value_or(out.slop);
  out.maxCorrectionSpeed =
      table.number("max_correction_speed", kPositiveSpeed).value_or(out.maxCorrectionSpeed);
  table.finish();
}

void SceneReader::readSap(const Value& value) {
  TableReader table(notes_, value, "simulation.sap");
  SapOptions& out = options_.sap;
  const auto integer = [&](const char* key, int fallback) {
    return static_cast<int>(table.integer(key, 1, 1'000'000, "an integer").value_or(fallback));
  };
  const auto number = [&](const char* key, const NumberRule& rule, Real fallback) {
    return table.number(key, rule).value_or(fallback);
  };
  constexpr NumberRule kPart{0, 1, "a number above 0 and at most 1", true};
  constexpr NumberRule kFactor{0, 1e6, "a number above 0 and at most 1e6", true};
  constexpr NumberRule kGrowth{0, 1e6, "a number from 0 to 1e6"};
  constexpr NumberRule kSoftness{0, kLargest, "an impulse of 0 or more [N s]"};
  out.maxIterations = integer("max_iterations", out.maxIterations);
  out.absoluteTolerance = number("absolute_tolerance", kPart, out.absoluteTolerance);
  out.relativeTolerance = number("relative_tolerance", kPart, out.relativeTolerance);
  out.toleranceGrowth = number("tolerance_growth", kGrowth, out.toleranceGrowth);
  out.maxLineSearchEvaluations =
      integer("max_line_search_evaluations", out.maxLineSearchEvaluations);
  out.lineSearchTolerance = number("line_search_tolerance", kPart, out.lineSearchTolerance);
  out.maxStep = number("max_step", kFactor, out.maxStep);
  out.nearRigid = number("near_rigid", kFactor, out.nearRigid);
  out.nearRigidBilateral = number("near_rigid_bilateral", kFactor, out.nearRigidBilateral);
  out.frictionRegularization =
      number("friction_regularization", kFactor, out.frictionRegularization);
  out.slipSpeed = number("slip_speed", kPart, out.slipSpeed);
  out.frictionSoftness = number("friction_softness", kSoftness, out.frictionSoftness);
  if (const auto word = table.word("guess", {"velocity", "impulse", "best"}))
    out.guess = static_cast<SapGuess>(*word);
  if (const auto word = table.word("contact", {"linear", "hunt_crossley"}))
    out.contact = static_cast<SapContactModel>(*word);
  if (const auto word = table.word("friction", {"coulomb", "cone"}))
    out.friction = static_cast<SapFriction>(*word);
  out.frictionTolerance = number("friction_tolerance", kPart, out.frictionTolerance);
  out.maxFrictionUpdates = integer("max_friction_updates", out.maxFrictionUpdates);
  if (const auto word = table.word("linear_solver", {"auto", "cholesky", "conjugate_gradients"}))
    out.linearSolver = static_cast<SapLinearSolver>(*word);
  const Value* const soft = table.find("soft_preconditioner");
  if (soft != nullptr && soft->string() != nullptr && *soft->string() == "cholesky") {
    table.error(
        soft->place,
        "simulation.sap: 'soft_preconditioner': \"cholesky\" is gone, whose factor filled in "
        "(21 s a step at 10,000 vertices): take \"auto\" or \"two_level\"");
  } else if (const auto word =
                 table.word("soft_preconditioner",
                            {"auto", "block_jacobi", "incomplete_cholesky", "two_level"})) {
    out.softPreconditioner = static_cast<SoftPreconditioner>(*word);
  }
  out.maxPcgIterations = integer("max_pcg_iterations", out.maxPcgIterations);
  out.pcgTolerance = number("pcg_tolerance", kPart, out.pcgTolerance);
  table.finish();
}

void SceneReader::readEvent(const Value& value) {
  TableReader table(notes_, value, "simulation.event");
  EventOptions& out = options_.event;
  const auto number = [&](const char* key, const NumberRule& rule, Real fallback) {
    return table.number(key, rule).value_or(fallback);
  };
  constexpr NumberRule kRelative{1e-14, 0.1, "a number from 1e-14 to 0.1"};
  constexpr NumberRule kAbsolute{0, 1, "a number above 0 and at most 1 [m, rad]", true};
  constexpr NumberRule kDamping{0, kLargest, "a damping above 0 [s/m]", true};
  constexpr NumberRule kPart{0, 1, "a number above 0 and at most 1", true};
  constexpr NumberRule kPeriod{1e-9, 10, "a period from 1e-9 to 10 [s]"};
  constexpr NumberRule kMemory{0, kLargest, "a number of bytes above 0", true};
  if (const auto word = table.word("method", {"bdf", "adams"}))
    out.method = static_cast<EventMethod>(*word);
  out.relativeTolerance = number("relative_tolerance", kRelative, out.relativeTolerance);
  out.absoluteTolerance = number("absolute_tolerance", kAbsolute, out.absoluteTolerance);
  out.maxStep = number("max_step", kDuration, out.maxStep);
  if (const auto word = table.word("policy", {"penetrating", "touching"}))
    out.policy = static_cast<EventPolicy>(*word);
  if (const auto word = table.word("damping", {"exact", "flores"}))
    out.damping = static_cast<RestitutionDamping>(*word);
  out.maxDamping = number("max_damping", kDamping, out.maxDamping);
  out.stiffnessReduction = number("stiffness_reduction", kPart, out.stiffnessReduction);
  out.smallSpeed = number("small_speed", kPositiveSpeed, out.smallSpeed);
  out.smallSpin = number("small_spin", kPositiveSpin, out.smallSpin);
  out.restPeriod = number("rest_period", kPeriod, out.restPeriod);
  out.impactSpeed = number("impact_speed", kSpeed, out.impactSpeed);
  out.slipSpeed = number("slip_speed", kPositiveSpeed, out.slipSpeed);
  out.maxCorrectionSpeed = number("max_correction_speed", kPositiveSpeed, out.maxCorrectionSpeed);
  out.maxSteps = static_cast<int>(table
                                      .integer("max_steps", 1, std::numeric_limits<int>::max(),
                                               "a number of steps of 1 or more")
                                      .value_or(out.maxSteps));
  out.maxMemory = number("max_memory", kMemory, out.maxMemory);
  table.finish();
}

/// max_contacts = 10000, or { soft_rigid = 5000, all = 10000 }.
void SceneReader::readLimits(TableReader& simulation, const Value& value) {
  constexpr int kMost = std::numeric_limits<int>::max();
  constexpr const char* kMeaning = "a number of contacts of 0 or more";
  ContactLimits& out = options_.limits;
  if (value.table() == nullptr) {
    out.all =
        static_cast<int>(simulation.integer("max_contacts", 0, kMost, kMeaning).value_or(out.all));
    return;
  }
  TableReader table(notes_, value, "simulation.max_contacts");
  const auto read = [&](const char* key, int* limit) {
    *limit = static_cast<int>(table.integer(key, 0, kMost, kMeaning).value_or(*limit));
  };
  for (int kind = 0; kind < kNumContactKinds; ++kind)
    read(contactKindName(static_cast<ContactKind>(kind)), &out.ofKind[kind]);
  read("all", &out.all);
  table.finish();
}

void SceneReader::readCache(const Value& value) {
  TableReader table(notes_, value, "simulation.cache");
  ContactPatchCacheOptions& out = options_.patchCache;
  const auto integer = [&](const char* key, int upper, int fallback) {
    return static_cast<int>(table.integer(key, 0, upper, "an integer").value_or(fallback));
  };
  out.enabled = table.boolean("enabled").value_or(out.enabled);
  out.maxPointsPerPair = integer("max_points_per_pair", 4, out.maxPointsPerPair);
  out.maxPairs = integer("max_pairs", std::numeric_limits<int>::max(), out.maxPairs);
  out.maxSeparationFrames = integer("max_separation_frames", 65'535, out.maxSeparationFrames);
  out.positionThreshold =
      table.number("position_threshold", kDistance).value_or(out.positionThreshold);
  out.normalThreshold = table.number("normal_threshold", kCosine).value_or(out.normalThreshold);
  out.depthEpsilon = table.number("depth_epsilon", kDistance).value_or(out.depthEpsilon);
  out.separationThreshold =
      table.number("separation_threshold", kDistance).value_or(out.separationThreshold);
  out.warmStartRadius = table.number("warm_start_radius", kDistance).value_or(out.warmStartRadius);
  out.allowNegativeDepth = table.boolean("allow_negative_depth").value_or(out.allowNegativeDepth);
  table.finish();
}

void SceneReader::readSleep(const Value& value) {
  TableReader table(notes_, value, "simulation.sleep");
  SleepOptions& out = options_.sleep;
  out.enabled = table.boolean("enabled").value_or(out.enabled);
  out.linearSpeed = table.number("linear_speed", kSpeed).value_or(out.linearSpeed);
  out.angularSpeed = table.number("angular_speed", {0, kLargest, "a speed of 0 or more [rad/s]"})
                         .value_or(out.angularSpeed);
  out.duration = table.number("duration", kDuration).value_or(out.duration);
  table.finish();
}

void SceneReader::readMaterials(const Value& value) {
  if (value.table() == nullptr) {
    notes_.error(value.place,
                 "material: found " + describe(value) + ", expected tables headed [material.NAME]");
    return;
  }
  constexpr std::size_t kMaxMaterials = 1000;  // every pair of them has an entry in the model
  if (value.table()->size() > kMaxMaterials) {
    notes_.limit(value.place, "found " + std::to_string(value.table()->size()) +
                                  " materials, the limit is " + std::to_string(kMaxMaterials));
    return;
  }
  for (const io::Member& member : *value.table()) readMaterial(member.key, member.value);
}

void SceneReader::readMaterial(const std::string& name, const Value& value) {
  const std::size_t numErrors = notes_.numErrors();
  TableReader table(notes_, value, "material " + io::quoted(name));
  Material out{.name = name};
  out.density = table.number("density", kDensity).value_or(out.density);
  out.friction = table.number("friction", kFriction).value_or(out.friction);
  out.restitution = table.number("restitution", kRestitution).value_or(out.restitution);
  out.torsionalFriction = table.number("torsional_friction", kArm).value_or(out.torsionalFriction);
  out.rollingFriction = table.number("rolling_friction", kArm).value_or(out.rollingFriction);
  (void)io::readContactLaw(table, &out);
  table.finish();
  if (name.empty()) table.error(value.place, "found the name '', expected a name");
  materials_[name] = out;  // also after an error: references to it are not wrong
  if (notes_.numErrors() > numErrors) return;
  try {
    builder_.addMaterial(out);
  } catch (const InvalidInput& error) {
    table.error(value.place, error.what());
  }
}

namespace {

/// The names that a document gives to `material` and `materials`, wherever.
void collectMaterialNames(const Value& value, std::set<std::string>* names) {
  if (const Value::Array* items = value.array()) {
    for (const Value& item : *items) collectMaterialNames(item, names);
  }
  if (value.table() == nullptr) return;
  for (const io::Member& member : *value.table()) {
    const bool isName = member.key == "material" || member.key == "materials";
    if (isName && member.value.string() != nullptr) names->insert(*member.value.string());
    if (isName && member.value.array() != nullptr) {
      for (const Value& item : *member.value.array()) {
        if (item.string() != nullptr) names->insert(*item.string());
      }
    }
    collectMaterialNames(member.value, names);
  }
}

}  // namespace

/// Published materials are known by name unless the scene has its own of that name; the model gets
/// those that it uses.
void SceneReader::addPublishedMaterials(const Value& document) {
  std::set<std::string> named;
  collectMaterialNames(document, &named);
  for (const Material& material : publishedMaterials()) {
    if (named.count(material.name) == 0) continue;
    if (!materials_.emplace(material.name, material).second) continue;
    published_.insert(material.name);
    builder_.addMaterial(material);
  }
}

void SceneReader::addPublishedPairs() {
  for (const MaterialPair& pair : publishedPairs()) {
    if (published_.count(pair.material1) == 0 || published_.count(pair.material2) == 0) continue;
    if (pairs_.count({pair.material1, pair.material2}) == 0) builder_.addPair(pair);
  }
}

/// What a scene does not say of a pair of published materials stays as published.
void SceneReader::completePair(MaterialPair* pair) const {
  if (published_.count(pair->material1) == 0 || published_.count(pair->material2) == 0) return;
  const MaterialPair* const known = findPublishedPair(pair->material1, pair->material2);
  if (known == nullptr) return;
  if (!pair->friction) pair->friction = known->friction;
  if (!pair->restitution) pair->restitution = known->restitution;
  if (!pair->rollingResistance) pair->rollingResistance = known->rollingResistance;
}

void SceneReader::readPairs(const Value& value) {
  const Value::Array* items = value.array();
  if (items == nullptr) {
    notes_.error(value.place,
                 "pair: found " + describe(value) + ", expected tables headed [[pair]]");
    return;
  }
  for (const Value& item : *items) {
    const std::size_t numErrors = notes_.numErrors();
    TableReader table(notes_, item, "pair");
    if (item.table() == nullptr) continue;
    MaterialPair out;
    const auto names = table.strings("materials", 2);
    out.friction = table.number("friction", kFriction);
    out.restitution = table.number("restitution", kRestitution);
    out.torsionalFriction = table.number("torsional_friction", kArm);
    out.rollingFriction = table.number("rolling_friction", kArm);
    out.stiffness = table.number("stiffness", kStiffness);
    out.relaxationTime = table.number("relaxation_time", kTime);
    out.dissipation = table.number("dissipation", kDissipation);
    out.rollingResistance = table.number("rolling_resistance", kRollingResistance);
    out.smallSpeed = table.number("small_speed", kPositiveSpeed);
    out.smallSpin = table.number("small_spin", kPositiveSpin);
    table.finish();
    if (!table.has("materials"))
      table.error(item.place, "materials is missing, expected the names of two materials");
    if (!names) continue;
    for (const std::string& name : *names) {
      if (materials_.count(name) > 0) continue;
      table.error(table.placeOf("materials"), "found the material " + io::quoted(name) +
                                                  ", expected one that exists" +
                                                  io::materialCandidates(name, materials_));
    }
    if (notes_.numErrors() > numErrors) continue;
    out.material1 = std::min((*names)[0], (*names)[1]);
    out.material2 = std::max((*names)[0], (*names)[1]);
    const auto [other, isNew] =
        pairs_.emplace(std::pair(out.material1, out.material2), table.placeOf("materials"));
    if (!isNew) {
      table.error(table.placeOf("materials"),
                  "found " + io::quoted(out.material1) + " and " + io::quoted(out.material2) +
                      " twice, expected them at " + std::to_string(other->second.line) + ":" +
                      std::to_string(other->second.column) + " alone");
      continue;
    }
    completePair(&out);
    try {
      builder_.addPair(out);
    } catch (const InvalidInput& error) {
      table.error(item.place, error.what());
    }
  }
}

/// [[control]] actuator = "arm/elbow", time = [0, 1], value = [0, 0.5]: what an actuator is told.
void SceneReader::readControls(const Value& value) {
  const Value::Array* items = value.array();
  if (items == nullptr) {
    notes_.error(value.place,
                 "control: found " + describe(value) + ", expected tables headed [[control]]");
    return;
  }
  constexpr NumberRule kFinite{-1e15, 1e15, "a finite number"};
  for (const Value& item : *items) {
    const std::size_t numErrors = notes_.numErrors();
    TableReader table(notes_, item, "control");
    if (item.table() == nullptr) continue;
    ControlSchedule out{.actuator = table.string("actuator").value_or("")};
    if (!table.has("actuator"))
      table.error(item.place, "actuator is missing, expected the name of an actuator");
    const auto readList = [&](const char* key) {
      const Value* const list = table.find(key);
      const std::size_t count =
          list != nullptr && list->array() != nullptr ? list->array()->size() : 1;
      if (list == nullptr) table.error(item.place, std::string(key) + " is missing");
      return table.numbers(key, count, kFinite).value_or(std::vector<Real>{});
    };
    out.times = readList("time");
    out.values = readList("value");
    table.finish();
    if (notes_.numErrors() > numErrors) continue;
    try {
      builder_.addSchedule(out);
    } catch (const InvalidInput& error) {
      table.error(item.place, error.what());
    }
  }
}

void SceneReader::readExcluded(const Value& value, const std::map<std::string, Place>& bodies,
                               const std::map<std::string, Place>& softs) {
  const Value::Array* items = value.array();
  if (items == nullptr) {
    notes_.error(value.place,
                 "exclude: found " + describe(value) + ", expected tables headed [[exclude]]");
    return;
  }
  // Near names cost as much as there are bodies: only for a scene and mistakes a person made.
  constexpr std::size_t kMaxKnown = 10'000;
  constexpr int kMaxSearches = 20;
  int searches = 0;
  std::vector<std::string> known;
  for (const std::map<std::string, Place>* names : {&bodies, &softs}) {
    for (auto body = names->begin(); body != names->end() && known.size() < kMaxKnown; ++body)
      known.push_back(body->first);
  }
  for (const Value& item : *items) {
    const std::size_t numErrors = notes_.numErrors();
    TableReader table(notes_, item, "exclude");
    if (item.table() == nullptr) continue;
    const auto names = table.strings("bodies", 2);
    table.finish();
    if (!table.has("bodies"))
      table.error(item.place, "bodies is missing, expected the names of two bodies");
    if (!names) continue;
    for (const std::string& name : *names) {
      if (bodies.count(name) > 0 || softs.count(name) > 0) continue;
      table.error(table.placeOf("bodies"),
                  "found the body " + io::quoted(name) + ", expected one that exists" +
                      (++searches <= kMaxSearches ? io::candidates(name.substr(0, 64), known)
                                                  : std::string()));
    }
    if (notes_.numErrors() > numErrors) continue;
    try {
      builder_.excludePair((*names)[0], (*names)[1]);
    } catch (const InvalidInput& error) {
      table.error(table.placeOf("bodies"), error.what());
    }
  }
}

}  // namespace

Scene readSceneToml(std::string_view text, const std::filesystem::path& folder,
                    std::string_view name, const SceneLimits& limits) {
  return SceneReader(text, folder, name, limits).read();
}

}  // namespace tangere
