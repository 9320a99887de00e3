// SPDX-License-Identifier: Apache-2.0
//
// The convex problem of one step: cliques of velocities, and constraints on one or two of them.
// Nothing here knows what a body, a joint or a shape is.
//
//   v = argmin  1/2 (v - v*)^T A (v - v*) + sum_c l_c(v_c),    v_c = J_c v + b_c,
//   gamma_c = -dl_c/dv_c,   so that at the solution   A (v - v*) = J^T gamma
//
// A is block diagonal: one symmetric positive definite block for each clique, dense (a tree, a free
// body) or sparse (a soft body, three velocities for each vertex). A sparse clique gives A v*
// instead of v*. Data only: filled by the caller, read and written by SapSolver. The arrays keep
// their memory from step to step.
//
//   problem.clear(dt);
//   const int tree = problem.addClique(9);  // then write matrix(tree), freeVelocity(tree) and
//   const int box = problem.addClique(6);   // the guess velocity(tree); all are zero before
//   const int c = problem.addContact(box, tree, {.friction = 0.8, .gap = -1e-4});
//   // write jacobian1(c): 3 x 6, jacobian2(c): 3 x 9, rows t1, t2, n
//   const int ball = problem.addSparseClique(&a, b, mass);  // then write velocity(ball)
//   const int d = problem.addContact(ball, tree, {.friction = 0.8, .gap = -1e-4}, vertices);
//   // write jacobian1(d): 3 x 3 vertices.size(), columns in the order of `vertices`
//   SapReport report = solver.solve(options, &problem, pool);
//   // read velocity(box), impulseOf(c)
//
// Pointers into the arrays hold until the next add.
#pragma once

#include <tangere/types.hpp>

#include "math/block_csr.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tangere::solver {

/// A constraint has at most this many rows.
inline constexpr int kSapMaxRows = 6;
/// One side of a constraint acts on at most this many vertices of a sparse clique.
inline constexpr int kSapMaxNodes = 8;

enum class SapKind : std::uint8_t {
  Contact,       ///< rows t1, t2, n: linear compliance and dissipation, friction cone
  HuntCrossley,  ///< rows t1, t2, n: Hunt-Crossley normal force, regularized friction
  Bilateral,     ///< g = 0 row by row: gamma of any sign
  Limit,         ///< g >= 0 row by row: gamma >= 0
  Drive,         ///< one row: PD control with an effort limit, implicit
  Friction,      ///< |gamma| <= dt f row by row
  User,          ///< SapUserConstraint
};

/// gamma_n/dt = (-k phi - k tau_d v_n)_+, phi = gap + dt v_n, and |gamma_t| <= mu gamma_n.
/// A gap above zero neither pushes nor brakes before it is closed, whatever the dissipation (but
/// for SapFriction::Cone).
struct SapContact {
  Real friction = 0;  ///< mu; infinity is not allowed, 1e6 is
  /// k [N/m]; infinity: as stiff as the step resolves (period SapOptions::nearRigid * dt).
  Real stiffness = std::numeric_limits<Real>::infinity();
  Real dissipationTime = 0.1;  ///< tau_d [s]
  Real gap = 0;                ///< phi at the start of the step; negative: depth [m]
  /// Tangential impulse of the last step at this point [N s]. Friction gives it without any slip,
  /// and regularized slip only for what changes: what is held does not creep.
  Real heldImpulse[2] = {};
};

enum class HuntCrossleyFriction : std::uint8_t {
  Lagged,   ///< bounded by mu times the normal force at the start of the step
  Similar,  ///< bounded by mu times this step's, which pushes apart while sliding
};

/// gamma_n/dt = k (-phi)_+ (1 - d v_n)_+, phi = gap + dt v_n.
struct SapHuntCrossley {
  Real friction = 0;
  Real stiffness = std::numeric_limits<Real>::infinity();  ///< [N/m], infinity as in SapContact
  Real dissipation = 0;                                    ///< d [s/m]
  Real gap = 0;                                            ///< [m]
  Real normalVelocity = 0;  ///< v_n at the start of the step, of the lagged impulse [m/s]
  Real slipSpeed = 1e-4;    ///< stiction tolerance [m/s]
  HuntCrossleyFriction model = HuntCrossleyFriction::Lagged;
};

/// Of bilateral rows and of limits: gamma/dt = -k g - k tau_d g', g at the end of the step.
struct SapCompliance {
  Real stiffness = std::numeric_limits<Real>::infinity();
  Real dissipationTime = 0;  ///< [s]; 0: an error is removed within one step
};

/// gamma/dt = clamp(-kp (q + dt v - q_d) - kd (v - v_d) + u, minEffort, maxEffort), v = v_c.
struct SapDrive {
  Real kp = 0;  ///< [N/m] or [N m/rad]
  Real kd = 0;
  Real position = 0;        ///< q at the start of the step
  Real targetPosition = 0;  ///< q_d
  Real targetVelocity = 0;  ///< v_d
  Real feedForward = 0;     ///< u
  Real minEffort = -std::numeric_limits<Real>::infinity();
  Real maxEffort = std::numeric_limits<Real>::infinity();
};

/// A constraint of the caller's own: a convex, once differentiable cost of v_c.
class SapUserConstraint {
 public:
  virtual ~SapUserConstraint() = default;

  /// Called once before each solve. `delassus` is J A^-1 J^T, numRows x numRows, row major: the
  /// inverse mass that the rows feel, from which a regularization is best scaled.
  virtual void prepare(Real dt, int numRows, const Real* delassus) = 0;

  /// The cost l(v_c); writes gamma = -dl/dv_c and, where `hessian` is not null, G = d2l/dv_c2
  /// (row major, symmetric positive semidefinite). Called from several threads at once, for
  /// different constraints at least; must give the same for the same v_c.
  virtual Real evaluate(int numRows, const Real* vc, Real* gamma, Real* hessian) const = 0;
};

/// A - P Q^T - Q P^T + Q C Q^T in place of A, with three columns in P and Q: what takes the turning
/// of a body as a whole out of its stiffness, and would fill a sparse matrix.
struct SapTurning {
  const Real* p = nullptr;  ///< of each velocity three, one for each column
  const Real* q = nullptr;
  Real c[9] = {};  ///< row major, symmetric
};

/// A soft body. What the pointers lead to belongs to the caller and stays as it is until the solve
/// ends.
struct SapSparseClique {
  const math::BlockCsr* a = nullptr;  ///< symmetric positive definite, numRows vertices
  const Real* momentum = nullptr;     ///< A v*, 3 numRows [kg m/s]
  /// Of each vertex, above zero; A - diag(mass) is positive semidefinite, on which the certificate
  /// rests [kg].
  const Real* mass = nullptr;
  /// Of each vertex, any frame; for the rigid motions of the two-level preconditioner, which is not
  /// chosen without [m].
  const Vec3* positions = nullptr;
  /// Null: `a` is the whole of A. The whole of it less diag(mass) is positive semidefinite.
  const SapTurning* turning = nullptr;
};

/// One constraint; its parameters lie in the array of its kind.
struct SapConstraint {
  SapKind kind = SapKind::Contact;
  std::uint8_t numRows = 0;
  std::int32_t clique1 = -1;
  std::int32_t clique2 = -1;    ///< -1: none; never clique1
  std::int32_t dof1 = -1;       ///< >= 0: the one row is one Real, the entry of J for this velocity
  std::int32_t parameters = 0;  ///< index in contacts, huntCrossleys, compliances, ...
  std::int32_t firstRow = 0;    ///< in rowTarget, bias, impulse, rowVelocity
  /// In jacobian: numRows x numVelocities(clique1), row major; of a sparse clique numRows x
  /// 3 numNodes1.
  std::int64_t jacobian1 = 0;
  std::int64_t jacobian2 = 0;
  std::int32_t firstNode1 = 0, firstNode2 = 0;  ///< in nodes
  std::uint8_t numNodes1 = 0, numNodes2 = 0;    ///< 0: the clique is dense
};

struct SapProblem {
  Real dt = 0;

  // Cliques.
  std::vector<std::int32_t> firstVelocity{0};  ///< numCliques + 1
  std::vector<std::int64_t> firstEntry{0};     ///< of A; numCliques + 1
  std::vector<Real> a;                         ///< blocks, row major, both triangles
  std::vector<Real> vStar;                     ///< free-motion velocity
  std::vector<Real> v;                         ///< in: guess; out: solution
  std::vector<SapSparseClique> sparseCliques;  ///< ascending by clique; vStar of these is not used
  std::vector<std::int32_t> sparseOf;          ///< by clique: index in sparseCliques, -1: dense

  // Constraints.
  std::vector<SapConstraint> constraints;
  std::vector<Real> jacobian;
  std::vector<std::int32_t> nodes;  ///< vertices that constraints on sparse cliques act on
  std::vector<SapContact> contacts;
  std::vector<SapHuntCrossley> huntCrossleys;
  std::vector<SapCompliance> compliances;
  std::vector<SapDrive> drives;
  std::vector<SapUserConstraint*> users;
  // By row.
  /// Bilateral and Limit: g at the start of the step; Friction: the greatest force f. Else unused.
  std::vector<Real> rowTarget;
  std::vector<Real> bias;     ///< b, surface velocity
  std::vector<Real> held;     ///< Friction: impulse of the last step, given without slip [N s]
  std::vector<Real> impulse;  ///< gamma; in: guess where SapOptions::guess asks for it; out [N s]
  std::vector<Real> rowVelocity;  ///< out: v_c

  // Out, by velocity.
  std::vector<Real> generalizedImpulse;  ///< J^T gamma

  [[nodiscard]] int numCliques() const { return static_cast<int>(firstVelocity.size()) - 1; }
  [[nodiscard]] int numVelocities(int clique) const {
    return firstVelocity[clique + 1] - firstVelocity[clique];
  }
  [[nodiscard]] int numVelocities() const { return firstVelocity.back(); }
  [[nodiscard]] int numConstraints() const { return static_cast<int>(constraints.size()); }
  [[nodiscard]] int numRows() const { return static_cast<int>(bias.size()); }

  /// Drops everything, keeps the memory.
  void clear(Real dt_s) {
    dt = dt_s;
    firstVelocity.resize(1);
    firstEntry.resize(1);
    a.clear();
    vStar.clear();
    v.clear();
    sparseCliques.clear();
    sparseOf.clear();
    clearConstraints();
  }
  void clearConstraints() {
    constraints.clear();
    jacobian.clear();
    nodes.clear();
    contacts.clear();
    huntCrossleys.clear();
    compliances.clear();
    drives.clear();
    users.clear();
    rowTarget.clear();
    bias.clear();
    held.clear();
    impulse.clear();
    rowVelocity.clear();
  }

  /// All zero; the caller writes matrix(c), freeVelocity(c), velocity(c). At least one velocity.
  int addClique(int numVelocities_) {
    firstVelocity.push_back(firstVelocity.back() + numVelocities_);
    firstEntry.push_back(firstEntry.back() + std::int64_t{numVelocities_} * numVelocities_);
    a.resize(static_cast<std::size_t>(firstEntry.back()));
    vStar.resize(static_cast<std::size_t>(firstVelocity.back()));
    v.resize(static_cast<std::size_t>(firstVelocity.back()));
    sparseOf.push_back(-1);
    return numCliques() - 1;
  }
  /// A SapSparseClique: three velocities for each row of `a`. The caller writes the guess
  /// velocity(c).
  int addSparseClique(const math::BlockCsr* matrix_, const Real* momentum, const Real* mass,
                      const Vec3* positions = nullptr, const SapTurning* turning = nullptr) {
    firstVelocity.push_back(firstVelocity.back() + 3 * matrix_->numRows());
    firstEntry.push_back(firstEntry.back());
    vStar.resize(static_cast<std::size_t>(firstVelocity.back()));
    v.resize(static_cast<std::size_t>(firstVelocity.back()));
    sparseOf.push_back(static_cast<std::int32_t>(sparseCliques.size()));
    sparseCliques.push_back({.a = matrix_,
                             .momentum = momentum,
                             .mass = mass,
                             .positions = positions,
                             .turning = turning});
    return numCliques() - 1;
  }
  [[nodiscard]] bool isSparse(int clique) const { return sparseOf[clique] >= 0; }
  [[nodiscard]] const SapSparseClique& sparseClique(int clique) const {
    return sparseCliques[sparseOf[clique]];
  }

  /// A of a dense clique: numVelocities x numVelocities, row major, symmetric positive definite.
  [[nodiscard]] Real* matrix(int clique) { return a.data() + firstEntry[clique]; }
  [[nodiscard]] const Real* matrix(int clique) const { return a.data() + firstEntry[clique]; }
  [[nodiscard]] Real* freeVelocity(int clique) { return vStar.data() + firstVelocity[clique]; }
  [[nodiscard]] Real* velocity(int clique) { return v.data() + firstVelocity[clique]; }
  [[nodiscard]] const Real* velocity(int clique) const { return v.data() + firstVelocity[clique]; }

  // Each returns the index of the constraint; Jacobian, bias and targets are zero until written.
  // clique2 = -1: on clique1 alone. Both sides on one clique: write their sum to jacobian1.
  // nodes1, nodes2: the vertices of a sparse clique that the side acts on, each once, at most
  // kSapMaxNodes; empty where the clique is dense.
  using Nodes = std::span<const std::int32_t>;
  int addContact(int clique1, int clique2, const SapContact& contact, Nodes nodes1 = {},
                 Nodes nodes2 = {}) {
    contacts.push_back(contact);
    return add(SapKind::Contact, 3, clique1, clique2, -1, contacts.size(), nodes1, nodes2);
  }
  /// `count` contacts of dense cliques, all alike until their parameters are changed in `contacts`,
  /// where they are the last ones; returns the first.
  int addContacts(int count, int clique1, int clique2, const SapContact& contact) {
    const std::size_t firstParameter = contacts.size();
    contacts.resize(firstParameter + static_cast<std::size_t>(count), contact);
    const int first =
        add(SapKind::Contact, 3 * count, clique1, clique2, -1, firstParameter + 1, {}, {});
    SapConstraint constraint = constraints.back();
    constraint.numRows = 3;
    constraints.pop_back();
    const int columns = numVelocities(clique1) + (clique2 >= 0 ? numVelocities(clique2) : 0);
    constraint.jacobian2 = constraint.jacobian1 + 3 * numVelocities(clique1);
    for (int i = 0; i < count; ++i) {
      constraints.push_back(constraint);
      ++constraint.parameters;
      constraint.firstRow += 3;
      constraint.jacobian1 += 3 * columns;
      constraint.jacobian2 += 3 * columns;
    }
    return first;
  }
  int addHuntCrossley(int clique1, int clique2, const SapHuntCrossley& contact, Nodes nodes1 = {},
                      Nodes nodes2 = {}) {
    huntCrossleys.push_back(contact);
    return add(SapKind::HuntCrossley, 3, clique1, clique2, -1, huntCrossleys.size(), nodes1,
               nodes2);
  }
  /// Write target(c): g at the start of the step.
  int addBilateral(int numRows_, int clique1, int clique2, const SapCompliance& compliance,
                   Nodes nodes1 = {}, Nodes nodes2 = {}) {
    compliances.push_back(compliance);
    return add(SapKind::Bilateral, numRows_, clique1, clique2, -1, compliances.size(), nodes1,
               nodes2);
  }
  /// Write target(c): g at the start of the step; J makes v_c = g'.
  int addLimit(int numRows_, int clique1, int clique2, const SapCompliance& compliance,
               Nodes nodes1 = {}, Nodes nodes2 = {}) {
    compliances.push_back(compliance);
    return add(SapKind::Limit, numRows_, clique1, clique2, -1, compliances.size(), nodes1, nodes2);
  }
  int addDrive(int clique1, int clique2, const SapDrive& drive, Nodes nodes1 = {},
               Nodes nodes2 = {}) {
    drives.push_back(drive);
    return add(SapKind::Drive, 1, clique1, clique2, -1, drives.size(), nodes1, nodes2);
  }
  /// Write target(c): f, the greatest friction force, row by row.
  int addFriction(int numRows_, int clique1, int clique2, Nodes nodes1 = {}, Nodes nodes2 = {}) {
    return add(SapKind::Friction, numRows_, clique1, clique2, -1, 1, nodes1, nodes2);
  }
  int addUser(int numRows_, int clique1, int clique2, SapUserConstraint* constraint,
              Nodes nodes1 = {}, Nodes nodes2 = {}) {
    users.push_back(constraint);
    return add(SapKind::User, numRows_, clique1, clique2, -1, users.size(), nodes1, nodes2);
  }

  // The same on one velocity: v_c = coefficient * v[dof of clique] + bias. Far cheaper than a row.
  int addLimitOnVelocity(int clique, int dof, Real coefficient, Real gap,
                         const SapCompliance& compliance) {
    compliances.push_back(compliance);
    return addOne(SapKind::Limit, clique, dof, coefficient, gap, compliances.size());
  }
  int addDriveOnVelocity(int clique, int dof, Real coefficient, const SapDrive& drive) {
    drives.push_back(drive);
    return addOne(SapKind::Drive, clique, dof, coefficient, 0, drives.size());
  }
  int addFrictionOnVelocity(int clique, int dof, Real maxForce) {
    return addOne(SapKind::Friction, clique, dof, 1, maxForce, 1);
  }

  [[nodiscard]] Real* jacobian1(int c) { return jacobian.data() + constraints[c].jacobian1; }
  [[nodiscard]] Real* jacobian2(int c) { return jacobian.data() + constraints[c].jacobian2; }
  [[nodiscard]] Real* target(int c) { return rowTarget.data() + constraints[c].firstRow; }
  [[nodiscard]] Real* biasOf(int c) { return bias.data() + constraints[c].firstRow; }
  [[nodiscard]] Real* heldOf(int c) { return held.data() + constraints[c].firstRow; }
  [[nodiscard]] Real* impulseOf(int c) { return impulse.data() + constraints[c].firstRow; }
  [[nodiscard]] const Real* impulseOf(int c) const {
    return impulse.data() + constraints[c].firstRow;
  }
  [[nodiscard]] const Real* velocityOf(int c) const {
    return rowVelocity.data() + constraints[c].firstRow;
  }

 private:
  int add(SapKind kind, int numRows_, int clique1, int clique2, int dof, std::size_t numParameters,
          Nodes nodes1 = {}, Nodes nodes2 = {}) {
    SapConstraint constraint{.kind = kind,
                             .numRows = static_cast<std::uint8_t>(numRows_),
                             .clique1 = clique1,
                             .clique2 = clique2,
                             .dof1 = dof,
                             .parameters = static_cast<std::int32_t>(numParameters) - 1,
                             .firstRow = numRows()};
    // A side with too many vertices, or none on a sparse clique, is refused by the solver.
    const auto numColumns = [&](int clique, Nodes sideNodes) -> std::size_t {
      if (!sideNodes.empty()) return 3 * sideNodes.size();
      const bool isDense = clique >= 0 && clique < numCliques() && !isSparse(clique);
      return isDense ? static_cast<std::size_t>(numVelocities(clique)) : 0;
    };
    std::size_t end = jacobian.size();
    constraint.jacobian1 = static_cast<std::int64_t>(end);
    if (dof >= 0) {
      end += 1;
    } else {
      end += static_cast<std::size_t>(numRows_) * numColumns(clique1, nodes1);
    }
    constraint.jacobian2 = static_cast<std::int64_t>(end);
    end += static_cast<std::size_t>(numRows_) * numColumns(clique2, nodes2);
    jacobian.resize(end);
    constraint.firstNode1 = static_cast<std::int32_t>(nodes.size());
    constraint.numNodes1 = countNodes(nodes1);
    if (!nodes1.empty()) nodes.insert(nodes.end(), nodes1.begin(), nodes1.end());
    constraint.firstNode2 = static_cast<std::int32_t>(nodes.size());
    constraint.numNodes2 = countNodes(nodes2);
    if (!nodes2.empty()) nodes.insert(nodes.end(), nodes2.begin(), nodes2.end());
    addRows(numRows_);
    constraints.push_back(constraint);
    return numConstraints() - 1;
  }
  /// All zero. Robots have many constraints of one row, for which growing an array is most of it.
  void addRows(int count) {
    for (std::vector<Real>* array : {&rowTarget, &bias, &held, &impulse, &rowVelocity}) {
      if (count == 1) {
        array->push_back(0);
      } else {
        array->resize(array->size() + static_cast<std::size_t>(count));
      }
    }
  }
  /// More than are allowed stay more than are allowed.
  static std::uint8_t countNodes(Nodes sideNodes) {
    const std::size_t count = sideNodes.size();
    return static_cast<std::uint8_t>(count <= kSapMaxNodes ? count : kSapMaxNodes + 1);
  }
  int addOne(SapKind kind, int clique, int dof, Real coefficient, Real target_,
             std::size_t numParameters) {
    const int c = add(kind, 1, clique, -1, dof, numParameters);
    jacobian1(c)[0] = coefficient;
    target(c)[0] = target_;
    return c;
  }
};

}  // namespace tangere::solver
