// SPDX-License-Identifier: Apache-2.0
//
// The Mesh shape: everything is answered by its MeshData.
#include <tangere/shape.hpp>

#include "core/assert.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/signed_distance.hpp"

namespace tangere {

using geometry::MeshData;

namespace {

const MeshData& dataOf(const Mesh& mesh) { return *mesh.flat().mesh; }

}  // namespace

Mesh::Mesh(std::span<const Vec3> vertices, std::span<const Triangle> triangles)
    : Mesh(std::make_shared<const MeshData>(vertices, triangles)) {}

Mesh::Mesh(const std::shared_ptr<const MeshData>& data)
    : Shape(ShapeType::Mesh, data, data->bounds) {}

std::span<const Vec3> Mesh::vertices() const { return dataOf(*this).vertices; }

std::span<const Triangle> Mesh::triangles() const { return dataOf(*this).triangles; }

bool Mesh::isClosed() const { return dataOf(*this).closed; }

bool Mesh::wasInsideOut() const { return dataOf(*this).flipped; }

int Mesh::numDroppedTriangles() const { return dataOf(*this).numDropped; }

Vec3 Mesh::support(const Vec3& direction) const {
  return geometry::supportOfMesh(dataOf(*this), direction);
}

MassProperties Mesh::massProperties(Real density) const {
  const MeshData& data = dataOf(*this);
  geometry::requireDensity(density);
  TANGERE_REQUIRE(data.closed, "an open mesh has no volume, and no mass properties",
                  data.numTriangles());
  const geometry::VolumeIntegrals integrals = data.integrals();
  TANGERE_REQUIRE(integrals.volume > 0, "mesh encloses no volume [m^3]", integrals.volume);
  return integrals.massProperties(density);
}

std::optional<RayHit> Mesh::rayCast(const Ray& ray) const {
  return geometry::rayCastMesh(dataOf(*this), ray);
}

SignedDistance Mesh::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceToMesh(dataOf(*this), point);
}

}  // namespace tangere
