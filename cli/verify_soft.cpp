// SPDX-License-Identifier: Apache-2.0
#include "verify_soft.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846;

double positive(const Json& parameters, const char* name) {
  const double value = number(parameters, name);
  if (!(value > 0)) throw InvalidInput(join("parameter '", name, "' must be above 0"));
  return value;
}

SimulationOptions softOptions(double dt, const Vec3& gravity) {
  SimulationOptions options = accurateOptions({.dt = dt, .solver = SolverType::Sap}, gravity);
  options.sap.relativeTolerance = 1e-13;
  options.sap.nearRigidBilateral = 1e-3;
  return options;
}

/// A box of cells from the origin to the corner `size`. Each is cut into the twelve pyramids over
/// the halves of its faces with their tips in its middle: in bending these lock far less than the
/// same number of tetrahedra around a diagonal do.
struct Grid {
  Vec3 size;
  std::array<int, 3> count;

  [[nodiscard]] int vertexAt(int i, int j, int k) const {
    return (k * (count[1] + 1) + j) * (count[0] + 1) + i;
  }
  [[nodiscard]] std::shared_ptr<const TetMesh> mesh() const {
    std::vector<Vec3> vertices;
    for (int k = 0; k <= count[2]; ++k) {
      for (int j = 0; j <= count[1]; ++j) {
        for (int i = 0; i <= count[0]; ++i) vertices.push_back(place(i, j, k));
      }
    }
    std::vector<Tet> tets;
    for (int k = 0; k < count[2]; ++k) {
      for (int j = 0; j < count[1]; ++j) {
        for (int i = 0; i < count[0]; ++i) {
          addCell({i, j, k}, static_cast<int>(vertices.size()), &tets);
          vertices.push_back(place(i + 0.5, j + 0.5, k + 0.5));
        }
      }
    }
    return std::make_shared<TetMesh>(std::move(vertices), std::move(tets));
  }

 private:
  [[nodiscard]] Vec3 place(double i, double j, double k) const {
    return {size.x * i / count[0], size.y * j / count[1], size.z * k / count[2]};
  }
  void addCell(const std::array<int, 3>& at, int middle, std::vector<Tet>* tets) const {
    for (int axis = 0; axis < 3; ++axis) {
      for (int side = 0; side < 2; ++side) {
        const auto corner = [&](int u, int v) {
          std::array<int, 3> c = at;
          c[axis] += side;
          c[(axis + 1) % 3] += u;
          c[(axis + 2) % 3] += v;
          return vertexAt(c[0], c[1], c[2]);
        };
        tets->push_back({corner(0, 0), corner(1, 0), corner(1, 1), middle});
        tets->push_back({corner(0, 0), corner(1, 1), corner(0, 1), middle});
      }
    }
  }
};

/// Rate of an oscillation about zero, from the first zero to the last.
double rateOf(const std::vector<double>& value, double dt) {
  std::vector<double> zeros;
  for (std::size_t k = 1; k < value.size(); ++k) {
    const double a = value[k - 1], b = value[k];
    if ((a > 0) != (b > 0)) zeros.push_back((static_cast<double>(k - 1) + a / (a - b)) * dt);
  }
  if (zeros.size() < 2) throw InvalidInput("the parameters make no oscillation");
  return kPi * static_cast<double>(zeros.size() - 1) / (zeros.back() - zeros.front());
}

/// A body that can only slide along the axes, for a vertex to hang on.
Body guide(const std::string& name, const Vec3& at, const std::vector<Vec3>& axes, double mass) {
  Body body{.name = name};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    body.joints.push_back(
        {.name = name + "_" + std::to_string(i), .type = JointType::Prismatic, .axis = axes[i]});
  }
  body.pose.translation = at;
  body.massProperties = MassProperties{
      .mass = mass, .inertia = {{{mass, 0, 0}, {0, mass, 0}, {0, 0, mass}}}};  // never turns
  body.gravityScale = 0;
  return body;
}

/// The value at zero of the polynomial through the points (x, y).
double extrapolate(const std::vector<std::pair<double, double>>& points) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double weight = 1;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (j != i) weight *= points[j].first / (points[j].first - points[i].first);
    }
    sum += weight * points[i].second;
  }
  return sum;
}

// --- elastic laws --------------------------------------------------------------------------------

double determinant(const Mat3& m) { return dot(cross(m.col[0], m.col[1]), m.col[2]); }

/// det(m) m^-T.
Mat3 cofactor(const Mat3& m) {
  return {{cross(m.col[1], m.col[2]), cross(m.col[2], m.col[0]), cross(m.col[0], m.col[1])}};
}

Mat3 gradientOf(const Json& parameters) {
  Mat3 F{};
  const Json rows = parameters.value("F", Json::array());
  if (!rows.is_array() || rows.size() != 3) throw InvalidInput("parameter 'F' must be 3 x 3");
  for (int i = 0; i < 3; ++i) {
    if (!rows[i].is_array() || rows[i].size() != 3)
      throw InvalidInput("parameter 'F' must be 3 x 3");
    for (int j = 0; j < 3; ++j) {
      if (!rows[i][j].is_number()) throw InvalidInput("parameter 'F' must be of numbers");
      F(i, j) = rows[i][j].get<double>();
    }
  }
  if (!(determinant(F) > 0)) throw InvalidInput("parameter 'F' must have a positive determinant");
  return F;
}

struct PatchResult {
  std::vector<double> stress;  ///< first Piola, row major
  double energy = 0;           ///< of a volume
};

/// A ball whose surface is held at F X; what is inside must stay there by itself.
PatchResult patch(const Elasticity& elasticity, const Mat3& F) {
  ModelBuilder builder;
  builder.setOptions(softOptions(0.01, {}));
  SoftBody soft{.name = "patch"};
  soft.mesh = std::make_shared<TetMesh>(meshShape(Sphere(0.5), {.resolution = 0.2}));
  soft.elasticity = elasticity;
  soft.selfContact = false;
  builder.addSoftBody(soft);
  Simulator simulator(builder.build());
  const TetMesh& mesh = simulator.model().softMesh(0);
  std::vector<Vec3> places;
  for (const Vec3& X : mesh.vertices()) places.push_back(F * X);
  simulator.setSoftPositions(0, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (mesh.isOnSurface()[i] != 0) simulator.driveVertex(0, static_cast<int>(i), places[i]);
  }
  simulator.step();

  const std::vector<Mat3> stresses = simulator.softStress(0);
  Mat3 mean{};
  for (const Mat3& stress : stresses) {
    for (int k = 0; k < 3; ++k) mean.col[k] += stress.col[k] / static_cast<double>(stresses.size());
  }
  // It is the same everywhere: the one that is farthest from the mean is reported.
  std::size_t worst = 0;
  double farthest = -1;
  for (std::size_t t = 0; t < stresses.size(); ++t) {
    double distance = 0;
    for (int k = 0; k < 3; ++k) distance += squaredNorm(stresses[t].col[k] - mean.col[k]);
    if (distance > farthest) {
      farthest = distance;
      worst = t;
    }
  }
  // J sigma F^-T; of small strains there is one stress alone.
  const Mat3 P =
      elasticity.model == ElasticModel::Linear ? stresses[worst] : stresses[worst] * cofactor(F);
  PatchResult out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.stress.push_back(P(i, j));
  }
  out.energy = simulator.energy().potential / mesh.volume();
  return out;
}

}  // namespace

Measured femPatch(const Json& parameters, const Lane&) {
  const double young = positive(parameters, "E"), poisson = number(parameters, "nu");
  const Mat3 F = gradientOf(parameters);
  Measured out;
  for (const auto& [name, law] : {std::pair{"linear", ElasticModel::Linear},
                                  std::pair{"stvk", ElasticModel::StVenantKirchhoff},
                                  std::pair{"corotated_linear", ElasticModel::Corotated}}) {
    const PatchResult result = patch({.model = law, .young = young, .poisson = poisson}, F);
    out[join("P_", name)] = result.stress;
    out[join("W_", name)] = {result.energy};
  }
  // The reference uses mu and lambda as they are; the engine takes them such that Young's modulus
  // and Poisson's ratio are those at rest, where this law is as soft as Hooke's with 3/4 mu and
  // lambda - 5/8 mu. Its energy is counted from rest.
  const double mu = young / (2 * (1 + poisson));
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double restMu = 0.75 * mu, restLambda = lambda - 0.625 * mu;
  if (restLambda >= 0) {
    const PatchResult result =
        patch({.model = ElasticModel::NeoHookean,
               .young = restMu * (3 * restLambda + 2 * restMu) / (restLambda + restMu),
               .poisson = restLambda / (2 * (restLambda + restMu))},
              F);
    out["P_stable_neo_hookean"] = result.stress;
    out["W_stable_neo_hookean"] = {result.energy + 9.0 / 32.0 * mu * mu / lambda -
                                   0.5 * mu * std::log(4.0)};
  }
  return out;
}

std::map<std::string, std::string> lawsWithoutAModel() {
  std::map<std::string, std::string> out;
  for (const char* quantity : {"P_", "W_"}) {
    for (const char* law : {"corotated_fixed", "neo_hookean"})
      out[join(quantity, law)] = "bodies cannot have this law; a test of its kernel does this";
    out[join(quantity, "stable_neo_hookean")] = "at rest it has a negative Poisson's ratio";
  }
  return out;
}

// --- column --------------------------------------------------------------------------------------

namespace {

struct Column {
  double height, area, young, poisson, density, g;

  explicit Column(const Json& parameters)
      : height(positive(parameters, "H")),
        area(positive(parameters, "area")),
        young(positive(parameters, "E")),
        poisson(number(parameters, "nu")),
        density(positive(parameters, "rho")),
        g(positive(parameters, "g")) {}

  static constexpr int kLayers = 20;
  enum class Sides { Free, Rollers };

  [[nodiscard]] SoftBody soft(int across, int layers, double nu) const {
    const double width = std::sqrt(area);
    SoftBody body{.name = "column"};
    body.mesh = Grid{{width, width, height}, {across, across, layers}}.mesh();
    body.material = "stuff";
    body.elasticity = {.model = ElasticModel::Linear, .young = young, .poisson = nu};
    body.selfContact = false;
    return body;
  }
  [[nodiscard]] double mass() const { return density * area * height; }
  /// Speed of sound between rollers.
  [[nodiscard]] double speed() const {
    return std::sqrt(young * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson)) / density);
  }

  /// Its lowest vertices are held; those of the sides may move up and down only.
  [[nodiscard]] Simulator held(Sides sides, double nu, double dt, double rollerMass) const {
    ModelBuilder builder;
    builder.setOptions(softOptions(dt, {0, 0, -g}));
    builder.addMaterial({.name = "stuff", .density = density});
    SoftBody body = soft(2, kLayers, nu);
    const double width = std::sqrt(area), eps = 1e-9 * width;
    for (std::size_t i = 0; i < body.mesh->vertices().size(); ++i) {
      const Vec3 at = body.mesh->vertices()[i];
      const auto vertex = static_cast<std::int32_t>(i);
      if (at.z < 1e-9 * height) {
        body.attachments.push_back({vertex, ""});
        continue;
      }
      const bool isSide = at.x < eps || at.y < eps || at.x > width - eps || at.y > width - eps;
      if (sides == Sides::Free || !isSide) continue;
      const Body roller = guide("roller" + std::to_string(i), at, {{0, 0, 1}}, rollerMass);
      builder.addBody(roller);
      body.attachments.push_back({vertex, roller.name});
    }
    builder.addSoftBody(body);
    return Simulator(builder.build());
  }
  /// Mean of the vertices that start at this height.
  [[nodiscard]] double sagAt(const Simulator& simulator, double z) const {
    const std::span<const Vec3> start = simulator.model().softMesh(0).vertices();
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (std::fabs(start[i].z - z) > 1e-9 * height) continue;
      sum += start[i].z - simulator.softPositions(0)[i].z;
      ++count;
    }
    return sum / count;
  }
  /// Mean over a layer.
  [[nodiscard]] Mat3 stressOf(const Simulator& simulator, int layer) const {
    const TetMesh& mesh = simulator.model().softMesh(0);
    const std::vector<Mat3> stresses = simulator.softStress(0);
    Mat3 sum{};
    double volume = 0;
    for (std::size_t t = 0; t < stresses.size(); ++t) {
      const Tet& tet = mesh.tets()[t];
      const std::span<const Vec3> x = mesh.vertices();
      const double z = 0.25 * (x[tet[0]].z + x[tet[1]].z + x[tet[2]].z + x[tet[3]].z);
      if (static_cast<int>(z / height * kLayers) != layer) continue;
      const double v =
          dot(cross(x[tet[1]] - x[tet[0]], x[tet[2]] - x[tet[0]]), x[tet[3]] - x[tet[0]]);
      for (int k = 0; k < 3; ++k) sum.col[k] += stresses[t].col[k] * v;
      volume += v;
    }
    for (int k = 0; k < 3; ++k) sum.col[k] *= 1 / volume;
    return sum;
  }
};

struct Peak {
  double time = 0, value = 0;
};

/// Of gravity that comes on at once, in a run of so many steps to twice the time of the peak.
Peak largestSag(const Column& column, int steps) {
  const double duration = 4 * column.height / column.speed(), dt = duration / steps;
  // Rollers that weigh nothing to speak of.
  Simulator simulator =
      column.held(Column::Sides::Rollers, column.poisson, dt, 1e-9 * column.mass());
  double before = 0, now = 0;
  for (int k = 1; k <= steps; ++k) {
    simulator.step();
    const double next = column.sagAt(simulator, column.height);
    if (next < now) {  // the vertex of the parabola through the three
      const double shift = 0.5 * (before - next) / (before - 2 * now + next);
      return {(k - 1 + shift) * dt, now - 0.25 * (before - next) * shift};
    }
    before = now;
    now = next;
  }
  return {};
}

/// Stands on a floor, by contact.
double forceOnFloor(const Column& column) {
  const double period = 4 * column.height / column.speed();
  ModelBuilder builder;
  builder.setOptions(softOptions(0.5 * period, {0, 0, -column.g}));
  builder.addMaterial({.name = "stuff",
                       .density = column.density,
                       .friction = 0,
                       .relaxationTime = period,
                       .contact = ContactModel::Hydroelastic,
                       .hydroelasticModulus = 100 * column.young});
  Body floor{.name = "floor", .type = BodyType::Fixed};
  floor.shapes.push_back({.shape = std::make_shared<Plane>(), .material = ""});
  builder.addBody(floor);
  SoftBody body = column.soft(2, 10, column.poisson);
  builder.addSoftBody(body);
  Simulator simulator(builder.build());
  simulator.step(200);
  double force = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts())
    force += polygon.force.z * (polygon.side1.soft >= 0 ? 1 : -1);
  return force;
}

}  // namespace

Measured femColumn(const Json& parameters, const Lane&) {
  const Column column(parameters);
  // Steps far longer than any motion are those of a static solution.
  // Of rollers the mass then does not matter; how firmly a vertex is held grows with it.
  const double dt = 10 * column.height / column.speed();
  Simulator rollers = column.held(Column::Sides::Rollers, column.poisson, dt, column.mass());
  rollers.step(30);
  Simulator cork = column.held(Column::Sides::Free, 0, dt, 0);
  cork.step(30);
  // Stresses are those of the middle of a layer.
  const Mat3 low = column.stressOf(rollers, 0), high = column.stressOf(rollers, 1);
  const auto atFloor = [&](int i) { return 1.5 * low(i, i) - 0.5 * high(i, i); };
  // An implicit step damps with its length: two of them tell what none would do.
  const Peak coarse = largestSag(column, 200), fine = largestSag(column, 400);
  return {{"sag_rollers", {column.sagAt(rollers, column.height)}},
          {"sag_free_nu0", {column.sagAt(cork, column.height)}},
          {"sag_free_nu0_half_height", {column.sagAt(cork, 0.5 * column.height)}},
          {"stress_floor", {atFloor(2)}},
          {"stress_lateral_floor", {atFloor(0)}},
          {"t_largest_sag", {2 * fine.time - coarse.time}},
          {"largest_sag", {2 * fine.value - coarse.value}},
          {"weight", {forceOnFloor(column)}}};
}

// --- cantilever ----------------------------------------------------------------------------------

namespace {

struct Beam {
  double length, width, height, young, poisson, density;

  explicit Beam(const Json& parameters)
      : length(positive(parameters, "L")),
        width(positive(parameters, "b")),
        height(positive(parameters, "h")),
        young(positive(parameters, "E")),
        poisson(number(parameters, "nu")),
        density(positive(parameters, "rho")) {}

  [[nodiscard]] Elasticity material(ElasticModel model) const {
    return {.model = model, .young = young, .poisson = poisson};
  }
  [[nodiscard]] double mass() const { return density * width * height * length; }
  [[nodiscard]] double flexural() const { return young * width * height * height * height / 12; }
  /// Of the first bending vibration, about: for the choice of steps.
  [[nodiscard]] double rate() const {
    return 3.5 / (length * length) * std::sqrt(flexural() / (density * width * height));
  }
};

enum class Root {
  Clamped,     ///< nothing moves
  Contracting  ///< stays in its plane, but may grow thinner: the clamp of beam theory
};

/// A beam along x, held at x = 0, of cells whose edges are about the height over `n`; of a
/// contracting root `n` is even, so that there are vertices in its middle.
class Cantilever {
 public:
  Cantilever(const Beam& beam, const Elasticity& elasticity, int n, Root root, double dt)
      : beam_(beam), grid_(cells(beam, n)), simulator_(model(elasticity, root, dt)) {}

  [[nodiscard]] Simulator& simulator() { return simulator_; }
  /// To rest under a load that is spread over the end face and points along -z. False: it did not
  /// come to rest.
  [[nodiscard]] bool load(double force) {
    constexpr int kLongest = 150;
    for (int step = 0; step < kLongest; ++step) {
      const std::vector<Vec3> before(simulator_.softPositions(0).begin(),
                                     simulator_.softPositions(0).end());
      onEnd([&](int vertex, double weight, int) {
        simulator_.applySoftForce(0, vertex, {0, 0, -force * weight});
      });
      simulator_.step();
      double move = 0;
      for (std::size_t i = 0; i < before.size(); ++i)
        move = std::max(move, norm(simulator_.softPositions(0)[i] - before[i]));
      if (move < 1e-5 * std::fabs(tip().z)) return true;
      if (norm(tip()) > 2 * beam_.length) return false;  // farther than it could reach
    }
    return false;
  }
  /// Mean displacement of the end face.
  [[nodiscard]] Vec3 tip() const {
    Vec3 sum{};
    onEnd([&](int vertex, double weight, int) {
      const Vec3& start = simulator_.model().softMesh(0).vertices()[vertex];
      sum += (simulator_.softPositions(0)[vertex] - start) * weight;
    });
    return sum;
  }
  /// How far the end face has turned.
  [[nodiscard]] double slope() const {
    Vec3 up{};
    onEnd([&](int vertex, double weight, int k) {
      up += simulator_.softPositions(0)[vertex] * (weight * (2 * k - grid_.count[2]));
    });
    return std::atan2(up.x, up.z);
  }

 private:
  static Grid cells(const Beam& beam, int n) {
    // Multiples of one grid, so that all edges shrink alike.
    const int along = n * std::max(1, static_cast<int>(std::lround(beam.length / beam.height)));
    const int across = n * std::max(1, static_cast<int>(std::lround(beam.width / beam.height)));
    constexpr int kMost = 100000;
    if (static_cast<double>(along) * across * n > kMost)
      throw InvalidInput("a beam so thin needs too many tetrahedra");
    return {{beam.length, beam.width, beam.height}, {along, across, n}};
  }
  [[nodiscard]] Model model(const Elasticity& elasticity, Root root, double dt) const {
    ModelBuilder builder;
    SimulationOptions options = softOptions(dt, {});
    options.sap.relativeTolerance = 1e-8;  // the steps to rest are many
    options.sap.pcgTolerance = 1e-6;
    builder.setOptions(options);
    builder.addMaterial({.name = "stuff", .density = beam_.density});
    SoftBody body{.name = "beam"};
    body.mesh = grid_.mesh();
    body.material = "stuff";
    body.elasticity = elasticity;
    body.selfContact = false;
    for (int k = 0; k <= grid_.count[2]; ++k) {
      for (int j = 0; j <= grid_.count[1]; ++j) {
        const int vertex = grid_.vertexAt(0, j, k);
        std::vector<Vec3> free;
        if (root == Root::Contracting && 2 * j != grid_.count[1]) free.push_back({0, 1, 0});
        if (root == Root::Contracting && 2 * k != grid_.count[2]) free.push_back({0, 0, 1});
        if (free.empty()) {
          body.attachments.push_back({vertex, ""});
          continue;
        }
        const Body holder = guide("holder" + std::to_string(vertex), body.mesh->vertices()[vertex],
                                  free, beam_.mass());
        builder.addBody(holder);
        body.attachments.push_back({vertex, holder.name});
      }
    }
    builder.addSoftBody(body);
    return builder.build();
  }
  /// The vertices of the end face with their parts of its area, and their row.
  template <class Function>
  void onEnd(const Function& function) const {
    for (int k = 0; k <= grid_.count[2]; ++k) {
      for (int j = 0; j <= grid_.count[1]; ++j) {
        const double weight = (k % grid_.count[2] == 0 ? 0.5 : 1) *
                              (j % grid_.count[1] == 0 ? 0.5 : 1) /
                              (grid_.count[1] * grid_.count[2]);
        function(grid_.vertexAt(grid_.count[0], j, k), weight, k);
      }
    }
  }

  Beam beam_;
  Grid grid_;
  Simulator simulator_;
};

double square(double x) { return x * x; }

/// Deflection under a load that hardly bends the beam.
double smallDeflection(const Beam& beam, double force) {
  std::vector<std::pair<double, double>> stiffness;
  for (const int n : {2, 4, 6}) {
    Cantilever cantilever(beam, beam.material(ElasticModel::Linear), n, Root::Contracting,
                          10 / beam.rate());
    if (!cantilever.load(force)) throw InvalidInput("the beam does not come to rest");
    stiffness.push_back({square(1.0 / n), -force / cantilever.tip().z});
  }
  return force / extrapolate(stiffness);
}

/// Bent so far that a step must not turn the beam much: a step that would stretch the beam by
/// turning it is taken stiffer, and creeps. The damping lets the first vibration die out soonest.
Cantilever bentAsElastica(const Beam& beam, double alpha, int n) {
  Elasticity elasticity = beam.material(ElasticModel::Corotated);
  elasticity.massDamping = 2 * beam.rate();
  Cantilever cantilever(beam, elasticity, n, Root::Clamped, 0.1 / beam.rate());
  if (!cantilever.load(alpha * beam.flexural() / square(beam.length)))
    throw InvalidInput("the beam does not come to rest");
  return cantilever;
}

/// Tip of the elastica: across and along the beam over its length, and the angle [rad].
std::vector<double> elastica(Beam beam, double alpha) {
  // A beam of some thickness is stretched, by alpha/12 (height/length)^2 where the load ends up
  // along it, and sheared; the elastica is not. A thinner one has the same elastica.
  constexpr double kStretch = 0.003;
  const double scale =
      std::min(1.0, beam.length / beam.height * std::sqrt(12 * kStretch / std::max(alpha, 1e-3)));
  beam.height *= scale;
  beam.width = beam.height;  // a narrow one would give way to the side
  std::array<std::vector<std::pair<double, double>>, 3> found;
  for (const int n : {3, 4, 5}) {
    const Cantilever cantilever = bentAsElastica(beam, alpha, n);
    const Vec3 tip = cantilever.tip();
    const double cell = square(1.0 / n);
    found[0].push_back({cell, -tip.z / beam.length});
    found[1].push_back({cell, -tip.x / beam.length});
    found[2].push_back({cell, cantilever.slope()});
  }
  return {extrapolate(found[0]), extrapolate(found[1]), extrapolate(found[2])};
}

/// The first bending vibration after the load is taken off [rad/s].
double bendingRate(const Beam& beam, double force) {
  std::vector<std::pair<double, double>> squares;
  for (const int n : {2, 4}) {
    const Elasticity linear = beam.material(ElasticModel::Linear);
    Cantilever bent(beam, linear, n, Root::Clamped, 1e3 / beam.rate());
    if (!bent.load(force)) throw InvalidInput("the beam does not come to rest");
    const double dt = 0.04 / beam.rate();
    Cantilever swinging(beam, linear, n, Root::Clamped, dt);
    swinging.simulator().setSoftPositions(0, bent.simulator().softPositions(0));
    std::vector<double> heights;
    for (int k = 0; k * dt * beam.rate() < 6.5 || heights.size() < 3; ++k) {
      heights.push_back(swinging.tip().z);
      swinging.simulator().step();
    }
    squares.push_back({square(1.0 / n), square(rateOf(heights, dt))});
  }
  return std::sqrt(extrapolate(squares));
}

/// The first vibration along the beam, of a material without Poisson's effect [rad/s].
double axialRate(Beam beam) {
  beam.poisson = 0;
  const double rate = kPi / (2 * beam.length) * std::sqrt(beam.young / beam.density);
  const double dt = 0.03 / rate;
  Cantilever cantilever(beam, beam.material(ElasticModel::Linear), 2, Root::Clamped, dt);
  Simulator& simulator = cantilever.simulator();
  std::vector<Vec3> speeds;
  for (const Vec3& at : simulator.model().softMesh(0).vertices())
    speeds.push_back({1e-6 * beam.length * rate * std::sin(kPi * at.x / (2 * beam.length)), 0, 0});
  simulator.setSoftVelocities(0, speeds);
  std::vector<double> ends;
  for (int k = 0; k * dt * rate < 2.1 * kPi; ++k) {
    ends.push_back(cantilever.tip().x);
    simulator.step();
  }
  return rateOf(ends, dt);
}

}  // namespace

Measured femCantilever(const Json& parameters, const Lane&) {
  const Beam beam(parameters);
  const double force = positive(parameters, "P_small");
  const double deflection = smallDeflection(beam, force), rate = bendingRate(beam, force);
  const double stiffness = beam.flexural() / (beam.density * beam.width * beam.height);
  Measured out{{"tip_timoshenko", {deflection}},
               {"tip_euler_bernoulli", {deflection}},
               {"f1_bending", {rate / (2 * kPi)}},
               {"beta1_L", {beam.length * std::sqrt(rate / std::sqrt(stiffness))}},
               {"f1_axial", {axialRate(beam) / (2 * kPi)}}};
  for (const Json& entry : parameters.value("alphas", Json::array())) {
    if (!entry.is_number() || !(entry.get<double>() > 0))
      throw InvalidInput("parameter 'alphas' must be a list of numbers above 0");
    // Quantities are named as the list has its numbers.
    out[join("elastica_alpha_", entry.dump())] = elastica(beam, entry.get<double>());
  }
  return out;
}

}  // namespace tangere::cli
