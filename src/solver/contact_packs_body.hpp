// SPDX-License-Identifier: Apache-2.0
//
// The bodies of PackFunctions, included by one file for each instruction set.
// Everything is local to that file and nothing is shared with others: an inline
// function compiled for AVX2 must not be the one the linker picks for all.
#include "solver/contact_packs.hpp"

#if defined(__AVX__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tangere::solver {
namespace {

#define TANGERE_INLINE inline __attribute__((always_inline))

typedef long long Mask __attribute__((vector_size(kLanes * sizeof(long long))));

struct V3 {
  Pack x, y, z;
};

TANGERE_INLINE Pack splat(double s) { return Pack{s, s, s, s}; }
TANGERE_INLINE Pack select(Mask m, Pack a, Pack b) { return m ? a : b; }
TANGERE_INLINE Pack maximum(Pack a, Pack b) { return select(a > b, a, b); }
TANGERE_INLINE Pack minimum(Pack a, Pack b) { return select(a < b, a, b); }

TANGERE_INLINE Pack squareRoot(Pack a) {
#if defined(__AVX__)
  return (Pack)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
  union {
    Pack pack;
    __m128d half[2];
  } u{a};
  u.half[0] = _mm_sqrt_pd(u.half[0]);
  u.half[1] = _mm_sqrt_pd(u.half[1]);
  return u.pack;
#else
  Pack r = a;
  for (int i = 0; i < kLanes; ++i) r[i] = __builtin_sqrt(a[i]);
  return r;
#endif
}

TANGERE_INLINE bool areAll(Mask m) {
#if defined(__AVX__)
  return _mm256_movemask_pd((__m256d)m) == 15;
#else
  return (m[0] & m[1] & m[2] & m[3]) != 0;
#endif
}

TANGERE_INLINE double largest(Pack a) {
  const double left = a[0] > a[1] ? a[0] : a[1];
  const double right = a[2] > a[3] ? a[2] : a[3];
  return left > right ? left : right;
}

TANGERE_INLINE V3 load(const Pack* p) { return {p[0], p[1], p[2]}; }
TANGERE_INLINE V3 operator+(V3 a, V3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TANGERE_INLINE V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TANGERE_INLINE V3 operator*(Pack s, V3 a) { return {s * a.x, s * a.y, s * a.z}; }
TANGERE_INLINE Pack dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TANGERE_INLINE V3 cross(V3 a, V3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
TANGERE_INLINE V3 times(const Pack* s, V3 v) {
  return {s[0] * v.x + s[3] * v.y + s[4] * v.z, s[3] * v.x + s[1] * v.y + s[5] * v.z,
          s[4] * v.x + s[5] * v.y + s[2] * v.z};
}

/// Four slots, one in each lane.
struct Bodies {
  V3 linear;
  Pack inverseMass;
  V3 angular;
};

TANGERE_INLINE void transpose(Pack a, Pack b, Pack c, Pack d, Pack* out) {
#if defined(__clang__)
  const Pack ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Pack ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Pack cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Pack cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
#else
  const Pack ab0 = __builtin_shuffle(a, b, Mask{0, 4, 2, 6});
  const Pack ab1 = __builtin_shuffle(a, b, Mask{1, 5, 3, 7});
  const Pack cd0 = __builtin_shuffle(c, d, Mask{0, 4, 2, 6});
  const Pack cd1 = __builtin_shuffle(c, d, Mask{1, 5, 3, 7});
  out[0] = __builtin_shuffle(ab0, cd0, Mask{0, 1, 4, 5});
  out[1] = __builtin_shuffle(ab1, cd1, Mask{0, 1, 4, 5});
  out[2] = __builtin_shuffle(ab0, cd0, Mask{2, 3, 6, 7});
  out[3] = __builtin_shuffle(ab1, cd1, Mask{2, 3, 6, 7});
#endif
}

TANGERE_INLINE Bodies gather(const SlotVelocity* slots, const std::int32_t* index) {
  const Pack* s[kLanes];
  for (int i = 0; i < kLanes; ++i) s[i] = reinterpret_cast<const Pack*>(&slots[index[i]]);
  Pack a[4], b[4];
  transpose(s[0][0], s[1][0], s[2][0], s[3][0], a);
  transpose(s[0][1], s[1][1], s[2][1], s[3][1], b);
  return {{a[0], a[1], a[2]}, a[3], {b[0], b[1], b[2]}};
}

TANGERE_INLINE void scatter(const Bodies& bodies, SlotVelocity* slots, const std::int32_t* index) {
  Pack* s[kLanes];
  for (int i = 0; i < kLanes; ++i) s[i] = reinterpret_cast<Pack*>(&slots[index[i]]);
  Pack a[4], b[4];
  transpose(bodies.linear.x, bodies.linear.y, bodies.linear.z, bodies.inverseMass, a);
  transpose(bodies.angular.x, bodies.angular.y, bodies.angular.z, splat(0), b);
  for (int i = 0; i < kLanes; ++i) {
    s[i][0] = a[i];
    s[i][1] = b[i];
  }
}

/// v_1 + w_1 x r_1 - v_2 - w_2 x r_2.
TANGERE_INLINE V3 velocityAt(const Bodies& body1, const Bodies& body2, V3 r1, V3 r2) {
  return (body1.linear - body2.linear) + (cross(body1.angular, r1) - cross(body2.angular, r2));
}

TANGERE_INLINE void apply(const GroupPack& group, V3 impulse, V3 r1, V3 r2, Bodies* body1,
                          Bodies* body2) {
  body1->linear = body1->linear + body1->inverseMass * impulse;
  body2->linear = body2->linear - body2->inverseMass * impulse;
  body1->angular = body1->angular + times(group.inverseInertia1, cross(r1, impulse));
  body2->angular = body2->angular - times(group.inverseInertia2, cross(r2, impulse));
}

TANGERE_INLINE void applySpin(const GroupPack& group, V3 impulse, Bodies* body1, Bodies* body2) {
  body1->angular = body1->angular + times(group.inverseInertia1, impulse);
  body2->angular = body2->angular - times(group.inverseInertia2, impulse);
}

/// (t1, t2, n) of row k.
struct Axes {
  V3 t1, t2, n;
};

TANGERE_INLINE Axes axesOf(const PackView& view, const GroupPack& group, int k) {
  const FramePack& frame = view.frames[group.firstFrame + k * group.frameStride];
  return {load(frame.tangent1), load(frame.tangent2), load(frame.normal)};
}

/// t1 a[0] + t2 a[1] + n a[2].
TANGERE_INLINE V3 along(const Axes& axes, const Pack* a) {
  return a[0] * axes.t1 + a[1] * axes.t2 + a[2] * axes.n;
}

/// 1 / a where a > 0, else 0.
TANGERE_INLINE Pack reciprocal(Pack a) {
  const Mask valid = a > splat(0);
  return select(valid, splat(1) / select(valid, a, splat(1)), splat(0));
}

/// Inverse of a positive definite 2x2 (11, 22, 12), and one over its largest
/// eigenvalue; zeros where the diagonal has none.
TANGERE_INLINE void invertTangent(Pack w11, Pack w22, Pack w12, Pack* mass, Pack* step) {
  const Pack half = splat(0.5);
  const Pack difference = half * (w11 - w22);
  const Pack root = squareRoot(difference * difference + w12 * w12);
  const Pack high = half * (w11 + w22) + root;
  *step = reciprocal(high);
  // A block that turns freely can leave W_tt nearly singular: its low
  // eigenvalue is kept at 1e-9 of the high one.
  const Pack floor = splat(1e-9) * high * high;
  const Pack determinant = maximum(w11 * w22 - w12 * w12, floor);
  const Pack inverse = reciprocal(determinant);
  mass[0] = w22 * inverse;
  mass[1] = w11 * inverse;
  mass[2] = splat(0) - w12 * inverse;
}

TANGERE_INLINE Pack targetOf(Pack gap, Pack inverseH, const TargetRule& rule) {
  const Pack depth = splat(0) - gap;
  const Pack bias =
      minimum(splat(rule.rate) * maximum(depth - splat(rule.slop), splat(0)), splat(rule.maxSpeed));
  return select(gap > splat(0), depth * inverseH, bias);
}

/// The 2x2 block of friction on a disk: where the impulse that stops the motion
/// is within the radius it is that one, else a projected gradient step, whose
/// fixed points oppose the velocity (cutting the stopping impulse would not:
/// W_tt turns it).
TANGERE_INLINE void solveDisk(const Pack* mass, Pack step, Pack radius, Pack v1, Pack v2, Pack* l1,
                              Pack* l2) {
  const Pack stop1 = *l1 - (mass[0] * v1 + mass[2] * v2);
  const Pack stop2 = *l2 - (mass[2] * v1 + mass[1] * v2);
  const Pack radius2 = radius * radius;
  const Mask sticks = stop1 * stop1 + stop2 * stop2 <= radius2;
  if (areAll(sticks)) {  // most often so near rest; a root and a quotient less
    *l1 = stop1;
    *l2 = stop2;
    return;
  }
  const Pack slide1 = *l1 - step * v1;
  const Pack slide2 = *l2 - step * v2;
  const Pack length2 = slide1 * slide1 + slide2 * slide2;
  const Mask cuts = length2 > radius2;
  const Pack scale = select(cuts, radius / squareRoot(select(cuts, length2, splat(1))), splat(1));
  *l1 = select(sticks, stop1, slide1 * scale);
  *l2 = select(sticks, stop2, slide2 * scale);
}

void prepare(const PackView& view, int begin, int end, const TargetRule& rule) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    const Bodies body1 = gather(view.velocities, group.slot1);
    const Bodies body2 = gather(view.velocities, group.slot2);
    const Pack inverseMass = body1.inverseMass + body2.inverseMass;
    for (int k = 0; k < group.numRows; ++k) {
      RowPack& row = view.rows[group.firstRow + k];
      RowRecord& record = view.records[group.firstRow + k];
      const Axes frame = axesOf(view, group, k);
      const V3 r1 = load(row.r1), r2 = load(row.r2);
      const V3 axes[3] = {frame.t1, frame.t2, frame.n};
      V3 arm1[3], arm2[3], turn1[3], turn2[3];
      for (int i = 0; i < 3; ++i) {
        arm1[i] = cross(r1, axes[i]);
        arm2[i] = cross(r2, axes[i]);
        turn1[i] = times(group.inverseInertia1, arm1[i]);
        turn2[i] = times(group.inverseInertia2, arm2[i]);
      }
      const auto w = [&](int i, int j) {
        return inverseMass * dot(axes[i], axes[j]) + dot(arm1[i], turn1[j]) +
               dot(arm2[i], turn2[j]);
      };
      Mask isUsed;
      for (int i = 0; i < kLanes; ++i) isUsed[i] = record.point[i] >= 0 ? -1 : 0;
      const Pack none = splat(0);
      row.normalMass = select(isUsed, reciprocal(w(2, 2)), none);
      row.coupling[0] = w(0, 2);
      row.coupling[1] = w(1, 2);
      invertTangent(w(0, 0), w(1, 1), w(0, 1), row.tangentMass, &row.tangentStep);
      for (int i = 0; i < 3; ++i) row.tangentMass[i] = select(isUsed, row.tangentMass[i], none);
      row.tangentStep = select(isUsed, row.tangentStep, none);
      row.target = targetOf(record.gap, group.inverseH, rule);
      if (group.firstSpin >= 0) {
        SpinPack& spin = view.spins[group.firstSpin + k];
        V3 turn[3];
        for (int i = 0; i < 3; ++i) {
          turn[i] = times(group.inverseInertia1, axes[i]) + times(group.inverseInertia2, axes[i]);
        }
        spin.torsionalMass = select(isUsed, reciprocal(dot(axes[2], turn[2])), none);
        invertTangent(dot(axes[0], turn[0]), dot(axes[1], turn[1]), dot(axes[0], turn[1]),
                      spin.rollingMass, &spin.rollingStep);
        for (int i = 0; i < 3; ++i) {
          spin.rollingMass[i] = select(isUsed, spin.rollingMass[i], none);
        }
        spin.rollingStep = select(isUsed, spin.rollingStep, none);
      }
    }
  }
}

void warmStart(const PackView& view, int begin, int end) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    Bodies body1 = gather(view.velocities, group.slot1);
    Bodies body2 = gather(view.velocities, group.slot2);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      apply(group, along(axes, row.impulse), load(row.r1), load(row.r2), &body1, &body2);
      if (group.firstSpin >= 0) {
        applySpin(group, along(axes, view.spins[group.firstSpin + k].impulse), &body1, &body2);
      }
    }
    scatter(body1, view.velocities, group.slot1);
    scatter(body2, view.velocities, group.slot2);
  }
}

/// Torsional and rolling friction of one row, after its normal impulse.
TANGERE_INLINE Pack solveSpin(const GroupPack& group, Pack normalImpulse, const Axes& axes,
                              SpinPack* spin, Bodies* body1, Bodies* body2) {
  const auto& [t1, t2, n] = axes;
  const V3 w = body1->angular - body2->angular;
  const Pack limit = spin->torsionalFriction * normalImpulse;
  const Pack torsion =
      maximum(minimum(spin->impulse[2] - spin->torsionalMass * dot(n, w), limit), splat(0) - limit);
  Pack roll1 = spin->impulse[0], roll2 = spin->impulse[1];
  // Its coupling with the torsion is left to the next sweep: both see the same
  // velocity.
  solveDisk(spin->rollingMass, spin->rollingStep * splat(0.5),
            spin->rollingFriction * normalImpulse, dot(t1, w), dot(t2, w), &roll1, &roll2);
  const V3 impulse = (roll1 - spin->impulse[0]) * t1 + (roll2 - spin->impulse[1]) * t2 +
                     (torsion - spin->impulse[2]) * n;
  spin->impulse[0] = roll1;
  spin->impulse[1] = roll2;
  spin->impulse[2] = torsion;
  const V3 before = body1->angular - body2->angular;
  applySpin(group, impulse, body1, body2);
  const V3 change = (body1->angular - body2->angular) - before;
  return dot(change, change);
}

/// The impulses a sweep starts from: as they are, remembered for the next one, or carried on.
enum class Start { AsTheyAre, Remembered, CarriedOn };

/// A pack that is being swept.
struct SweptPack {
  const GroupPack* group;
  Bodies body1, body2;
};

TANGERE_INLINE SweptPack beginPack(const PackView& view, int g) {
  const GroupPack& group = view.groups[g];
  return {&group, gather(view.velocities, group.slot1), gather(view.velocities, group.slot2)};
}

TANGERE_INLINE void endPack(const PackView& view, const SweptPack& pack) {
  scatter(pack.body1, view.velocities, pack.group->slot1);
  scatter(pack.body2, view.velocities, pack.group->slot2);
}

/// Returns the square of the change of velocity.
template <Start kStart>
TANGERE_INLINE Pack sweepRow(const PackView& view, int k, double momentum, SweptPack* pack) {
  const GroupPack& group = *pack->group;
  RowPack& row = view.rows[group.firstRow + k];
  const Axes axes = axesOf(view, group, k);
  const auto& [t1, t2, n] = axes;
  const V3 r1 = load(row.r1), r2 = load(row.r2);
  const V3 v = velocityAt(pack->body1, pack->body2, r1, r2);

  Pack start[3] = {row.impulse[0], row.impulse[1], row.impulse[2]};
  if constexpr (kStart != Start::AsTheyAre) {
    RowMomentum& memory = view.rowMomenta[group.firstRow + k];
    for (int i = 0; i < 3; ++i) {
      const Pack now = start[i];
      if constexpr (kStart == Start::CarriedOn) {
        start[i] = now + splat(momentum) * (now - memory.last[i]);
      }
      memory.last[i] = now;
    }
  }
  const Pack normalImpulse =
      maximum(start[2] - row.normalMass * (dot(n, v) - row.target), splat(0));
  const Pack dn = normalImpulse - start[2];
  Pack l1 = start[0], l2 = start[1];
  solveDisk(row.tangentMass, row.tangentStep, row.friction * normalImpulse,
            dot(t1, v) + row.coupling[0] * dn, dot(t2, v) + row.coupling[1] * dn, &l1, &l2);

  const V3 impulse = (l1 - start[0]) * t1 + (l2 - start[1]) * t2 + dn * n;
  row.impulse[0] = l1;
  row.impulse[1] = l2;
  row.impulse[2] = normalImpulse;
  apply(group, impulse, r1, r2, &pack->body1, &pack->body2);
  const Pack inverseMass = pack->body1.inverseMass + pack->body2.inverseMass;
  Pack change = dot(impulse, impulse) * (inverseMass * inverseMass);
  if (group.firstSpin >= 0) {
    change = maximum(change, solveSpin(group, normalImpulse, axes, &view.spins[group.firstSpin + k],
                                       &pack->body1, &pack->body2));
  }
  row.change = change;
  return change;
}

/// A row waits for the one before it, a hundred operations in a row: packs that share no block are
/// therefore swept two at a time, and the machine works on one while the other waits.
template <Start kStart>
TANGERE_INLINE double sweepFrom(const PackView& view, int begin, int end, double momentum) {
  Pack worst = splat(0);
  for (int g = begin; g < end; ++g) {
    SweptPack pack = beginPack(view, g);
    const int numRows = pack.group->numRows;
    int k = 0;
    if (pack.group->isApartFromNext != 0 && g + 1 < end) {
      SweptPack other = beginPack(view, ++g);
      const int numOther = other.group->numRows;
      for (; k < numRows && k < numOther; ++k) {
        worst = maximum(worst, sweepRow<kStart>(view, k, momentum, &pack));
        worst = maximum(worst, sweepRow<kStart>(view, k, momentum, &other));
      }
      for (int i = k; i < numOther; ++i) {
        worst = maximum(worst, sweepRow<kStart>(view, i, momentum, &other));
      }
      endPack(view, other);
    }
    for (; k < numRows; ++k) worst = maximum(worst, sweepRow<kStart>(view, k, momentum, &pack));
    endPack(view, pack);
  }
  return largest(worst);
}

double sweep(const PackView& view, int begin, int end) {
  return sweepFrom<Start::AsTheyAre>(view, begin, end, 0);
}

double sweepOn(const PackView& view, int begin, int end, double momentum) {
  if (!(momentum > 0)) return sweepFrom<Start::Remembered>(view, begin, end, 0);
  return sweepFrom<Start::CarriedOn>(view, begin, end, momentum);
}

double carryOn(const PackView& view, int begin, int end, double momentum) {
  Pack along = splat(0);
  for (int slot = begin; slot < end; ++slot) {
    Pack* const velocity = reinterpret_cast<Pack*>(&view.velocities[slot]);
    SlotMomentum& memory = view.slotMomenta[slot];
    for (int i = 0; i < 2; ++i) {
      const Pack now = velocity[i];
      const Pack change = now - memory.last[i];
      along += memory.weight[i] * (change - memory.carried[i]) * memory.carried[i];
      memory.carried[i] = splat(momentum) * change;
      memory.last[i] = now;
      velocity[i] = now + memory.carried[i];
    }
  }
  return (along[0] + along[1]) + (along[2] + along[3]);
}

void finish(const PackView& view, int begin, int end, const TargetRule& rule, bool keepsImpulses) {
  const Pack half = splat(0.5);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    const Bodies sum1 = gather(view.sums, group.slot1), sum2 = gather(view.sums, group.slot2);
    const Bodies move1 = gather(view.moves, group.slot1), move2 = gather(view.moves, group.slot2);
    for (int k = 0; k < group.numRows; ++k) {
      RowPack& row = view.rows[group.firstRow + k];
      RowRecord& record = view.records[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const auto& [t1, t2, n] = axes;
      const V3 r1 = load(row.r1), r2 = load(row.r2);

      const V3 s = velocityAt(sum1, sum2, r1, r2);
      const Pack total[3] = {row.impulse[0] + record.extra[0], row.impulse[1] + record.extra[1],
                             row.impulse[2] + record.extra[2]};
      record.normalWork += half * total[2] * dot(n, s);
      record.frictionWork += half * (total[0] * dot(t1, s) + total[1] * dot(t2, s));
      record.pushedWork += row.impulse[2] * maximum(row.target, splat(0));
      record.gap += dot(n, velocityAt(move1, move2, r1, r2));
      row.target = targetOf(record.gap, group.inverseH, rule);
      for (int i = 0; i < 3; ++i) {
        record.sum[i] += row.impulse[i];
        record.extra[i] = splat(0);
        if (!keepsImpulses) row.impulse[i] = splat(0);
      }
      if (group.firstSpin >= 0) {
        SpinPack& spin = view.spins[group.firstSpin + k];
        const V3 w = sum1.angular - sum2.angular;
        record.frictionWork += half * (spin.impulse[0] * dot(t1, w) + spin.impulse[1] * dot(t2, w) +
                                       spin.impulse[2] * dot(n, w));
        for (int i = 0; i < 3; ++i) {
          spin.sum[i] += spin.impulse[i];
          if (!keepsImpulses) spin.impulse[i] = splat(0);
        }
      }
    }
  }
}

TANGERE_INLINE double sumOf(Pack a) { return (a[0] + a[1]) + (a[2] + a[3]); }
TANGERE_INLINE Pack absolute(Pack a) { return maximum(a, splat(0) - a); }

/// image = (diagonal blocks)^-1 residual; returns residual . image.
TANGERE_INLINE Pack precondition(const RowPack& row, ProjectionPack* p) {
  const Pack r1 = p->residual[0], r2 = p->residual[1];
  p->image[0] = row.tangentMass[0] * r1 + row.tangentMass[2] * r2;
  p->image[1] = row.tangentMass[2] * r1 + row.tangentMass[1] * r2;
  p->image[2] = row.normalMass * p->residual[2];
  return r1 * p->image[0] + r2 * p->image[1] + p->residual[2] * p->image[2];
}

TANGERE_INLINE Pack largestResidual(const ProjectionPack& p) {
  return maximum(maximum(absolute(p.residual[0]), absolute(p.residual[1])),
                 absolute(p.residual[2]));
}

double beginProjection(const PackView& view, int begin, int end) {
  const Pack one = splat(1), zero = splat(0);
  Pack worst = zero;
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    const Bodies body1 = gather(view.velocities, group.slot1);
    const Bodies body2 = gather(view.velocities, group.slot2);
    Pack sum = zero;
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      ProjectionPack& p = view.projections[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const V3 v = velocityAt(body1, body2, load(row.r1), load(row.r2));
      const Pack radius = row.friction * row.impulse[2];
      const Pack length2 = row.impulse[0] * row.impulse[0] + row.impulse[1] * row.impulse[1];
      p.isClosed = select(row.impulse[2] > zero, one, zero);
      // One that lies on the edge of its disk slides.
      p.isSticking = select(length2 < splat(1 - 1e-9) * (radius * radius), one, zero);
      p.residual[0] = p.isSticking * (zero - dot(axes.t1, v));
      p.residual[1] = p.isSticking * (zero - dot(axes.t2, v));
      p.residual[2] = p.isClosed * (row.target - dot(axes.n, v));
      for (int i = 0; i < 3; ++i) p.direction[i] = p.step[i] = zero;
      sum += precondition(row, &p);
      worst = maximum(worst, largestResidual(p));
    }
    view.partials[g] = sumOf(sum);
  }
  return largest(worst);
}

void spreadDirection(const PackView& view, int begin, int end, double beta) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    Bodies body1 = gather(view.pushes, group.slot1);
    Bodies body2 = gather(view.pushes, group.slot2);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      ProjectionPack& p = view.projections[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      for (int i = 0; i < 3; ++i) p.direction[i] = p.image[i] + splat(beta) * p.direction[i];
      apply(group, along(axes, p.direction), load(row.r1), load(row.r2), &body1, &body2);
    }
    scatter(body1, view.pushes, group.slot1);
    scatter(body2, view.pushes, group.slot2);
  }
}

void imageOfDirection(const PackView& view, int begin, int end) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    const Bodies body1 = gather(view.pushes, group.slot1);
    const Bodies body2 = gather(view.pushes, group.slot2);
    Pack sum = splat(0);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      ProjectionPack& p = view.projections[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const V3 v = velocityAt(body1, body2, load(row.r1), load(row.r2));
      p.image[0] = p.isSticking * dot(axes.t1, v);
      p.image[1] = p.isSticking * dot(axes.t2, v);
      p.image[2] = p.isClosed * dot(axes.n, v);
      sum +=
          p.direction[0] * p.image[0] + p.direction[1] * p.image[1] + p.direction[2] * p.image[2];
    }
    view.partials[g] = sumOf(sum);
  }
}

double advanceProjection(const PackView& view, int begin, int end, double alpha) {
  const Pack a = splat(alpha);
  Pack worst = splat(0);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    Pack sum = splat(0);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      ProjectionPack& p = view.projections[group.firstRow + k];
      for (int i = 0; i < 3; ++i) {
        p.step[i] += a * p.direction[i];
        p.residual[i] -= a * p.image[i];
      }
      sum += precondition(row, &p);
      worst = maximum(worst, largestResidual(p));
    }
    view.partials[g] = sumOf(sum);
  }
  return largest(worst);
}

double leavesCones(const PackView& view, int begin, int end) {
  Pack worst = splat(0);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      const ProjectionPack& p = view.projections[group.firstRow + k];
      const Pack normal = row.impulse[2] + p.step[2];
      const Pack l1 = row.impulse[0] + p.step[0], l2 = row.impulse[1] + p.step[1];
      const Pack radius = row.friction * normal;
      const Pack opens = select(normal <= splat(0), p.isClosed, splat(0));
      const Pack slides = select(l1 * l1 + l2 * l2 >= radius * radius, p.isSticking, splat(0));
      worst = maximum(worst, maximum(opens, slides));
    }
  }
  return largest(worst);
}

void limitStep(const PackView& view, int begin, int end) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      ProjectionPack& p = view.projections[group.firstRow + k];
      const Pack normal = maximum(row.impulse[2] + p.step[2], splat(0));
      const Pack l1 = row.impulse[0] + p.step[0], l2 = row.impulse[1] + p.step[1];
      const Pack radius = row.friction * normal;
      const Pack length2 = l1 * l1 + l2 * l2;
      const Mask cuts = length2 > radius * radius;
      const Pack scale =
          select(cuts, radius / squareRoot(select(cuts, length2, splat(1))), splat(1));
      p.step[0] = scale * l1 - row.impulse[0];
      p.step[1] = scale * l2 - row.impulse[1];
      p.step[2] = normal - row.impulse[2];
    }
  }
}

void applyStep(const PackView& view, int begin, int end, double factor, bool isExtra) {
  const Pack f = splat(factor);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    Bodies body1 = gather(view.velocities, group.slot1);
    Bodies body2 = gather(view.velocities, group.slot2);
    for (int k = 0; k < group.numRows; ++k) {
      RowPack& row = view.rows[group.firstRow + k];
      const ProjectionPack& p = view.projections[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const Pack d[3] = {f * p.step[0], f * p.step[1], f * p.step[2]};
      apply(group, along(axes, d), load(row.r1), load(row.r2), &body1, &body2);
      Pack* const impulse = isExtra ? view.records[group.firstRow + k].extra : row.impulse;
      for (int i = 0; i < 3; ++i) impulse[i] += d[i];
    }
    scatter(body1, view.velocities, group.slot1);
    scatter(body2, view.velocities, group.slot2);
  }
}

void workOfStep(const PackView& view, int begin, int end) {
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    const Bodies body1 = gather(view.velocities, group.slot1);
    const Bodies body2 = gather(view.velocities, group.slot2);
    Pack sum = splat(0);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      const ProjectionPack& p = view.projections[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const V3 v = velocityAt(body1, body2, load(row.r1), load(row.r2));
      sum += p.step[0] * dot(axes.t1, v) + p.step[1] * dot(axes.t2, v) +
             p.step[2] * (dot(axes.n, v) - row.target);
    }
    view.partials[g] = sumOf(sum);
  }
}

double beginCorrection(const PackView& view, int begin, int end, const TargetRule& rule,
                       double inverseDt) {
  Pack deepest = splat(0);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    for (int k = 0; k < group.numRows; ++k) {
      RowRecord& record = view.records[group.firstRow + k];
      const Pack excess = splat(0) - record.gap - splat(rule.slop);
      record.correction = splat(0);
      record.correctionTarget =
          select(excess > splat(0), minimum(splat(rule.rate) * excess, splat(rule.maxSpeed)),
                 splat(inverseDt) * excess);
      Mask isUsed;
      for (int i = 0; i < kLanes; ++i) isUsed[i] = record.point[i] >= 0 ? -1 : 0;
      deepest = maximum(deepest, select(isUsed, excess, splat(0)));
    }
  }
  return largest(deepest);
}

double correctionSweep(const PackView& view, int begin, int end) {
  Pack worst = splat(0);
  for (int g = begin; g < end; ++g) {
    const GroupPack& group = view.groups[g];
    Bodies body1 = gather(view.pushes, group.slot1);
    Bodies body2 = gather(view.pushes, group.slot2);
    for (int k = 0; k < group.numRows; ++k) {
      const RowPack& row = view.rows[group.firstRow + k];
      RowRecord& record = view.records[group.firstRow + k];
      const Axes axes = axesOf(view, group, k);
      const V3 n = axes.n, r1 = load(row.r1), r2 = load(row.r2);
      const Pack error = dot(n, velocityAt(body1, body2, r1, r2)) - record.correctionTarget;
      const Pack impulse = maximum(record.correction - row.normalMass * error, splat(0));
      const Pack change = impulse - record.correction;
      record.correction = impulse;
      apply(group, change * n, r1, r2, &body1, &body2);
      const Pack speed = change * (body1.inverseMass + body2.inverseMass);
      worst = maximum(worst, maximum(speed, splat(0) - speed));
    }
    scatter(body1, view.pushes, group.slot1);
    scatter(body2, view.pushes, group.slot2);
  }
  return largest(worst);
}

constexpr PackFunctions kFunctions = {.prepare = prepare,
                                      .warmStart = warmStart,
                                      .sweep = sweep,
                                      .sweepOn = sweepOn,
                                      .carryOn = carryOn,
                                      .finish = finish,
                                      .beginProjection = beginProjection,
                                      .spreadDirection = spreadDirection,
                                      .imageOfDirection = imageOfDirection,
                                      .advanceProjection = advanceProjection,
                                      .leavesCones = leavesCones,
                                      .limitStep = limitStep,
                                      .applyStep = applyStep,
                                      .workOfStep = workOfStep,
                                      .beginCorrection = beginCorrection,
                                      .correctionSweep = correctionSweep};

}  // namespace
}  // namespace tangere::solver
