// SPDX-License-Identifier: Apache-2.0
#include "model/pressure_shape.hpp"

#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::model {

namespace {

void takeField(const Shape& shape, const Material& material, PressureShape* out);
void takeSurface(const Shape& shape, const Material& material, PressureShape* out);
Real radiusOf(const PressureShape& shape);

}  // namespace

std::shared_ptr<const PressureShape> makePressureShape(const Shape& shape,
                                                       const Material& material) {
  auto out = std::make_shared<PressureShape>();
  const ShapeType type = shape.type();
  const bool isCompliant =
      material.contact == ContactModel::Hydroelastic && material.hydroelasticModulus < kUnlimited;
  if (type == ShapeType::Plane) {
    out->kind = isCompliant ? PressureShape::Kind::Layer : PressureShape::Kind::HalfSpace;
    out->layerGradient = material.hydroelasticModulus / material.hydroelasticThickness;
  } else if (type == ShapeType::PointCloud) {
    out->kind = PressureShape::Kind::None;
  } else if (isCompliant) {
    takeField(shape, material, out.get());
  } else {
    takeSurface(shape, material, out.get());
  }
  out->planeContact = material.planeContact;
  if (!out->vertices.empty()) out->radius = radiusOf(*out);
  return out;
}

Real meanCellSize(const TetMesh& mesh) {
  return core::cbrt(mesh.volume() / static_cast<Real>(mesh.tets().size()));
}

Real depthOfField(std::span<const Vec3> vertices, std::span<const Tet> tets,
                  std::span<const Vec3> gradient, Real highest) {
  Real volume = 0, growth = 0;
  for (std::size_t t = 0; t < tets.size(); ++t) {
    const Vec3& a = vertices[tets[t][0]];
    const Real part =
        dot(cross(vertices[tets[t][1]] - a, vertices[tets[t][2]] - a), vertices[tets[t][3]] - a);
    volume += part;
    growth += part * norm(gradient[t]);
  }
  return growth > 0 ? highest * volume / growth : kUnlimited;
}

collision::PressureMesh PressureShape::view() const {
  return {.vertices = vertices,
          .tets = tets,
          .pressure = pressure,
          .gradient = gradient,
          .surface = surface,
          .tetOfSurface = tetOfSurface,
          .tetTree = kind == Kind::Field ? &tetTree : nullptr,
          .surfaceTree = surface.empty() ? nullptr : &surfaceTree,
          .radius = radius};
}

namespace {

void takeField(const Shape& shape, const Material& material, PressureShape* out) {
  const PressureField field =
      makePressureField(shape, {.resolution = material.hydroelasticResolution});
  out->kind = PressureShape::Kind::Field;
  out->vertices.assign(field.mesh.vertices().begin(), field.mesh.vertices().end());
  out->tets.assign(field.mesh.tets().begin(), field.mesh.tets().end());
  out->surface.assign(field.mesh.surface().begin(), field.mesh.surface().end());
  out->tetOfSurface.assign(field.mesh.tetOfSurface().begin(), field.mesh.tetOfSurface().end());
  for (const Real extent : field.extent)
    out->pressure.push_back(extent * material.hydroelasticModulus);
  out->cellSize = meanCellSize(field.mesh);
  out->gradient.resize(out->tets.size());
  collision::computePressureGradients(out->vertices, out->tets, out->pressure, out->gradient);
  out->depth = depthOfField(out->vertices, out->tets, out->gradient, material.hydroelasticModulus);
  out->highest = *std::max_element(out->pressure.begin(), out->pressure.end());
  out->core = sampleCore(out->vertices, out->tets, out->pressure, out->gradient, out->depth);
  collision::buildTetTree(out->vertices, out->tets, out->pressure, &out->tetTree);
  collision::buildSurfaceTree(out->vertices, out->surface, &out->surfaceTree);
}

/// Two triangles for each cell, facing up.
void takeHeightField(const HeightField& field, PressureShape* out) {
  const int nx = field.numX(), ny = field.numY();
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      out->vertices.push_back({field.sizeX() * (Real(i) / Real(nx - 1) - Real(0.5)),
                               field.sizeY() * (Real(j) / Real(ny - 1) - Real(0.5)),
                               field.heights()[static_cast<std::size_t>(j * nx + i)]});
    }
  }
  for (int j = 0; j + 1 < ny; ++j) {
    for (int i = 0; i + 1 < nx; ++i) {
      const std::int32_t a = j * nx + i, b = a + 1, c = a + nx, d = c + 1;
      out->surface.push_back({a, b, d});
      out->surface.push_back({a, d, c});
    }
  }
}

void takeSurface(const Shape& shape, const Material& material, PressureShape* out) {
  out->kind = PressureShape::Kind::Surface;
  if (shape.type() == ShapeType::HeightField) {
    takeHeightField(static_cast<const HeightField&>(shape), out);
  } else if (shape.type() == ShapeType::Mesh) {
    const auto& mesh = static_cast<const Mesh&>(shape);
    out->vertices.assign(mesh.vertices().begin(), mesh.vertices().end());
    out->surface.assign(mesh.triangles().begin(), mesh.triangles().end());
  } else if (shape.type() == ShapeType::Box) {
    const PressureField field = makePressureField(shape, {});  // its twelve triangles
    out->vertices.assign(field.mesh.vertices().begin(), field.mesh.vertices().end());
    out->surface.assign(field.mesh.surface().begin(), field.mesh.surface().end());
  } else {
    const TetMesh mesh = meshShape(shape, {.resolution = material.hydroelasticResolution});
    out->vertices.assign(mesh.vertices().begin(), mesh.vertices().end());
    out->surface.assign(mesh.surface().begin(), mesh.surface().end());
  }
  collision::buildSurfaceTree(out->vertices, out->surface, &out->surfaceTree);
  if (shape.type() != ShapeType::HeightField)
    out->core.push_back({out->surfaceTree.bounds().center(), kUnlimited});
}

Real radiusOf(const PressureShape& shape) {
  const bool isField = shape.kind == PressureShape::Kind::Field;
  const Vec3 center = (isField ? shape.tetTree : shape.surfaceTree).bounds().center();
  Real squared = 0;
  for (const Vec3& v : shape.vertices) squared = std::max(squared, squaredNorm(v - center));
  return std::sqrt(squared);
}

}  // namespace

}  // namespace tangere::model
