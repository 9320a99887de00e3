// SPDX-License-Identifier: Apache-2.0
//
// The body of RewriteFour, included by one file for each instruction set. Everything is local to
// that file and calls no inline function of others: one compiled for AVX2 must not be the one the
// linker picks for all.
#include "collision/contact_patch_packs.hpp"

#include <cstddef>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace tangere::collision {
namespace {

#define TANGERE_INLINE inline __attribute__((always_inline))

/// Four numbers in memory: at any address, of any type.
typedef double Pack __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long Mask __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long Word __attribute__((may_alias));

// Where the points lie in packs of four numbers.
static_assert(sizeof(ContactPoint) == 64 && offsetof(ContactPoint, position) == 0 &&
              offsetof(ContactPoint, normal) == 24 && offsetof(ContactPoint, depth) == 48 &&
              offsetof(ContactPoint, feature1) == 56 && offsetof(ContactPoint, feature2) == 60);
static_assert(sizeof(ContactPatchPoint) == 160 && offsetof(ContactPatchPoint, local1) == 64 &&
              offsetof(ContactPatchPoint, local2) == 88 &&
              offsetof(ContactPatchPoint, normalImpulse) == 112 &&
              offsetof(ContactPatchPoint, tangentImpulse) == 120 &&
              offsetof(ContactPatchPoint, id) == 144 && offsetof(ContactPatchPoint, age) == 152);

struct V3 {
  Pack x, y, z;
};

TANGERE_INLINE Pack splat(double s) { return Pack{s, s, s, s}; }
TANGERE_INLINE V3 splat(const Vec3& v) { return {splat(v.x), splat(v.y), splat(v.z)}; }
TANGERE_INLINE V3 operator+(V3 a, V3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TANGERE_INLINE V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TANGERE_INLINE V3 operator*(V3 a, Pack s) { return {a.x * s, a.y * s, a.z * s}; }
TANGERE_INLINE Pack dotOf(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TANGERE_INLINE Pack squared(V3 a) { return dotOf(a, a); }
TANGERE_INLINE Pack absolute(Pack a) {
  return (Pack)((Mask)a & Mask{0x7fffffffffffffff, 0x7fffffffffffffff, 0x7fffffffffffffff,
                               0x7fffffffffffffff});
}

#if defined(__clang__)
#define TANGERE_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define TANGERE_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, Mask{i, j, k, l})
#endif

/// Lane i gets lane (i + kBy) % 4.
template <int kBy>
TANGERE_INLINE Pack turned(Pack a) {
  return TANGERE_SHUFFLE(a, a, kBy % 4, (kBy + 1) % 4, (kBy + 2) % 4, (kBy + 3) % 4);
}
template <int kBy>
TANGERE_INLINE V3 turned(V3 a) {
  return {turned<kBy>(a.x), turned<kBy>(a.y), turned<kBy>(a.z)};
}

TANGERE_INLINE void transpose(const Pack* in, Pack* out) {
  const Pack ab0 = TANGERE_SHUFFLE(in[0], in[1], 0, 4, 2, 6);
  const Pack ab1 = TANGERE_SHUFFLE(in[0], in[1], 1, 5, 3, 7);
  const Pack cd0 = TANGERE_SHUFFLE(in[2], in[3], 0, 4, 2, 6);
  const Pack cd1 = TANGERE_SHUFFLE(in[2], in[3], 1, 5, 3, 7);
  out[0] = TANGERE_SHUFFLE(ab0, cd0, 0, 1, 4, 5);
  out[1] = TANGERE_SHUFFLE(ab1, cd1, 0, 1, 4, 5);
  out[2] = TANGERE_SHUFFLE(ab0, cd0, 2, 3, 6, 7);
  out[3] = TANGERE_SHUFFLE(ab1, cd1, 2, 3, 6, 7);
}

TANGERE_INLINE int bitsOf(Mask m) {
#if defined(__AVX__)
  return _mm256_movemask_pd((__m256d)m);
#else
  return static_cast<int>((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
#endif
}
TANGERE_INLINE bool areAll(Mask m) { return bitsOf(m) == 15; }

/// R^T (p - t) for the pose (R, t).
TANGERE_INLINE V3 inFrame(const Transform& X, V3 p) {
  const V3 d = p - splat(X.translation);
  return {dotOf(splat(X.rotation.col[0]), d), dotOf(splat(X.rotation.col[1]), d),
          dotOf(splat(X.rotation.col[2]), d)};
}

/// Whether contact (i + kBy) % 4 comes before contact i: it is deeper, or as deep and first by
/// position.
template <int kBy>
TANGERE_INLINE Mask isPreceded(V3 position, Pack depth) {
  const Pack other = turned<kBy>(depth);
  const Mask isTied = other == depth;
  Mask result = other > depth;
  if (bitsOf(isTied) != 0) {
    const V3 p = turned<kBy>(position);
    result |=
        isTied &
        ((p.x < position.x) |
         ((p.x == position.x) & ((p.y < position.y) | ((p.y == position.y) & (p.z < position.z)))));
  }
  return result;
}

/// How many contacts come before each.
TANGERE_INLINE Mask placesOf(V3 position, Pack depth) {
  const Mask next = isPreceded<1>(position, depth), opposite = isPreceded<2>(position, depth);
  // No two are equal: what is not preceded by its neighbour precedes it.
  const Mask last = ~(Mask)turned<3>((Pack)next);
  return Mask{} - next - opposite - last;
}

/// Writes which point has the features of each contact. False unless each is that of one contact.
TANGERE_INLINE bool findFeatures(Mask features, const ContactPatchPoint* points, long long* found) {
  Mask index = {}, count = {};
#pragma GCC unroll 4
  for (long long k = 0; k < 4; ++k) {
    const long long code = *reinterpret_cast<const Word*>(&points[k].contact.feature1);
    const Mask isIt = features == Mask{code, code, code, code};
    index |= isIt & Mask{k, k, k, k};
    count -= isIt;
  }
  if (!areAll(count == Mask{1, 1, 1, 1})) return false;
  for (int i = 0; i < 4; ++i) found[i] = index[i];
  return (1 << found[0] | 1 << found[1] | 1 << found[2] | 1 << found[3]) == 15;
}

bool rewriteFourPoints(const ContactPoint* raw, const Transform& X_W1, const Transform& X_W2,
                       const AtRestLimits& limits, ContactPatch& patch, int* place) {
  ContactPatchPoint* const points = patch.points;
  if ((points[0].age | points[1].age | points[2].age | points[3].age) != 0) return false;
  const Pack* const rawPacks = reinterpret_cast<const Pack*>(raw);
  const Pack rawLow[4] = {rawPacks[0], rawPacks[2], rawPacks[4], rawPacks[6]};
  const Pack rawHigh[4] = {rawPacks[1], rawPacks[3], rawPacks[5], rawPacks[7]};
  Pack low[4], high[4];
  transpose(rawLow, low);
  transpose(rawHigh, high);
  const V3 position{low[0], low[1], low[2]}, normal{low[3], high[0], high[1]};
  const Pack depth = high[2];

  long long found[4];
  if (!findFeatures((Mask)high[3], points, found)) return false;
  Pack oldNormals[4], oldLow[4], oldHigh[4], oldRest[4];
  for (int i = 0; i < 4; ++i) {
    const char* const point = reinterpret_cast<const char*>(&points[found[i]]);
    oldNormals[i] = *reinterpret_cast<const Pack*>(point + 24);
    oldLow[i] = *reinterpret_cast<const Pack*>(point + 64);
    oldHigh[i] = *reinterpret_cast<const Pack*>(point + 96);
    oldRest[i] = *reinterpret_cast<const Pack*>(point + 128);
  }
  Pack last[4], local[4], rest[4];  // (normal, depth), (local1, local2.x), (local2.yz, impulse)
  transpose(oldNormals, last);
  transpose(oldLow, local);
  transpose(oldHigh, rest);

  const V3 half = normal * (splat(0.5) * depth);
  const V3 local1 = inFrame(X_W1, position - half), local2 = inFrame(X_W2, position + half);
  const Pack apart = splat(limits.squaredApart), near = splat(limits.squaredNear);
  Mask isPlain = (squared(position - turned<1>(position)) > apart) &
                 (squared(position - turned<2>(position)) > apart);
  isPlain &= absolute(squared(normal) - splat(1)) <= splat(limits.unitTolerance);
  if (!limits.allowNegativeDepth) isPlain &= depth >= splat(0);
  isPlain &= squared(local1 - V3{local[0], local[1], local[2]}) <= near;
  isPlain &= squared(local2 - V3{local[3], rest[0], rest[1]}) <= near;
  isPlain &= dotOf(normal, V3{last[0], last[1], last[2]}) >= splat(limits.normalDot);
  if (!areAll(isPlain)) return false;

  const Mask numBefore = placesOf(position, depth);
  const Pack newLow[4] = {local1.x, local1.y, local1.z, local2.x};
  const Pack newHigh[4] = {local2.y, local2.z, rest[2], rest[3]};
  transpose(newLow, local);
  transpose(newHigh, rest);
  for (int i = 0; i < 4; ++i) {
    place[i] = static_cast<int>(numBefore[i]);
    Pack* const point = reinterpret_cast<Pack*>(&points[numBefore[i]]);
    point[0] = rawPacks[2 * i];  // once more from memory: there are not so many registers
    point[1] = rawPacks[2 * i + 1];
    point[2] = local[i];
    point[3] = rest[i];
    point[4] = oldRest[i];
  }
  return true;
}

}  // namespace
}  // namespace tangere::collision
