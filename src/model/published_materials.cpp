// SPDX-License-Identifier: Apache-2.0
#include <tangere/published_materials.hpp>

#include <array>
#include <utility>

namespace tangere {

namespace {

Material elastic(const char* name, Real density, Real young, Real poisson) {
  Material out{.name = name, .density = density};
  out.contact = ContactModel::Hertz;
  out.youngsModulus = young;
  out.poissonRatio = poisson;
  return out;
}

Material withSurface(Material material, Real restitution, Real friction, Real rolling) {
  material.restitution = restitution;
  material.friction = friction;
  material.rollingResistance = rolling;
  return material;
}

MaterialPair pairOf(const char* material1, const char* material2, Real restitution, Real friction,
                    Real rolling) {
  MaterialPair out{.material1 = material1, .material2 = material2};
  out.restitution = restitution;
  out.friction = friction;
  out.rollingResistance = rolling;
  return out;
}

Material observer() {
  Material out{.name = "Observer"};
  out.contact = ContactModel::Observer;
  return out;
}

}  // namespace

std::span<const Material> publishedMaterials() {
  static const std::array<Material, 8> kMaterials{
      elastic("Aluminium", 2700, 6.9e10, 0.32),
      withSurface(elastic("BilliardBall", 1768, 5.4e9, 0.34), 1, 0, 0),
      elastic("BilliardCue", 700, 1.1e10, 0.4),
      withSurface(elastic("BilliardCushion", 700, 1.1e10, 0.4), 0.98, 0, 0),
      withSurface(elastic("BilliardTable", 700, 1.1e10, 0.4), 0, 0.8, 0.01),
      withSurface(elastic("DryWood", 700, 1.1e10, 0.4), 0.6, 0.3, 0.001),
      observer(),
      withSurface(elastic("Steel", 8000, 2e11, 0.3), 0.7, 0.5, 0.001)};
  return kMaterials;
}

const Material* findPublishedMaterial(std::string_view name) {
  for (const Material& material : publishedMaterials()) {
    if (material.name == name) return &material;
  }
  return nullptr;
}

std::span<const MaterialPair> publishedPairs() {
  static const std::array<MaterialPair, 8> kPairs{
      pairOf("BilliardBall", "BilliardBall", 1, 0, 0),
      pairOf("BilliardBall", "BilliardCushion", 0.98, 0, 0),
      pairOf("BilliardBall", "BilliardTable", 0, 0.8, 0.01),
      pairOf("BilliardBall", "DryWood", 0.8, 0.15, 0.0005),
      pairOf("BilliardBall", "Steel", 0.85, 0.25, 0.0005),
      pairOf("DryWood", "DryWood", 0.6, 0.3, 0.001),
      pairOf("DryWood", "Steel", 0.65, 0.4, 0.001),
      pairOf("Steel", "Steel", 0.7, 0.5, 0.001)};
  return kPairs;
}

const MaterialPair* findPublishedPair(std::string_view material1, std::string_view material2) {
  if (material2 < material1) std::swap(material1, material2);
  for (const MaterialPair& pair : publishedPairs()) {
    if (pair.material1 == material1 && pair.material2 == material2) return &pair;
  }
  return nullptr;
}

}  // namespace tangere
