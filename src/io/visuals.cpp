// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/visual.hpp>

#include <map>
#include <tuple>
#include <utility>

namespace tangere {

namespace {

std::shared_ptr<const TriangleMesh> scaled(TriangleMesh mesh, const Vec3& scale) {
  for (Vec3& v : mesh.vertices) v = {v.x * scale.x, v.y * scale.y, v.z * scale.z};
  if (scale.x * scale.y * scale.z < 0) {  // a reflection turns the triangles
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  }
  return std::make_shared<const TriangleMesh>(std::move(mesh));
}

}  // namespace

std::vector<VisualShape> readVisuals(std::vector<VisualShape> visuals,
                                     std::vector<std::string>* notes,
                                     const MeshReadLimits& limits) {
  using Key = std::tuple<std::string, Real, Real, Real>;
  std::map<Key, std::shared_ptr<const TriangleMesh>> meshes;  // null: it cannot be read
  std::vector<VisualShape> out;
  for (VisualShape& visual : visuals) {
    if (!visual.file.empty()) {
      const Key key{visual.file.string(), visual.scale.x, visual.scale.y, visual.scale.z};
      const auto [found, isNew] = meshes.try_emplace(key);
      if (isNew) {
        try {
          found->second = scaled(readMesh(visual.file, limits), visual.scale);
        } catch (const InvalidInput& error) {
          if (notes != nullptr) notes->push_back(std::string("not drawn: ") + error.what());
        }
      }
      if (found->second == nullptr) continue;
      visual.mesh = found->second;
      visual.file.clear();
    }
    out.push_back(std::move(visual));
  }
  return out;
}

}  // namespace tangere
