// SPDX-License-Identifier: Apache-2.0
//
// The combinatorial part is qhull's, run on the points scaled to a unit box; everything metric is
// computed here from the caller's coordinates, with the normals in double-double arithmetic so that
// slivers have good planes too.
#include "geometry/convex_hull.hpp"

#include "core/assert.hpp"
#include "core/double_double.hpp"
#include "geometry/limits.hpp"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

namespace tangere::geometry {

namespace {

constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();

/// Points of one facet, unordered, and its boundary edges (empty for a triangle).
struct RawFacet {
  std::vector<int> vertices;
  std::vector<std::array<int, 2>> edges;
  Vec3 normal{};  ///< outward, in the scaled space
};

using Loops = std::vector<std::vector<int>>;

std::vector<Vec3> sortedDistinct(std::span<const Vec3> points);
void requireVolume(const std::vector<Vec3>& points, const Aabb& box, Real noise);
std::vector<Vec3> scaledToUnitBox(const std::vector<Vec3>& points, const Aabb& box, Vec3* scale);
std::vector<RawFacet> runQhull(std::vector<Vec3> points, const std::string& options,
                               std::string* failure);
Loops makeLoops(const std::vector<Vec3>& scaled, const std::vector<RawFacet>& facets);
bool buildHull(const std::vector<Vec3>& points, const Loops& loops, ConvexHull* hull);

}  // namespace

ConvexHull computeConvexHull(std::span<const Vec3> input) {
  TANGERE_REQUIRE(!input.empty(), "convex hull of no points: it needs at least 4");
  const std::size_t numPoints = input.size();
  TANGERE_REQUIRE(numPoints >= 4, "a convex hull needs at least 4 points", numPoints);
  TANGERE_REQUIRE(numPoints <= 100'000'000, "too many points for one convex hull (limit 1e8)",
                  numPoints);
  Aabb box{input[0], input[0]};
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto& [x, y, z] = input[i];
    TANGERE_REQUIRE(isCoordinate(input[i]),
                    "convex hull point must be finite and within 1e12 of the origin [m]", i, x, y,
                    z);
    box.merge(input[i]);
  }
  const std::vector<Vec3> points = sortedDistinct(input);
  // What rounding of the coordinates alone may have moved a point by.
  const Real noise = kEpsilon * std::fmax(std::fmax(std::fmax(-box.lower.x, box.upper.x),
                                                    std::fmax(-box.lower.y, box.upper.y)),
                                          std::fmax(-box.lower.z, box.upper.z));
  requireVolume(points, box, noise);

  Vec3 scale;
  const std::vector<Vec3> scaled = scaledToUnitBox(points, box, &scale);
  const Real scaledNoise = noise * std::fmax(scale.x, std::fmax(scale.y, scale.z)) + 4 * kEpsilon;
  std::string failure;
  // The tolerance within which facets are merged grows until the result is a proper polytope; the
  // first one nearly always is. Joggling the points (QJ) is the last resort.
  ConvexHull hull;
  for (int attempt = 0; attempt < 6; ++attempt) {
    std::array<char, 64> options{};
    const Real tolerance = scaledNoise * (attempt == 0 ? 4 : std::ldexp(Real(4), 3 * attempt));
    std::snprintf(options.data(), options.size(), attempt < 5 ? "qhull Pp E%.3e" : "qhull Pp QJ",
                  tolerance);
    const std::vector<RawFacet> facets = runQhull(scaled, options.data(), &failure);
    if (!facets.empty() && buildHull(points, makeLoops(scaled, facets), &hull)) return hull;
  }
  throw InvalidInput("convex hull of " + std::to_string(points.size()) +
                     " distinct points could not be computed: they are too nearly degenerate" +
                     (failure.empty() ? "" : " (" + failure + ")"));
}

namespace {

bool lexicographicLess(const Vec3& a, const Vec3& b) {
  if (a.x != b.x) return a.x < b.x;
  if (a.y != b.y) return a.y < b.y;
  return a.z < b.z;
}

std::vector<Vec3> sortedDistinct(std::span<const Vec3> points) {
  std::vector<Vec3> out(points.begin(), points.end());
  for (Vec3& p : out) p += Vec3{0, 0, 0};  // -0 becomes +0
  std::stable_sort(out.begin(), out.end(), lexicographicLess);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void requireVolume(const std::vector<Vec3>& points, const Aabb& box, Real noise) {
  const Vec3 extent = box.upper - box.lower;
  const Real size = std::fmax(extent.x, std::fmax(extent.y, extent.z));
  const auto& [x, y, z] = points[0];
  TANGERE_REQUIRE(points.size() > 1, "convex hull points all coincide", x, y, z);
  TANGERE_REQUIRE(size >= kMinSize, "convex hull points span less than 1e-12 [m]", size);
  const Real flat = std::fmax(1e-9 * size, 64 * noise);

  // A triangle that is as large as a few passes find, then the thickness seen from its plane.
  const int axis =
      extent.x >= extent.y ? (extent.x >= extent.z ? 0 : 2) : (extent.y >= extent.z ? 1 : 2);
  const auto less = [axis](const Vec3& a, const Vec3& b) { return a[axis] < b[axis]; };
  const Vec3 a = *std::min_element(points.begin(), points.end(), less);
  const Vec3 b = *std::max_element(points.begin(), points.end(), less);
  const Vec3 along = (b - a) / norm(b - a);
  Real width = 0;
  Vec3 c = a;
  for (const Vec3& p : points) {
    const Real w = norm(cross(p - a, along));
    if (w > width) {
      width = w;
      c = p;
    }
  }
  TANGERE_REQUIRE(width > flat, "convex hull points lie on one line: they span no volume", width,
                  size);
  const Vec3 across = cross(along, c - a);
  const Vec3 normal = across / norm(across);
  Real lowest = 0, highest = 0;
  for (const Vec3& p : points) {
    const Real h = dot(p - a, normal);
    lowest = std::fmin(lowest, h);
    highest = std::fmax(highest, h);
  }
  const Real thickness = highest - lowest;
  TANGERE_REQUIRE(thickness > flat, "convex hull points lie in one plane: they span no volume",
                  thickness, size);
}

/// Each axis by its own power of two: no digit is lost and a thin plate becomes a cube.
std::vector<Vec3> scaledToUnitBox(const std::vector<Vec3>& points, const Aabb& box, Vec3* scale) {
  const Vec3 center = box.center();
  for (int i = 0; i < 3; ++i) {
    int exponent = 0;
    static_cast<void>(std::frexp(box.upper[i] - box.lower[i], &exponent));
    (*scale)[i] = std::ldexp(Real(1), -exponent);
  }
  std::vector<Vec3> out(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3 d = points[k] - center;
    out[k] = {d.x * scale->x, d.y * scale->y, d.z * scale->z};
  }
  return out;
}

/// Where qhull may write: it prints its complaints to a file and must have one.
class MessageFile {
 public:
  MessageFile() : file_(open_memstream(&text_, &size_)) {}
  MessageFile(const MessageFile&) = delete;
  MessageFile& operator=(const MessageFile&) = delete;
  ~MessageFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);
  }
  [[nodiscard]] std::FILE* get() { return file_; }
  [[nodiscard]] std::string firstLine() {
    if (file_ == nullptr) return {};
    std::fflush(file_);
    const std::string all(text_ == nullptr ? "" : text_, size_);
    return all.substr(0, all.find('\n'));
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

/// One run of qhull, freed whatever happens.
class QhullRun {
 public:
  explicit QhullRun(std::FILE* errors) { qh_zero(&qh_, errors); }
  QhullRun(const QhullRun&) = delete;
  QhullRun& operator=(const QhullRun&) = delete;
  ~QhullRun() {
    qh_freeqhull(&qh_, !qh_ALL);
    int curlong, totlong;
    qh_memfreeshort(&qh_, &curlong, &totlong);
  }
  [[nodiscard]] qhT* get() { return &qh_; }

 private:
  qhT qh_;
};

std::vector<RawFacet> runQhull(std::vector<Vec3> points, const std::string& options,
                               std::string* failure) {
  static_assert(sizeof(Vec3) == 3 * sizeof(coordT));
  MessageFile messages;
  if (messages.get() == nullptr) {
    *failure = "no memory for messages";
    return {};
  }
  QhullRun run(messages.get());
  qhT* qh = run.get();
  std::string command = options;
  const int code = qh_new_qhull(qh, 3, static_cast<int>(points.size()), &points[0].x,
                                /*ismalloc=*/False, command.data(), messages.get(), messages.get());
  if (code != 0) {
    *failure = messages.firstLine();
    return {};
  }
  // Joggled input is a copy; either way the points are in the order given.
  const coordT* first = qh->first_point;
  const auto indexOf = [first](const vertexT* v) {
    return static_cast<int>((v->point - first) / 3);
  };
  std::vector<RawFacet> facets;
  facetT* facet;
  vertexT *vertex, **vertexp;
  ridgeT *ridge, **ridgep;
  FORALLfacet_(qh->facet_list) {
    RawFacet& raw = facets.emplace_back();
    raw.normal = {facet->normal[0], facet->normal[1], facet->normal[2]};
    FOREACHvertex_(facet->vertices) raw.vertices.push_back(indexOf(vertex));
    if (facet->simplicial) continue;
    FOREACHridge_(facet->ridges) {
      raw.edges.push_back({indexOf(static_cast<vertexT*>(ridge->vertices->e[0].p)),
                           indexOf(static_cast<vertexT*>(ridge->vertices->e[1].p))});
    }
  }
  return facets;
}

/// The closed walk along the edges, or nothing if they do not make one.
std::vector<int> chain(const std::vector<std::array<int, 2>>& edges) {
  std::vector<int> loop{edges[0][0], edges[0][1]};
  std::vector<bool> used(edges.size(), false);
  used[0] = true;
  while (loop.size() < edges.size() + 1) {
    bool found = false;
    for (std::size_t i = 0; i < edges.size() && !found; ++i) {
      if (used[i]) continue;
      for (int side = 0; side < 2 && !found; ++side) {
        if (edges[i][side] != loop.back()) continue;
        loop.push_back(edges[i][1 - side]);
        used[i] = true;
        found = true;
      }
    }
    if (!found) return {};
  }
  if (loop.front() != loop.back()) return {};
  loop.pop_back();
  return loop;
}

Loops makeLoops(const std::vector<Vec3>& scaled, const std::vector<RawFacet>& facets) {
  Loops loops;
  for (const RawFacet& facet : facets) {
    std::vector<int> loop = facet.edges.empty() ? facet.vertices : chain(facet.edges);
    if (loop.size() < 3) return {};
    Vec3 area{};
    const Vec3& p0 = scaled[static_cast<std::size_t>(loop[0])];
    for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
      area += cross(scaled[static_cast<std::size_t>(loop[i])] - p0,
                    scaled[static_cast<std::size_t>(loop[i + 1])] - p0);
    }
    if (dot(area, facet.normal) < 0) std::reverse(loop.begin(), loop.end());
    std::rotate(loop.begin(), std::min_element(loop.begin(), loop.end()), loop.end());
    loops.push_back(std::move(loop));
  }
  std::stable_sort(loops.begin(), loops.end());
  return loops;
}

using core::DoubleDouble;

DoubleDouble crossTerm(DoubleDouble a, DoubleDouble b, DoubleDouble c, DoubleDouble d) {
  return a * b - c * d;
}

void accumulate(DoubleDouble* sum, DoubleDouble term) {
  *sum = *sum - DoubleDouble{-term.hi, -term.lo};
}

/// Unit normal of a polygon (its vector area), good to rounding even for slivers; zero if it has
/// no area at all.
Vec3 polygonNormal(const std::vector<Vec3>& vertices, std::span<const int> loop) {
  const auto at = [&](std::size_t i) { return vertices[static_cast<std::size_t>(loop[i])]; };
  const Vec3 o = at(0);
  const auto minus = [](Real a, Real b) { return core::twoSum(a, -b); };
  std::array<DoubleDouble, 3> sum{};
  for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
    const Vec3 p = at(i), q = at(i + 1);
    const DoubleDouble ax = minus(p.x, o.x), ay = minus(p.y, o.y), az = minus(p.z, o.z);
    const DoubleDouble bx = minus(q.x, o.x), by = minus(q.y, o.y), bz = minus(q.z, o.z);
    accumulate(&sum[0], crossTerm(ay, bz, az, by));
    accumulate(&sum[1], crossTerm(az, bx, ax, bz));
    accumulate(&sum[2], crossTerm(ax, by, ay, bx));
  }
  const Vec3 area{sum[0].hi, sum[1].hi, sum[2].hi};
  const Real m = std::fmax(std::fabs(area.x), std::fmax(std::fabs(area.y), std::fabs(area.z)));
  if (!(m > 0)) return {};
  const Vec3 direction = area / m;
  return direction / norm(direction);
}

/// Lists of `values` grouped by key, each ascending.
void groupByKey(int numKeys, const std::vector<std::array<int, 2>>& keyValue,
                std::vector<int>* start, std::vector<int>* values) {
  std::vector<std::array<int, 2>> sorted = keyValue;
  std::stable_sort(sorted.begin(), sorted.end());
  start->assign(static_cast<std::size_t>(numKeys) + 1, 0);
  values->clear();
  for (const auto& [key, value] : sorted) {
    ++(*start)[static_cast<std::size_t>(key) + 1];
    values->push_back(value);
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(numKeys); ++k) {
    (*start)[k + 1] += (*start)[k];
  }
}

/// Directed edges of all faces, each with its face; false unless every edge has its twin.
bool buildEdges(ConvexHull* hull) {
  std::vector<std::array<int, 4>> directed;  // v0, v1, 0 if it runs v0 -> v1, face
  for (int f = 0; f < hull->numFaces(); ++f) {
    const std::span<const int> loop = hull->face(f);
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const int from = loop[i], to = loop[(i + 1) % loop.size()];
      directed.push_back({std::min(from, to), std::max(from, to), from < to ? 0 : 1, f});
    }
  }
  if (directed.size() % 2 != 0) return false;
  std::stable_sort(directed.begin(), directed.end());
  hull->edgeVertex.clear();
  hull->edgeFace.clear();
  std::vector<std::array<int, 2>> neighbors;
  for (std::size_t i = 0; i < directed.size(); i += 2) {
    const auto& a = directed[i];
    const auto& b = directed[i + 1];
    if (a[0] != b[0] || a[1] != b[1] || a[2] != 0 || b[2] != 1) return false;
    hull->edgeVertex.insert(hull->edgeVertex.end(), {a[0], a[1]});
    hull->edgeFace.insert(hull->edgeFace.end(), {a[3], b[3]});
    neighbors.push_back({a[0], a[1]});
    neighbors.push_back({a[1], a[0]});
  }
  groupByKey(hull->numVertices(), neighbors, &hull->neighborStart, &hull->neighbor);
  // Euler: with every edge shared by two faces, this says one closed surface without handles.
  return hull->numVertices() - hull->numEdges() + hull->numFaces() == 2;
}

/// True when each face's neighbours lie below it, up to `tolerance`.
bool isLocallyConvex(const ConvexHull& hull, Real tolerance) {
  for (int e = 0; e < hull.numEdges(); ++e) {
    for (int side = 0; side < 2; ++side) {
      const auto f =
          static_cast<std::size_t>(hull.edgeFace[static_cast<std::size_t>(2 * e + side)]);
      const int g = hull.edgeFace[static_cast<std::size_t>(2 * e + 1 - side)];
      for (const int v : hull.face(g)) {
        const Vec3& p = hull.vertices[static_cast<std::size_t>(v)];
        if (dot(hull.faceNormal[f], p) - hull.faceOffset[f] > tolerance) return false;
      }
    }
  }
  return true;
}

bool buildHull(const std::vector<Vec3>& points, const Loops& loops, ConvexHull* hull) {
  if (loops.size() < 4) return false;
  *hull = {};
  std::vector<int> compact(points.size(), -1);
  for (const std::vector<int>& loop : loops) {
    for (const int v : loop) compact[static_cast<std::size_t>(v)] = 0;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (compact[i] < 0) continue;
    compact[i] = hull->numVertices();
    hull->vertices.push_back(points[i]);
  }
  Aabb box{hull->vertices[0], hull->vertices[0]};
  for (const Vec3& p : hull->vertices) box.merge(p);
  const Real size = norm(box.upper - box.lower);

  hull->faceStart.push_back(0);
  std::vector<std::array<int, 2>> vertexFaces;
  for (const std::vector<int>& loop : loops) {
    for (const int v : loop) {
      const int index = compact[static_cast<std::size_t>(v)];
      hull->faceVertex.push_back(index);
      vertexFaces.push_back({index, hull->numFaces()});
    }
    hull->faceStart.push_back(static_cast<int>(hull->faceVertex.size()));
    hull->faceNormal.emplace_back();  // so that face() knows this one
    const std::span<const int> face = hull->face(hull->numFaces() - 1);
    const Vec3 normal = polygonNormal(hull->vertices, face);
    if (normal == Vec3{}) return false;
    hull->faceNormal.back() = normal;
    const Vec3 first = hull->vertices[static_cast<std::size_t>(face[0])];
    Real mean = 0;
    for (const int v : face) {
      mean += dot(normal, hull->vertices[static_cast<std::size_t>(v)] - first);
    }
    hull->faceOffset.push_back(dot(normal, first) + mean / static_cast<Real>(face.size()));
  }
  groupByKey(hull->numVertices(), vertexFaces, &hull->vertexFaceStart, &hull->vertexFace);
  const Real largest = std::fmax(norm(box.lower), norm(box.upper));
  return buildEdges(hull) && isLocallyConvex(*hull, 1e-12 * size + 16 * kEpsilon * largest);
}

}  // namespace

}  // namespace tangere::geometry
