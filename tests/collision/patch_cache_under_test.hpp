// SPDX-License-Identifier: Apache-2.0
//
// A ContactPatchCache that tests show contacts of their own making. Unless a test says otherwise
// all poses are the identity and all normals +z.
#pragma once

#include <tangere/contact_patch_cache.hpp>

#include <utility>
#include <vector>

namespace tangere::test {

inline constexpr Vec3 kUp{0, 0, 1};

inline ContactPoint contactAt(const Vec3& position, Real depth, int feature1 = -1,
                              int feature2 = -1) {
  return {.position = position,
          .normal = kUp,
          .depth = depth,
          .feature1 = feature1,
          .feature2 = feature2};
}

inline ContactManifold manifoldOf(ObjectId object1, ObjectId object2,
                                  const std::vector<ContactPoint>& points) {
  ContactManifold manifold;
  manifold.object1 = object1;
  manifold.object2 = object2;
  manifold.type = ContactType::Face;
  for (const ContactPoint& point : points) manifold.points[manifold.count++] = point;
  return manifold;
}

/// A cache that is on, with poses that a test can change.
class PatchCacheUnderTest {
 public:
  explicit PatchCacheUnderTest(ContactPatchCacheOptions options = {}) : cache_(enabled(options)) {}

  ContactPatchCache* operator->() { return &cache_; }
  ContactPatchCache& operator*() { return cache_; }
  Transform& pose(int i) { return poses_[static_cast<std::size_t>(i)]; }

  void see(const std::vector<ContactManifold>& manifolds) { cache_.update(manifolds, poses_); }
  void see(const std::vector<PairContact>& contacts) { cache_.update(contacts, poses_); }
  /// One manifold of objects 0 and 1.
  void see(const std::vector<ContactPoint>& points) { see({manifoldOf(0, 1, points)}); }
  void seeNothing() { see(std::vector<ContactManifold>{}); }

  const ContactPatch& patch(int i = 0) { return std::as_const(cache_).patches()[std::size_t(i)]; }
  const ContactPatchPoint& point(int i) { return patch().points[i]; }
  std::vector<Real> depths() {
    std::vector<Real> all;
    for (const EmittedContact& contact : cache_.contacts())
      all.push_back(cache_.point(contact).contact.depth);
    return all;
  }

 private:
  static ContactPatchCacheOptions enabled(ContactPatchCacheOptions options) {
    options.enabled = true;
    return options;
  }
  ContactPatchCache cache_;
  std::vector<Transform> poses_ = std::vector<Transform>(16);
};

inline std::vector<PairContact> streamOf(const std::vector<ContactPoint>& points) {
  std::vector<PairContact> contacts;
  for (const ContactPoint& point : points) contacts.push_back({0, 1, point});
  return contacts;
}

}  // namespace tangere::test
