// SPDX-License-Identifier: Apache-2.0
#include <tangere/collision.hpp>

#include <cstdio>

int main() {
  tangere::CollisionGroup group;
  group.add(std::make_shared<tangere::Plane>(), {});
  const auto box = std::make_shared<tangere::Box>(tangere::Vec3{0.1, 0.1, 0.1});
  group.add(box, {tangere::Mat3::identity(), {0, 0, 0.09}});
  tangere::CollisionResult result;
  group.collide(tangere::CollisionOption::fullContacts(), result);
  for (const tangere::ContactPoint& contact : result.manifolds()[0].contacts())
    std::printf("at %g %g %g, depth %.2g m\n", contact.position.x, contact.position.y,
                contact.position.z, contact.depth);
}
