// SPDX-License-Identifier: Apache-2.0
//
// Isosurface stuffing (Labelle, Shewchuk 2007). A body-centred cubic lattice is laid over the
// shape; lattice points near the surface are moved onto it, and the tetrahedra that the surface
// still cuts are replaced by stencils. All dihedral angles stay away from 0 and 180 degrees,
// whatever the shape; edges and corners of the shape are rounded to about the lattice's spacing.
//
// Lattice points are kept in blocks of 8 x 8 x 8 cells, and only in blocks that the shape reaches.
#include "core/assert.hpp"
#include "geometry/query_helpers.hpp"
#include "geometry/tet_mesher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::geometry {

namespace {

// A crossing nearer to a lattice point than this part of the edge draws the point to it. The values
// of the paper for uniform tetrahedra: they make the worst dihedral angle as good as can be.
constexpr Real kWarpLong = 0.24999;
constexpr Real kWarpShort = 0.41189;

constexpr int kBlockSide = 8;  // cells
constexpr int kNodesPerBlock = 2 * kBlockSide * kBlockSide * kBlockSide;
constexpr Real kMaxBlocks = 4e6;
constexpr Real kMaxUsedBlocks = 65536;

/// A lattice point: corner (i, j, k) of the cubic grid, or the centre of the cell above it.
struct Node {
  int i = 0, j = 0, k = 0;
  bool isCenter = false;
};

/// Where the shape is, at the points of the lattice.
class Lattice {
 public:
  Lattice(const Shape& shape, Real spacing);

  [[nodiscard]] int numNodes() const { return static_cast<int>(depth_.size()); }
  /// What a depth may be wrong by, with no fault of anybody's.
  [[nodiscard]] Real rounding() const { return rounding_; }
  [[nodiscard]] Node node(int id) const;
  /// -1 in a block that is wholly outside.
  [[nodiscard]] int id(const Node& node) const;
  [[nodiscard]] Vec3 position(const Node& node) const;
  /// Depth below the surface, negative outside. Right within one spacing of the surface; beyond,
  /// only the sign is.
  [[nodiscard]] Real depth(int id) const { return depth_[id]; }
  [[nodiscard]] Real depthAt(const Vec3& p) const {
    return skin_ - shape_.signedDistance(p).distance;
  }

 private:
  void classifyBlocks();

  const Shape& shape_;
  Real spacing_;
  Real rounding_ = 0;
  Real skin_ = 0;                // by which children of a union that just touch are made one
  Vec3 center_{};                // of the box around the shape; a corner of the grid lies on it
  std::array<int, 3> corner_{};  // number of cells from the lattice's lower corner to the centre
  std::array<int, 3> blocks_{};  // along each axis
  std::vector<std::int32_t> first_;  // node of each block, -1: outside
  std::vector<std::int32_t> block_of_;
  std::vector<Real> depth_;
};

Lattice::Lattice(const Shape& shape, Real spacing) : shape_(shape), spacing_(spacing) {
  const Aabb& box = shape.localAabb();
  center_ = box.center();
  const Vec3 half = box.halfExtents();
  if (shape.type() == ShapeType::Compound) skin_ = 1e-9 * (half.x + half.y + half.z);
  rounding_ = 2e-16 * std::fmax(maxAbs(box.lower), maxAbs(box.upper));
  Real total = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const Real cells = std::ceil(half[axis] / spacing) + 2;
    total *= std::ceil(2 * cells / kBlockSide);
    TANGERE_REQUIRE(total <= kMaxBlocks,
                    "the box around the shape has too many lattice cells at this resolution [m]",
                    spacing);
    corner_[axis] = static_cast<int>(cells);
    blocks_[axis] = static_cast<int>(std::ceil(2 * cells / kBlockSide));
  }
  classifyBlocks();
}

Node Lattice::node(int id) const {
  const int block = block_of_[id / kNodesPerBlock], local = id % kNodesPerBlock / 2;
  const int bi = block % blocks_[0], bj = block / blocks_[0] % blocks_[1],
            bk = block / (blocks_[0] * blocks_[1]);
  return {bi * kBlockSide + local % kBlockSide, bj * kBlockSide + local / kBlockSide % kBlockSide,
          bk * kBlockSide + local / (kBlockSide * kBlockSide), id % 2 != 0};
}

int Lattice::id(const Node& n) const {
  const int bi = n.i / kBlockSide, bj = n.j / kBlockSide, bk = n.k / kBlockSide;
  if (n.i < 0 || n.j < 0 || n.k < 0 || bi >= blocks_[0] || bj >= blocks_[1] || bk >= blocks_[2]) {
    return -1;
  }
  const int first = first_[(bk * blocks_[1] + bj) * blocks_[0] + bi];
  if (first < 0) return -1;
  const int local =
      (n.k % kBlockSide * kBlockSide + n.j % kBlockSide) * kBlockSide + n.i % kBlockSide;
  return first + 2 * local + (n.isCenter ? 1 : 0);
}

Vec3 Lattice::position(const Node& n) const {
  const Real shift = n.isCenter ? 0.5 : 0;
  return center_ +
         Vec3{n.i - corner_[0] + shift, n.j - corner_[1] + shift, n.k - corner_[2] + shift} *
             spacing_;
}

void Lattice::classifyBlocks() {
  const int numBlocks = blocks_[0] * blocks_[1] * blocks_[2];
  first_.assign(static_cast<std::size_t>(numBlocks), -1);
  // Points of a block are within this of its middle; one spacing more, so that no edge that crosses
  // the surface begins in a block that was not looked at closely.
  const Real reach = (kBlockSide - 0.5) / 2 * std::sqrt(Real(3)) * spacing_ + 1.001 * spacing_;
  std::vector<Real> depthOfBlock;
  for (int block = 0; block < numBlocks; ++block) {
    const Node lowest{block % blocks_[0] * kBlockSide, block / blocks_[0] % blocks_[1] * kBlockSide,
                      block / (blocks_[0] * blocks_[1]) * kBlockSide, false};
    const Real middle = (kBlockSide - 0.5) / 2 * spacing_;
    const Real depth = depthAt(position(lowest) + Vec3{middle, middle, middle});
    if (depth < -reach) continue;
    first_[block] = static_cast<std::int32_t>(block_of_.size()) * kNodesPerBlock;
    block_of_.push_back(block);
    depthOfBlock.push_back(depth > reach ? depth : 0);
    TANGERE_REQUIRE(static_cast<Real>(block_of_.size()) <= kMaxUsedBlocks,
                    "the shape reaches too many lattice cells at this resolution [m]", spacing_);
  }
  depth_.resize(block_of_.size() * kNodesPerBlock);
  for (std::size_t b = 0; b < block_of_.size(); ++b) {
    const int begin = static_cast<int>(b) * kNodesPerBlock;
    for (int n = begin; n < begin + kNodesPerBlock; ++n) {
      const Real depth = depthOfBlock[b] > 0 ? depthOfBlock[b] : depthAt(position(node(n)));
      // A point that is on the surface to rounding needs no moving.
      depth_[n] = std::fabs(depth) <= 1e-12 * spacing_ ? 0 : depth;
    }
  }
}

/// Where an edge of the lattice crosses the surface.
struct Crossing {
  std::int32_t node0 = 0, node1 = 0;
  Real part = 0;  ///< of the edge, from node0
  bool isLong = false;
  bool isAlive = true;  ///< false once one of its ends has been moved
  Vec3 position{};
};

/// A zero of the depth between p, where it is d0, and q, where it is d1 of the other sign, as a
/// part of the way: false position with the Illinois rule.
Real findCrossing(const Lattice& lattice, const Vec3& p, const Vec3& q, Real d0, Real d1) {
  Real t0 = 0, t1 = 1;
  const Real tolerance = lattice.rounding();
  int lastSide = 0;
  Real t = 0;
  for (int iteration = 0; iteration < 40; ++iteration) {
    t = t0 + (t1 - t0) * (d0 / (d0 - d1));
    const Real d = lattice.depthAt(p + (q - p) * t);
    if (std::fabs(d) <= tolerance || t1 - t0 <= 1e-14) break;
    const int side = (d > 0) == (d0 > 0) ? 0 : 1;
    if (side == 0) {
      t0 = t;
      d0 = d;
      if (iteration > 0 && lastSide == 0) d1 /= 2;
    } else {
      t1 = t;
      d1 = d;
      if (iteration > 0 && lastSide == 1) d0 /= 2;
    }
    lastSide = side;
  }
  return t;
}

constexpr std::array<std::array<int, 3>, 3> kAxes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/// All crossings, in order of their first nodes.
std::vector<Crossing> findCrossings(const Lattice& lattice) {
  std::vector<Crossing> out;
  const auto tryEdge = [&](int id0, const Node& n0, const Node& n1, bool isLong) {
    const int id1 = lattice.id(n1);
    if (id1 < 0) return;
    const Real d0 = lattice.depth(id0), d1 = lattice.depth(id1);
    if (!((d0 > 0 && d1 < 0) || (d0 < 0 && d1 > 0))) return;
    const Vec3 p = lattice.position(n0), q = lattice.position(n1);
    const Real part = findCrossing(lattice, p, q, d0, d1);
    out.push_back({.node0 = id0,
                   .node1 = id1,
                   .part = part,
                   .isLong = isLong,
                   .position = p + (q - p) * part});
  };
  for (int id = 0; id < lattice.numNodes(); ++id) {
    const Node n = lattice.node(id);
    for (const auto& [x, y, z] : kAxes) {
      tryEdge(id, n, {n.i + x, n.j + y, n.k + z, n.isCenter}, true);
    }
    if (!n.isCenter) continue;
    for (int c = 0; c < 8; ++c) {
      tryEdge(id, n, {n.i + (c & 1), n.j + (c >> 1 & 1), n.k + (c >> 2), false}, false);
    }
  }
  return out;
}

/// The lattice with its points drawn to the surface: what the stencils see.
class WarpedLattice {
 public:
  explicit WarpedLattice(const Lattice& lattice);

  [[nodiscard]] const Lattice& lattice() const { return lattice_; }
  /// 1 inside, 0 on the surface, -1 outside or where there is no such node.
  [[nodiscard]] int sign(int id) const { return id < 0 ? -1 : sign_[id]; }
  [[nodiscard]] Vec3 position(int id) const;
  /// The crossing of the edge between two nodes of opposite sign.
  [[nodiscard]] int crossingOf(int id0, int id1) const;
  [[nodiscard]] const Vec3& crossingPosition(int crossing) const {
    return crossings_[crossing].position;
  }
  [[nodiscard]] int numCrossings() const { return static_cast<int>(crossings_.size()); }

 private:
  void connect();
  void warp();

  const Lattice& lattice_;
  std::vector<Crossing> crossings_;
  std::vector<std::int8_t> sign_;
  std::vector<std::int32_t> moved_to_;  // crossing that a node was moved to, or -1
  std::vector<std::int32_t> start_;     // of each node's crossings in incident_
  std::vector<std::int32_t> incident_;
};

WarpedLattice::WarpedLattice(const Lattice& lattice)
    : lattice_(lattice), crossings_(findCrossings(lattice)) {
  sign_.resize(static_cast<std::size_t>(lattice.numNodes()));
  for (int id = 0; id < lattice.numNodes(); ++id) {
    sign_[id] = static_cast<std::int8_t>(lattice.depth(id) > 0   ? 1
                                         : lattice.depth(id) < 0 ? -1
                                                                 : 0);
  }
  moved_to_.assign(sign_.size(), -1);
  connect();
  warp();
}

Vec3 WarpedLattice::position(int id) const {
  return moved_to_[id] >= 0 ? crossings_[moved_to_[id]].position
                            : lattice_.position(lattice_.node(id));
}

void WarpedLattice::connect() {
  start_.assign(sign_.size() + 1, 0);
  for (const Crossing& c : crossings_) {
    ++start_[c.node0 + 1];
    ++start_[c.node1 + 1];
  }
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  incident_.resize(2 * crossings_.size());
  std::vector<std::int32_t> next(start_.begin(), start_.end() - 1);
  for (int c = 0; c < numCrossings(); ++c) {
    incident_[next[crossings_[c].node0]++] = c;
    incident_[next[crossings_[c].node1]++] = c;
  }
}

/// Every node with a crossing too near moves to the nearest such one. Its other crossings vanish,
/// so a neighbour may then stay where it is.
void WarpedLattice::warp() {
  const Real shortLength = std::sqrt(Real(3)) / 2;
  for (int id = 0; id < lattice_.numNodes(); ++id) {
    int nearest = -1;
    Real least = std::numeric_limits<Real>::infinity();
    for (int k = start_[id]; k < start_[id + 1]; ++k) {
      const Crossing& c = crossings_[incident_[k]];
      if (!c.isAlive) continue;
      const Real part = c.node0 == id ? c.part : 1 - c.part;
      if (part >= (c.isLong ? kWarpLong : kWarpShort)) continue;
      const Real distance = c.isLong ? part : part * shortLength;
      if (distance >= least) continue;
      nearest = incident_[k];
      least = distance;
    }
    if (nearest < 0) continue;
    moved_to_[id] = nearest;
    sign_[id] = 0;
    for (int k = start_[id]; k < start_[id + 1]; ++k) crossings_[incident_[k]].isAlive = false;
  }
}

int WarpedLattice::crossingOf(int id0, int id1) const {
  for (int k = start_[id0]; k < start_[id0 + 1]; ++k) {
    const Crossing& c = crossings_[incident_[k]];
    if (c.node0 == id1 || c.node1 == id1) return incident_[k];
  }
  TANGERE_ASSERT(false);
  return -1;
}

/// A tetrahedron of the lattice: two centres of cells and an edge of the face between them. The
/// long edges are those between nodes 0 and 1 and between nodes 2 and 3.
using LatticeTet = std::array<std::int32_t, 4>;

bool isLongEdge(int a, int b) { return a / 2 == b / 2; }

/// Calls visit(tet) for the lattice tetrahedra with a node inside.
template <class Visit>
void visitTets(const WarpedLattice& warped, const Visit& visit) {
  const Lattice& lattice = warped.lattice();
  for (int id = 1; id < lattice.numNodes(); id += 2) {
    const Node c = lattice.node(id);
    for (int axis = 0; axis < 3; ++axis) {
      const auto& step = kAxes[axis];
      const auto &u = kAxes[(axis + 1) % 3], &v = kAxes[(axis + 2) % 3];
      const int next = lattice.id({c.i + step[0], c.j + step[1], c.k + step[2], true});
      std::array<int, 4> corner{};  // of the face between both cells, going round
      for (int q = 0; q < 4; ++q) {
        const int du = q == 1 || q == 2 ? 1 : 0, dv = q / 2;
        corner[q] = lattice.id({c.i + step[0] + du * u[0] + dv * v[0],
                                c.j + step[1] + du * u[1] + dv * v[1],
                                c.k + step[2] + du * u[2] + dv * v[2], false});
      }
      for (int q = 0; q < 4; ++q) {
        const LatticeTet tet{id, next, corner[q], corner[(q + 1) % 4]};
        if (warped.sign(tet[0]) > 0 || warped.sign(tet[1]) > 0 || warped.sign(tet[2]) > 0 ||
            warped.sign(tet[3]) > 0) {
          visit(tet);
        }
      }
    }
  }
}

/// Places of a tetrahedron's nodes by their sign.
struct SignedPlaces {
  std::array<int, 4> inside{}, surface{}, outside{};
  int numInside = 0, numSurface = 0, numOutside = 0;
};

SignedPlaces placesOf(const WarpedLattice& warped, const LatticeTet& tet) {
  SignedPlaces out;
  for (int k = 0; k < 4; ++k) {
    const int sign = warped.sign(tet[k]);
    if (sign > 0) out.inside[out.numInside++] = k;
    if (sign == 0) out.surface[out.numSurface++] = k;
    if (sign < 0) out.outside[out.numOutside++] = k;
  }
  return out;
}

int numTetsOfStencil(const SignedPlaces& places) {
  if (places.numOutside == 0 || places.numInside == 1) return 1;
  return places.numSurface == 1 ? 2 : 3;
}

/// Replaces tetrahedra by stencils and numbers the vertices that are used, in order of use.
class StencilWriter {
 public:
  explicit StencilWriter(const WarpedLattice& warped)
      : warped_(warped),
        vertex_of_node_(static_cast<std::size_t>(warped.lattice().numNodes()), -1),
        vertex_of_crossing_(static_cast<std::size_t>(warped.numCrossings()), -1) {}

  void add(const LatticeTet& tet);
  [[nodiscard]] TetPieces take() { return std::move(out_); }

 private:
  [[nodiscard]] int vertexAt(int node);
  [[nodiscard]] int crossingBetween(int node0, int node1);
  /// Whether the side between the nodes a, b inside and m outside is cut from a to the crossing of
  /// b and m, rather than from b. Looks at nothing but the side, so both tetrahedra at it agree.
  [[nodiscard]] bool isCutFromFirst(const LatticeTet& tet, int a, int b, int m);
  void addPrism(const std::array<int, 3>& bottom, const std::array<int, 3>& top,
                const std::array<bool, 3>& rises);
  void addPyramid(const LatticeTet& tet, const SignedPlaces& places);
  void addWedge(const LatticeTet& tet, const SignedPlaces& places);
  void addTruncated(const LatticeTet& tet, const SignedPlaces& places);

  const WarpedLattice& warped_;
  std::vector<std::int32_t> vertex_of_node_, vertex_of_crossing_;
  TetPieces out_;
};

int StencilWriter::vertexAt(int node) {
  int& vertex = vertex_of_node_[node];
  if (vertex < 0) {
    vertex = static_cast<int>(out_.vertices.size());
    out_.vertices.push_back(warped_.position(node));
  }
  return vertex;
}

int StencilWriter::crossingBetween(int node0, int node1) {
  const int crossing = warped_.crossingOf(node0, node1);
  int& vertex = vertex_of_crossing_[crossing];
  if (vertex < 0) {
    vertex = static_cast<int>(out_.vertices.size());
    out_.vertices.push_back(warped_.crossingPosition(crossing));
  }
  return vertex;
}

bool StencilWriter::isCutFromFirst(const LatticeTet& tet, int a, int b, int m) {
  // Towards the crossing on a long edge: of two long edges never both end at m.
  if (isLongEdge(b, m)) return true;
  if (isLongEdge(a, m)) return false;
  // Between two short ones the shorter diagonal, where the paper counts coordinates: both fit, and
  // over fields of noise the angles stay within 11.4 and 157 degrees.
  const auto length2 = [&](int from, int other) {
    const int crossing = warped_.crossingOf(tet[other], tet[m]);
    return squaredNorm(warped_.crossingPosition(crossing) - warped_.position(tet[from]));
  };
  const Real fromA = length2(a, b), fromB = length2(b, a);
  if (fromA != fromB) return fromA < fromB;
  return tet[a] < tet[b];
}

/// A prism whose side between columns k and k + 1 is cut from the bottom of k to the top of k + 1
/// where rises[k], else from the bottom of k + 1 to the top of k. Not all three may be equal.
void StencilWriter::addPrism(const std::array<int, 3>& bottom, const std::array<int, 3>& top,
                             const std::array<bool, 3>& rises) {
  // The column that both its sides leave from at the bottom comes first.
  int first = 0;
  for (int k = 0; k < 3; ++k) {
    if (rises[k] && !rises[(k + 2) % 3]) first = k;
  }
  const int x = (first + 1) % 3, y = (first + 2) % 3;
  const int second = rises[x] ? x : y, third = rises[x] ? y : x;
  out_.tets.push_back({bottom[first], bottom[second], bottom[third], top[third]});
  out_.tets.push_back({bottom[first], bottom[second], top[second], top[third]});
  out_.tets.push_back({bottom[first], top[first], top[second], top[third]});
}

void StencilWriter::addPyramid(const LatticeTet& tet, const SignedPlaces& places) {
  const int a = places.inside[0], b = places.inside[1], m = places.outside[0];
  const int apex = vertexAt(tet[places.surface[0]]);
  const int va = vertexAt(tet[a]), vb = vertexAt(tet[b]);
  const int ca = crossingBetween(tet[a], tet[m]), cb = crossingBetween(tet[b], tet[m]);
  if (isCutFromFirst(tet, a, b, m)) {
    out_.tets.push_back({apex, va, vb, cb});
    out_.tets.push_back({apex, va, cb, ca});
  } else {
    out_.tets.push_back({apex, va, vb, ca});
    out_.tets.push_back({apex, vb, cb, ca});
  }
}

void StencilWriter::addWedge(const LatticeTet& tet, const SignedPlaces& places) {
  const int a = places.inside[0], b = places.inside[1];
  const int m = places.outside[0], n = places.outside[1];
  const std::array<int, 3> bottom{vertexAt(tet[a]), crossingBetween(tet[a], tet[m]),
                                  crossingBetween(tet[a], tet[n])};
  const std::array<int, 3> top{vertexAt(tet[b]), crossingBetween(tet[b], tet[m]),
                               crossingBetween(tet[b], tet[n])};
  const bool toM = isCutFromFirst(tet, a, b, m), toN = isCutFromFirst(tet, a, b, n);
  // The side on the surface has no neighbour: cut so that the prism can be filled and, where that
  // leaves a choice, along its shorter diagonal.
  const auto length2 = [&](int u, int v) {
    return squaredNorm(out_.vertices[u] - out_.vertices[v]);
  };
  bool rises = !toM;
  if (toM == toN) rises = length2(bottom[1], top[2]) <= length2(bottom[2], top[1]);
  addPrism(bottom, top, {toM, rises, !toN});
}

void StencilWriter::addTruncated(const LatticeTet& tet, const SignedPlaces& places) {
  const auto& [a, b, c, unused] = places.inside;
  const int m = places.outside[0];
  const std::array<int, 3> bottom{vertexAt(tet[a]), vertexAt(tet[b]), vertexAt(tet[c])};
  const std::array<int, 3> top{crossingBetween(tet[a], tet[m]), crossingBetween(tet[b], tet[m]),
                               crossingBetween(tet[c], tet[m])};
  addPrism(
      bottom, top,
      {isCutFromFirst(tet, a, b, m), isCutFromFirst(tet, b, c, m), isCutFromFirst(tet, c, a, m)});
}

void StencilWriter::add(const LatticeTet& tet) {
  const SignedPlaces places = placesOf(warped_, tet);
  if (places.numOutside == 0) {
    out_.tets.push_back({vertexAt(tet[0]), vertexAt(tet[1]), vertexAt(tet[2]), vertexAt(tet[3])});
  } else if (places.numInside == 1) {
    const int a = tet[places.inside[0]];
    Tet piece{vertexAt(a), 0, 0, 0};
    int size = 1;
    for (int k = 0; k < places.numSurface; ++k) piece[size++] = vertexAt(tet[places.surface[k]]);
    for (int k = 0; k < places.numOutside; ++k) {
      piece[size++] = crossingBetween(a, tet[places.outside[k]]);
    }
    out_.tets.push_back(piece);
  } else if (places.numSurface == 1) {
    addPyramid(tet, places);
  } else if (places.numInside == 2) {
    addWedge(tet, places);
  } else {
    addTruncated(tet, places);
  }
}

}  // namespace

TetPieces stuffShape(const Shape& shape, Real volume, Real spacing, int maxTets) {
  requireTetCount(12 * volume / (spacing * spacing * spacing), spacing, maxTets);
  const Lattice lattice(shape, spacing);
  const WarpedLattice warped(lattice);
  Real numTets = 0;
  visitTets(warped,
            [&](const LatticeTet& tet) { numTets += numTetsOfStencil(placesOf(warped, tet)); });
  requireTetCount(numTets, spacing, maxTets);
  StencilWriter writer(warped);
  visitTets(warped, [&](const LatticeTet& tet) { writer.add(tet); });
  return writer.take();
}

}  // namespace tangere::geometry
