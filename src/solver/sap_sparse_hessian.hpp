// SPDX-License-Identifier: Apache-2.0
//
// H = A + J^T G J of an island with sparse cliques, its products and its preconditioner.
//
//   H = | R    C^T |   R: dense cliques    P = | I  W^T | | E     | | I    |   W = B^-1 C, B ~ S
//       | C    S   |   S: vertices             |    I   | |     B | | W  I |   E = Z^T H Z, Z = (I;
//       -W)
//
// Contacts that stick tie vertices to links a thousand times more tightly than their own stiffness
// does. Without C in the preconditioner each velocity of a link costs conjugate gradients a few
// steps; with it none, for E is what remains of R exactly as B sees the vertices. Dense cliques
// of too many velocities together keep their diagonal blocks only.
#pragma once

#include "core/parallel_for.hpp"
#include "solver/sap_constraint.hpp"
#include "solver/soft_factor.hpp"
#include "solver/soft_matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// A constraint of an island as its Jacobian lies: up to two dense cliques, and a group of
/// vertices, those of both sides if both are sparse.
struct SparseLocal {
  struct Dense {
    const Real* jacobian = nullptr;  // numRows x columns
    std::int32_t velocity = 0;       // first one that it acts on
    std::int32_t columns = 0;
    std::int32_t clique = 0;
  };
  Dense dense[2];
  const Real* softJacobian = nullptr;  // numRows x 3 group.count
  VertexGroup group;
  std::int32_t numDense = 0;
  std::int32_t row = 0, hessian = 0, parameters = 0;
  std::int32_t index = 0;  // in the problem
  SapKind kind = SapKind::Contact;
  std::uint8_t numRows = 0;
};

/// A constraint acts on so many vertices at most.
inline constexpr int kMaxGroupVertices = 2 * kSapMaxNodes;

/// One dense clique: its block of A.
struct DenseClique {
  const Real* a = nullptr;
  std::int32_t first = 0, size = 0;
};

/// Vectors hold the velocities of the dense cliques first, then three for each vertex.
class SapSparseHessian {
 public:
  /// Constant for one solve; what is lent must stay. `locals` get their slots.
  struct Setup {
    std::span<const DenseClique> dense;
    std::span<const math::BlockCsr* const> bodies;
    std::span<const Vec3* const> positions;  ///< of the bodies; null: not known
    std::span<SparseLocal> locals;
    std::span<const std::int32_t> vertices;  ///< of the groups
    SoftPreconditioner preconditioner = SoftPreconditioner::Auto;
    core::ThreadPool* pool = nullptr;
  };
  void setPattern(const Setup& setup);

  /// Of these G, which must stay while multiply() is used. False when H is not positive definite.
  bool update(const Real* hessian);

  /// The next update() makes P anew, however near H is to the one that P is of.
  void forgetFactor() { has_factor_ = false; }

  void multiply(const Real* x, Real* y);
  /// z = P^-1 r; z is not r.
  void precondition(const Real* r, Real* z);
  [[nodiscard]] SoftPreconditioner preconditioner() const { return factor_.kind(); }

 private:
  [[nodiscard]] int numDense() const { return num_dense_; }
  [[nodiscard]] int numVertices() const { return soft_.matrix().numRows(); }
  [[nodiscard]] bool isFactorGood() const;
  void rememberHessian();
  void listTouched();
  void assemble();
  void assembleDense();
  bool factorDense();
  bool factorSchur();
  void findResponses(int first);
  void findResponse(int column);
  void multiplySoft(const Real* x, Real* y) const;
  void multiplyByConstraints(const Real* x, Real* y);
  void addCoupling(const Real* x, Real* y) const;
  void addCouplingTransposed(const Real* x, Real* y) const;

  Setup setup_;
  const Real* hessian_ = nullptr;
  std::vector<Real> factored_;  // G of the preconditioner
  bool has_factor_ = false;
  int num_dense_ = 0;
  bool is_assembled_ = false;  // R and C are there, and the preconditioner has C
  SoftMatrix soft_;
  SoftFactor factor_;
  // Assembled.
  std::vector<std::int32_t> touched_, touched_index_;  // vertices that C has; back, -1: not
  std::vector<Real> dense_;                            // R
  std::vector<Real> coupling_;                         // C: rows of touched vertices
  std::vector<std::int32_t> coupled_;                  // columns of C that are not zero
  std::vector<Real> response_;                         // W, one column after the other
  std::vector<Real> four_, four_response_;
  std::vector<Real> residual_, correction_;                  // C - S W of the first level
  std::vector<Real> schur_, schur_scratch_, inverse_schur_;  // E; L^-1 of it
  std::vector<Real> small_, small2_;
  std::vector<std::uint8_t> is_coupled_, is_touched_;
  std::vector<VertexGroup> groups_;
  std::vector<Vec3> positions_;
  std::vector<std::int32_t> body_sizes_;
  std::vector<Real> stiffness_;  // of each vertex, without contacts
  // Not assembled.
  std::vector<Real> block_, block_scratch_, inverse_block_, wide_, rows_;
  std::vector<std::int64_t> first_entry_;
};

}  // namespace tangere::solver
