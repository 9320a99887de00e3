// SPDX-License-Identifier: Apache-2.0
#include <tangere/mesh.hpp>

#include "core/assert.hpp"
#include "geometry/limits.hpp"
#include "geometry/mesh_intersection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

namespace tangere {

namespace {

/// One side of one triangle.
struct Side {
  int lower, upper;  // vertices
  int triangle;
  bool rising;  // runs lower -> upper
};

void requireUsable(const TriangleMesh& mesh);
void requireIndices(const TriangleMesh& mesh);
std::vector<Side> sortedSides(const TriangleMesh& mesh);
void inspectVertices(const TriangleMesh& mesh, MeshReport* report);
void inspectTriangles(const TriangleMesh& mesh, MeshReport* report);
void inspectEdges(const TriangleMesh& mesh, MeshReport* report);

}  // namespace

MeshReport inspectMesh(const TriangleMesh& mesh) {
  requireUsable(mesh);
  MeshReport report;
  report.numVertices = static_cast<int>(mesh.vertices.size());
  report.numTriangles = static_cast<int>(mesh.triangles.size());
  inspectVertices(mesh, &report);
  inspectTriangles(mesh, &report);
  inspectEdges(mesh, &report);
  if (report.numDuplicateVertices > 0 && !report.isWatertight()) {
    MeshReport welded;
    welded.numTriangles = report.numTriangles;
    inspectEdges(weldVertices(mesh), &welded);
    report.wouldCloseWhenWelded = welded.isWatertight();
  }
  if (report.isWatertight() && report.isConsistentlyOriented())
    report.firstIntersection = geometry::findIntersection(mesh);
  return report;
}

namespace {

const Vec3& at(const TriangleMesh& mesh, int vertex) {
  return mesh.vertices[static_cast<std::size_t>(vertex)];
}

void requireUsable(const TriangleMesh& mesh) {
  constexpr std::size_t kMax = 1u << 30;
  const std::size_t numVertices = mesh.vertices.size(), numTriangles = mesh.triangles.size();
  TANGERE_REQUIRE(numVertices < kMax && numTriangles < kMax,
                  "mesh has too many vertices or triangles (limit 2^30)", numVertices,
                  numTriangles);
  for (std::size_t i = 0; i < numVertices; ++i) {
    const auto& [x, y, z] = mesh.vertices[i];
    TANGERE_REQUIRE(geometry::isCoordinate(mesh.vertices[i]),
                    "mesh vertex must be finite and within 1e12 of the origin [m]", i, x, y, z);
  }
  requireIndices(mesh);
}

void requireIndices(const TriangleMesh& mesh) {
  const int n = static_cast<int>(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    TANGERE_REQUIRE(std::min({a, b, c}) >= 0 && std::max({a, b, c}) < n,
                    "mesh triangle has an index out of range", i, a, b, c, n);
  }
}

/// Vertex indices by place, equal places by index.
std::vector<int> sortedByPlace(const std::vector<Vec3>& vertices) {
  std::vector<int> order(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    const Vec3 &a = vertices[static_cast<std::size_t>(i)],
               &b = vertices[static_cast<std::size_t>(j)];
    if (a.x != b.x) return a.x < b.x;
    if (a.y != b.y) return a.y < b.y;
    return a.z < b.z;
  });
  return order;
}

void inspectVertices(const TriangleMesh& mesh, MeshReport* report) {
  std::vector<char> used(mesh.vertices.size(), 0);
  for (const Triangle& t : mesh.triangles) {
    for (const int v : t) used[static_cast<std::size_t>(v)] = 1;
  }
  bool first = true;
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (used[v] == 0) {
      ++report->numUnusedVertices;
      continue;
    }
    if (first) report->bounds = {mesh.vertices[v], mesh.vertices[v]};
    report->bounds.merge(mesh.vertices[v]);
    first = false;
  }
  const std::vector<int> order = sortedByPlace(mesh.vertices);
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (at(mesh, order[k]) == at(mesh, order[k - 1])) ++report->numDuplicateVertices;
  }
  const Vec3 d = report->bounds.upper - report->bounds.lower;
  const Real extent = std::fmax(d.x, std::fmax(d.y, d.z));
  if (extent > 50) report->scale = MeshScale::LikelyMillimetres;
  if (extent > 0 && extent < 1e-4) report->scale = MeshScale::LikelyMetresTwice;
}

bool isDegenerate(const Vec3& ab, const Vec3& ac, const Vec3& areaVector) {
  const Vec3 bc = ac - ab;
  const Real longest2 = std::fmax(squaredNorm(ab), std::fmax(squaredNorm(ac), squaredNorm(bc)));
  return !(norm(areaVector) > 1e-12 * longest2);
}

void inspectTriangles(const TriangleMesh& mesh, MeshReport* report) {
  const Vec3 origin = report->bounds.center();
  std::vector<std::array<int, 4>> sorted;  // vertices ascending, triangle
  sorted.reserve(mesh.triangles.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    const Vec3 a = at(mesh, t[0]) - origin;
    const Vec3 ab = at(mesh, t[1]) - at(mesh, t[0]), ac = at(mesh, t[2]) - at(mesh, t[0]);
    const Vec3 areaVector = cross(ab, ac);
    report->area += norm(areaVector) / 2;
    report->volume += dot(a, areaVector) / 6;
    if (isDegenerate(ab, ac, areaVector)) {
      if (report->numDegenerateTriangles++ == 0) {
        report->firstDegenerateTriangle = static_cast<int>(i);
      }
    }
    Triangle s = t;
    std::sort(s.begin(), s.end());
    sorted.push_back({s[0], s[1], s[2], static_cast<int>(i)});
  }
  std::sort(sorted.begin(), sorted.end());  // no ties: the triangle is part of the key
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    if (!std::equal(sorted[k].begin(), sorted[k].begin() + 3, sorted[k - 1].begin())) continue;
    const int triangle = sorted[k][3];
    if (report->numDuplicateTriangles++ == 0 || triangle < report->firstDuplicateTriangle) {
      report->firstDuplicateTriangle = triangle;
    }
  }
}

std::vector<Side> sortedSides(const TriangleMesh& mesh) {
  std::vector<Side> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const int from = t[k], to = t[(k + 1) % 3];
      sides.push_back({std::min(from, to), std::max(from, to), static_cast<int>(i), from < to});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    if (a.lower != b.lower) return a.lower < b.lower;
    if (a.upper != b.upper) return a.upper < b.upper;
    return a.triangle < b.triangle;  // a triangle has an edge once: no ties
  });
  return sides;
}

int findRoot(std::vector<int>* parent, int i) {
  auto& p = *parent;
  while (p[static_cast<std::size_t>(i)] != i) {
    p[static_cast<std::size_t>(i)] = p[static_cast<std::size_t>(p[static_cast<std::size_t>(i)])];
    i = p[static_cast<std::size_t>(i)];
  }
  return i;
}

void inspectEdges(const TriangleMesh& mesh, MeshReport* report) {
  const std::vector<Side> sides = sortedSides(mesh);
  std::vector<int> parent(mesh.triangles.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto note = [&](const Side& side, int* count, std::optional<MeshEdge>* first) {
    if ((*count)++ > 0) return;
    *first = MeshEdge{side.lower, side.upper, side.triangle,
                      at(mesh, side.lower) * 0.5 + at(mesh, side.upper) * 0.5};
  };
  for (std::size_t begin = 0; begin < sides.size();) {
    std::size_t end = begin + 1;
    while (end < sides.size() && sides[end].lower == sides[begin].lower &&
           sides[end].upper == sides[begin].upper) {
      const int a = findRoot(&parent, sides[begin].triangle);
      const int b = findRoot(&parent, sides[end].triangle);
      parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      ++end;
    }
    if (end - begin == 1) {
      note(sides[begin], &report->numOpenEdges, &report->firstOpenEdge);
    } else if (end - begin > 2) {
      note(sides[begin], &report->numNonManifoldEdges, &report->firstNonManifoldEdge);
    } else if (sides[begin].rising == sides[begin + 1].rising) {
      note(sides[begin], &report->numInconsistentEdges, &report->firstInconsistentEdge);
    }
    begin = end;
  }
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    if (parent[i] == static_cast<int>(i)) ++report->numComponents;
  }
}

std::string counted(int count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string place(const MeshEdge& edge) {
  std::ostringstream text;
  text << " (the first between vertices " << edge.vertex0 << " and " << edge.vertex1
       << " of triangle " << edge.triangle << ", at " << edge.midpoint.x << " " << edge.midpoint.y
       << " " << edge.midpoint.z << ")";
  return text.str();
}

}  // namespace

std::vector<std::string> MeshReport::findings() const {
  std::vector<std::string> out;
  if (numTriangles == 0) out.emplace_back("no triangles");
  if (numOpenEdges > 0) {
    out.push_back("not watertight: " + counted(numOpenEdges, "open edge", "open edges") +
                  place(*firstOpenEdge) +
                  (wouldCloseWhenWelded ? "; welding vertices at one place closes it" : ""));
  }
  if (numNonManifoldEdges > 0) {
    out.push_back(
        counted(numNonManifoldEdges, "edge is", "edges are") +
        " shared by more than two triangles" + place(*firstNonManifoldEdge) +
        (wouldCloseWhenWelded && numOpenEdges == 0 ? "; welding vertices closes it" : ""));
  }
  if (numInconsistentEdges > 0) {
    out.push_back("triangles face different ways across " +
                  counted(numInconsistentEdges, "edge", "edges") + place(*firstInconsistentEdge));
  }
  if (isInsideOut()) out.emplace_back("inside out: the triangles are clockwise seen from outside");
  if (firstIntersection) {
    out.push_back("the surface passes through itself" + place(*firstIntersection) +
                  ": what is inside twice counts twice in the volume");
  }
  if (isWatertight() && volume == 0) out.emplace_back("closed, but holds no volume");
  if (numDegenerateTriangles > 0) {
    out.push_back(counted(numDegenerateTriangles, "triangle has", "triangles have") +
                  " no area (the first is " + std::to_string(firstDegenerateTriangle) + ")");
  }
  if (numDuplicateTriangles > 0) {
    out.push_back(counted(numDuplicateTriangles, "triangle repeats", "triangles repeat") +
                  " an earlier one (the first is " + std::to_string(firstDuplicateTriangle) + ")");
  }
  if (numUnusedVertices > 0) {
    out.push_back(counted(numUnusedVertices, "vertex is", "vertices are") + " not used");
  }
  if (numDuplicateVertices > 0) {
    out.push_back(counted(numDuplicateVertices, "vertex is", "vertices are") +
                  " at the place of an earlier one");
  }
  if (scale == MeshScale::LikelyMillimetres) {
    out.emplace_back("more than 50 m across: probably in millimetres, scale by 0.001");
  }
  if (scale == MeshScale::LikelyMetresTwice) {
    out.emplace_back("less than 0.1 mm across: probably converted to metres twice");
  }
  return out;
}

TriangleMesh weldVertices(const TriangleMesh& mesh) {
  requireIndices(mesh);
  const std::vector<int> order = sortedByPlace(mesh.vertices);
  // The first vertex at each place; equal places are in order of index.
  std::vector<int> first(mesh.vertices.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && at(mesh, order[k]) == at(mesh, order[k - 1]);
    first[static_cast<std::size_t>(order[k])] =
        same ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
  }
  TriangleMesh out;
  std::vector<int> welded(mesh.vertices.size());
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (first[v] == static_cast<int>(v)) {
      welded[v] = static_cast<int>(out.vertices.size());
      out.vertices.push_back(mesh.vertices[v]);
    } else {
      welded[v] = welded[static_cast<std::size_t>(first[v])];
    }
  }
  out.triangles = mesh.triangles;
  for (Triangle& t : out.triangles) {
    for (int& v : t) v = welded[static_cast<std::size_t>(v)];
  }
  return out;
}

}  // namespace tangere
