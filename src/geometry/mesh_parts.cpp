// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tangere::geometry {

namespace {

/// A union-find over indices; the lowest index stands for all that are joined.
class Joined {
 public:
  explicit Joined(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(int i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }
  void join(int i, int j) {
    const int a = find(i), b = find(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

/// Triangles that share vertices, with vertices of their own.
struct Piece {
  std::vector<Vec3> vertices{};
  std::vector<Triangle> triangles{};
  Real volume = 0;  ///< negative: its triangles face inward
  int around = -1;  ///< of a hollow: the piece it is in
};

Real volumeOf(const Piece& piece) {
  const Vec3& origin = piece.vertices[0];
  Real sum = 0;
  for (const Triangle& t : piece.triangles) {
    sum += dot(piece.vertices[t[0]] - origin,
               cross(piece.vertices[t[1]] - origin, piece.vertices[t[2]] - origin));
  }
  return sum / 6;
}

std::vector<Piece> piecesOf(const Mesh& mesh) {
  Joined joined(mesh.vertices().size());
  for (const Triangle& t : mesh.triangles()) {
    joined.join(t[0], t[1]);
    joined.join(t[0], t[2]);
  }
  std::vector<Piece> pieces;
  std::vector<int> pieceOf(mesh.vertices().size(), -1), indexOf(mesh.vertices().size(), -1);
  for (const Triangle& t : mesh.triangles()) {
    int& piece = pieceOf[joined.find(t[0])];
    if (piece < 0) {
      piece = static_cast<int>(pieces.size());
      pieces.emplace_back();
    }
    Piece& own = pieces[piece];
    Triangle moved = t;
    for (int k = 0; k < 3; ++k) {
      int& index = indexOf[t[k]];
      if (index < 0) {
        index = static_cast<int>(own.vertices.size());
        own.vertices.push_back(mesh.vertices()[t[k]]);
      }
      moved[k] = index;
    }
    own.triangles.push_back(moved);
  }
  for (Piece& piece : pieces) piece.volume = volumeOf(piece);
  return pieces;
}

/// A hollow belongs to the smallest piece that all of its vertices are inside of.
void findHollows(std::vector<Piece>* pieces,
                 const std::vector<std::shared_ptr<const Mesh>>& solid) {
  for (Piece& hollow : *pieces) {
    if (!(hollow.volume < 0)) continue;
    for (std::size_t i = 0; i < pieces->size(); ++i) {
      const Piece& outer = (*pieces)[i];
      if (!(outer.volume > -hollow.volume)) continue;
      const bool isInside =
          std::all_of(hollow.vertices.begin(), hollow.vertices.end(),
                      [&](const Vec3& p) { return solid[i]->signedDistance(p).distance < 0; });
      if (isInside && (hollow.around < 0 || outer.volume < (*pieces)[hollow.around].volume))
        hollow.around = static_cast<int>(i);
    }
  }
}

/// The solid within a piece, with its hollows.
std::shared_ptr<const Mesh> withHollows(const std::vector<Piece>& pieces, std::size_t outer) {
  std::vector<Vec3> vertices = pieces[outer].vertices;
  std::vector<Triangle> triangles = pieces[outer].triangles;
  for (const Piece& hollow : pieces) {
    if (hollow.around != static_cast<int>(outer)) continue;
    const int first = static_cast<int>(vertices.size());
    vertices.insert(vertices.end(), hollow.vertices.begin(), hollow.vertices.end());
    for (const Triangle& t : hollow.triangles)
      triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  return std::make_shared<Mesh>(vertices, triangles);
}

/// Where two solids meet, to rounding of their size.
enum class Meeting { Apart, Touching, Overlapping };

/// How deep points on the surface of a are in b: its vertices, and where its edges pass b.
Real deepestIn(const Mesh& a, const Mesh& b) {
  Real deepest = -std::numeric_limits<Real>::infinity();
  const auto look = [&](const Vec3& p) {
    deepest = std::max(deepest, -b.signedDistance(p).distance);
  };
  for (const Vec3& p : a.vertices()) look(p);
  for (const Triangle& t : a.triangles()) {
    const Vec3 &p = a.vertices()[t[0]], &q = a.vertices()[t[1]], &r = a.vertices()[t[2]];
    look((p + q + r) / 3);
    for (const auto& [from, to] : {std::pair{p, q}, std::pair{q, r}, std::pair{r, p}}) {
      const Vec3 d = to - from;
      const Real length = norm(d);
      if (!(length > 0)) continue;
      const Vec3 direction = d / length;
      const auto hit = b.rayCast({from, direction, length});
      if (!hit) continue;
      look(hit->position);
      // Where it goes on from there: halfway to where it leaves again.
      const Real skip = 1e-9 * length;
      const Real rest = length - hit->t - skip;
      if (!(rest > 0)) continue;
      const Vec3 inside = hit->position + direction * skip;
      const auto out = b.rayCast({inside, direction, rest});
      look(inside + direction * ((out ? out->t : rest) / 2));
    }
  }
  return deepest;
}

Meeting meetingOf(const Mesh& a, const Mesh& b) {
  const Aabb boxA = a.localAabb(), boxB = b.localAabb();
  const Vec3 half = boxA.halfExtents();
  const Real rounding = 1e-9 * (half.x + half.y + half.z);
  Aabb grown = boxA;
  grown.expand(rounding);
  if (!grown.overlaps(boxB)) return Meeting::Apart;
  const Real depth = std::max(deepestIn(a, b), deepestIn(b, a));
  if (depth > rounding) return Meeting::Overlapping;
  return depth >= -rounding ? Meeting::Touching : Meeting::Apart;
}

std::string count(int number, const char* what) { return std::to_string(number) + " " + what; }

}  // namespace

SolidParts splitSolid(const Mesh& mesh) {
  SolidParts out;
  std::vector<Piece> pieces = piecesOf(mesh);
  if (pieces.size() < 2) {
    out.parts.push_back({nullptr});
    return out;
  }
  std::vector<std::shared_ptr<const Mesh>> solid;
  for (const Piece& piece : pieces)
    solid.push_back(std::make_shared<Mesh>(piece.vertices, piece.triangles));  // turned outward
  findHollows(&pieces, solid);
  std::vector<std::size_t> outer;
  int numHollows = 0, numInsideOut = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].around >= 0) {
      ++numHollows;
      continue;
    }
    numInsideOut += pieces[i].volume < 0 ? 1 : 0;
    solid[i] = withHollows(pieces, i);
    outer.push_back(i);
  }
  Joined joined(pieces.size());
  int numTouching = 0, numOverlapping = 0;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    for (std::size_t j = i + 1; j < outer.size(); ++j) {
      const Meeting meeting = meetingOf(*solid[outer[i]], *solid[outer[j]]);
      if (meeting == Meeting::Apart) continue;
      (meeting == Meeting::Touching ? numTouching : numOverlapping) += 1;
      joined.join(static_cast<int>(outer[i]), static_cast<int>(outer[j]));
    }
  }
  for (const std::size_t first : outer) {
    if (joined.find(static_cast<int>(first)) != static_cast<int>(first)) continue;
    std::vector<Compound::Child> children;
    for (const std::size_t i : outer) {
      if (joined.find(static_cast<int>(i)) == static_cast<int>(first))
        children.push_back({solid[i], Transform::identity()});
    }
    const int numPieces = static_cast<int>(children.size());
    out.parts.push_back(
        numPieces == 1 ? SolidPart{children[0].shape, 1}
                       : SolidPart{std::make_shared<Compound>(std::move(children)), numPieces});
  }
  if (numOverlapping > 0)
    out.findings.push_back(
        "the surface intersects itself: " + count(numOverlapping, "pairs of its pieces overlap") +
        "; they were filled as one solid, counted once");
  if (numTouching > 0)
    out.findings.push_back(count(numTouching, "pairs of pieces of the surface touch") +
                           ": they were filled as one solid");
  if (out.parts.size() > 1)
    out.findings.push_back("the surface holds " +
                           count(static_cast<int>(out.parts.size()), "solids that do not touch") +
                           ": each was filled by itself");
  if (numHollows > 0) out.findings.push_back(count(numHollows, "hollows were left empty"));
  if (numInsideOut > 0)
    out.findings.push_back(count(numInsideOut, "pieces of the surface faced inward") +
                           " and were turned");
  return out;
}

Real distanceBetween(const Shape& a, const Shape& b) {
  Real least = std::numeric_limits<Real>::infinity();
  const auto look = [&](const Shape& from, const Shape& to, const auto& self) -> void {
    if (from.type() == ShapeType::Compound) {
      for (const Compound::Child& child : static_cast<const Compound&>(from).children())
        self(*child.shape, to, self);
      return;
    }
    for (const Vec3& p : static_cast<const Mesh&>(from).vertices())
      least = std::min(least, to.signedDistance(p).distance);
  };
  look(a, b, look);
  look(b, a, look);
  return least;
}

}  // namespace tangere::geometry
