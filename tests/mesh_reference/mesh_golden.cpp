// SPDX-License-Identifier: Apache-2.0
//
//     mesh_golden FOLDER
//
// Writes golden pairs with meshes: mesh_cases.csv in the columns of public.csv, where the shape
// "mesh" has its number in the column of hulls, with mesh_vertices.csv and mesh_triangles.csv. All
// comes from brute force over triangles in extended precision, nothing from the engine.
#include "mesh_reference/generated_shapes.hpp"

#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>

namespace tangere::reference {
namespace {

struct GoldenBody {
  std::string kind;  ///< sphere, box, capsule, mesh
  Real a = 0, b = 0, c = 0;
  int mesh = -1;
  TriangleSoup soup{};
};

struct Pose {
  Quat q;
  Vec3 p;
};

/// R(q / |q|) x + p, from the numbers as they are written.
Point apply(const Pose& pose, const Point& x) {
  const Ext w = pose.q.w, i = pose.q.x, j = pose.q.y, k = pose.q.z;
  const Ext s = 2 / (w * w + i * i + j * j + k * k);
  return {x.x * (1 - s * (j * j + k * k)) + x.y * s * (i * j - w * k) + x.z * s * (i * k + w * j) +
              pose.p.x,
          x.x * s * (i * j + w * k) + x.y * (1 - s * (i * i + k * k)) + x.z * s * (j * k - w * i) +
              pose.p.y,
          x.x * s * (i * k - w * j) + x.y * s * (j * k + w * i) + x.z * (1 - s * (i * i + j * j)) +
              pose.p.z};
}

TriangleSoup moved(const TriangleSoup& soup, const Pose& pose) {
  TriangleSoup out;
  out.closed = soup.closed;
  out.radius = soup.radius;
  out.pieces = soup.pieces;
  for (const SoupTriangle& t : soup.triangles)
    out.add(apply(pose, t.v[0]), apply(pose, t.v[1]), apply(pose, t.v[2]));
  return out;
}

Quat randomQuat(Dice& dice) {
  return {dice.uniform(-1, 1), dice.uniform(-1, 1), dice.uniform(-1, 1), dice.uniform(0.1, 1)};
}

class Writer {
 public:
  explicit Writer(const std::string& folder)
      : cases_(folder + "/mesh_cases.csv"),
        vertices_(folder + "/mesh_vertices.csv"),
        triangles_(folder + "/mesh_triangles.csv") {
    for (std::ofstream* file : {&cases_, &vertices_, &triangles_}) *file << std::setprecision(17);
    vertices_ << "mesh,vertex,x,y,z\n";
    triangles_ << "mesh,triangle,a,b,c\n";
    cases_ << "id,category";
    for (const char* const i : {"1", "2"}) {
      cases_ << ",shape" << i;
      for (const char* const name : {"a", "b", "c", "hull", "qw", "qx", "qy", "qz", "x", "y", "z"})
        cases_ << ',' << name << i;
    }
    cases_ << ",dist,nx,ny,nz,w1x,w1y,w1z,w2x,w2y,w2z,normal_unique,scale,cert_gap,method\n";
  }

  GoldenBody addMesh(int kind, Dice& dice) {
    const GeneratedShape s = generateShape(kind, 1, dice);
    const auto& mesh = static_cast<const Mesh&>(*s.shape);
    for (std::size_t v = 0; v < mesh.vertices().size(); ++v) {
      const Vec3& p = mesh.vertices()[v];
      vertices_ << numMeshes_ << ',' << v << ',' << p.x << ',' << p.y << ',' << p.z << '\n';
    }
    for (std::size_t t = 0; t < mesh.triangles().size(); ++t) {
      const Triangle& f = mesh.triangles()[t];
      triangles_ << numMeshes_ << ',' << t << ',' << f[0] << ',' << f[1] << ',' << f[2] << '\n';
    }
    return {"mesh", 0, 0, 0, numMeshes_++, s.soup};
  }

  /// The pair as it is where `depth` is 0; else moved along the normal of its nearest points until
  /// it overlaps by `depth`, or is apart by what `depth` is below zero.
  void addCase(const GoldenBody& body1, Pose pose1, const GoldenBody& body2, const Pose& pose2,
               Real depth) {
    TriangleSoup a = moved(body1.soup, pose1);
    const TriangleSoup b = moved(body2.soup, pose2);
    Nearest near = nearest(a, b);
    if (overlaps(a, b, near)) return;
    Ext gap = near.distance - a.radius - b.radius;
    if (gap < 0.02L) return;
    Point n = (near.on2 - near.on1) * (1 / near.distance);  // from shape 1 to shape 2
    Point w1 = near.on1 + n * a.radius;
    if (depth != 0) {
      const Ext way = gap + depth;
      pose1.p += Vec3{static_cast<Real>(n.x * way), static_cast<Real>(n.y * way),
                      static_cast<Real>(n.z * way)};
      a = moved(body1.soup, pose1);
      w1 = w1 + n * way;
      const Nearest after = nearest(a, b);
      if (overlaps(a, b, after) != (depth > 0)) return;
      if (depth < 0) {
        near = after;
        gap = near.distance - a.radius - b.radius;
        n = (near.on2 - near.on1) * (1 / near.distance);
        w1 = near.on1 + n * a.radius;
      }
    }
    const Point w2 = near.on2 - n * b.radius;
    cases_ << id_++ << ',' << (depth > 0 ? "touch_plus_d" : depth < 0 ? "near" : "separated");
    write(body1, pose1);
    write(body2, pose2);
    cases_ << ',' << (depth > 0 ? -depth : static_cast<Real>(gap));
    for (const Point& p : {n, w1, w2})
      cases_ << ',' << static_cast<Real>(p.x) << ',' << static_cast<Real>(p.y) << ','
             << static_cast<Real>(p.z);
    // Of what overlaps the reference knows a way that parts: the shortest may be shorter.
    cases_ << ",0,1," << (depth > 0 ? depth : Real(1e-17)) << ",brute_force\n";
  }

  [[nodiscard]] int count() const { return id_; }

 private:
  void write(const GoldenBody& body, const Pose& pose) {
    cases_ << ',' << body.kind << ',' << body.a << ',' << body.b << ',' << body.c << ','
           << body.mesh << ',' << pose.q.w << ',' << pose.q.x << ',' << pose.q.y << ',' << pose.q.z
           << ',' << pose.p.x << ',' << pose.p.y << ',' << pose.p.z;
  }

  std::ofstream cases_, vertices_, triangles_;
  int numMeshes_ = 0, id_ = 0;
};

void writeGolden(const std::string& folder) {
  Writer writer(folder);
  Dice dice(2026);
  std::vector<GoldenBody> bodies;
  for (const int kind : {1, 5, 6, 7, 8, 9, 10, 11, 12, 13})
    bodies.push_back(writer.addMesh(kind, dice));
  const int numSolid = static_cast<int>(bodies.size());
  for (const int kind : {16, 17}) bodies.push_back(writer.addMesh(kind, dice));
  const int numMeshes = static_cast<int>(bodies.size());
  GoldenBody ball{"sphere", 0.3}, capsule{"capsule", 0.15, 0.3}, box{"box", 0.4, 0.25, 0.15};
  ball.soup.add({}, {}, {});
  ball.soup.radius = ball.a;
  capsule.soup.add({0, 0, -capsule.b}, {0, 0, capsule.b}, {0, 0, capsule.b});
  capsule.soup.radius = capsule.a;
  addTo(box.soup, boxSurface({box.a, box.b, box.c}));
  box.soup.closed = true;
  bodies.insert(bodies.end(), {ball, capsule, box});
  for (int i = 0; i < 240; ++i) {
    const int mesh = dice.below(numMeshes);
    int other = dice.below(static_cast<int>(bodies.size()));
    // Something solid comes down on what is open.
    if (mesh >= numSolid && other >= numSolid && other < numMeshes) other = dice.below(numSolid);
    const bool isMeshOpen = mesh >= numSolid;
    const GoldenBody &b1 = bodies[static_cast<std::size_t>(other)],
                     &b2 = bodies[static_cast<std::size_t>(mesh)];
    if (!isMeshOpen && other >= numSolid && other < numMeshes) continue;
    Pose pose1{randomQuat(dice), {}}, pose2{randomQuat(dice), {}};
    if (isMeshOpen) {
      pose2.q = {1, 0, 0, 0};
      pose1.p = {dice.uniform(-1, 1), dice.uniform(-1, 1), dice.uniform(0.7, 1.4)};
    } else {
      pose1.p = dice.direction() * dice.uniform(0.6, 1.6);
    }
    const Real shallow = std::pow(Real(10), dice.uniform(-5, -2));
    const int category = dice.below(4);
    const Real depth = category < 2 ? shallow : category == 2 ? -shallow : Real(0);
    writer.addCase(b1, pose1, b2, pose2, depth);
  }
  std::printf("%d cases\n", writer.count());
}

}  // namespace
}  // namespace tangere::reference

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: mesh_golden FOLDER\n");
    return 2;
  }
  tangere::reference::writeGolden(argv[1]);
  return 0;
}
