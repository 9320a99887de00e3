// SPDX-License-Identifier: Apache-2.0
//
// The demonstration: fills a bin with bodies of every shape, finds all contacts, casts rays and a
// shape through it, prints a table and writes a page to look at.
//
//   collision_demo [PAGE.html] [BODIES]
//
// It is a test as well: it ends with checks on what it found, and fails when one does not hold.
#include "bin_scene.hpp"
#include "scene_page.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace {

using namespace tangere;
using Clock = std::chrono::steady_clock;

Real millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<Real, std::milli>(Clock::now() - begin).count();
}

struct Findings {
  CollisionResult contacts;
  std::vector<demo::RayMark> rays;
  std::vector<GroupRayHit> rayHits;
  Motion motion;
  std::optional<GroupCastHit> castHit;
  Real contactTime_ms = 0, rayTime_ms = 0, castTime_ms = 0;
};

void findContacts(demo::BinScene& scene, Findings& found) {
  constexpr int kRepeats = 20;
  const auto begin = Clock::now();
  for (int i = 0; i < kRepeats; ++i) {
    found.contacts.clear();
    scene.group.collide(CollisionOption::fullContacts(100000), found.contacts);
  }
  found.contactTime_ms = millisecondsSince(begin) / kRepeats;
}

/// A fan of rays from one point above the rim, as a range finder would send them.
void castRays(const demo::BinScene& scene, Findings& found) {
  const Vec3 eye{-0.5, 0.5, 0.32};
  const auto begin = Clock::now();
  for (int row = 0; row < 7; ++row)
    for (int column = 0; column < 11; ++column) {
      const Vec3 aim{-0.45 + 0.09 * column, 0.35 - 0.1 * row, -0.3};
      const Ray ray{eye, aim - eye, 2};
      const auto hit = scene.group.rayCast(ray);
      const Vec3 end = hit ? hit->hit.position : eye + ray.direction * 1.2;
      found.rays.push_back({eye, end, hit.has_value()});
      if (hit) found.rayHits.push_back(*hit);
    }
  found.rayTime_ms = millisecondsSince(begin);
}

/// A capsule thrown into the pile, turning as it flies.
void castShape(const demo::BinScene& scene, const Shape& shape, Findings& found) {
  found.motion.start = {Mat3::identity(), {0.75, 0.55, 0.5}};
  found.motion.displacement = {-0.95, -0.75, -0.9};
  found.motion.rotationVector = {1.2, 0.8, 0.4};
  const auto begin = Clock::now();
  found.castHit = scene.group.shapeCast(shape, found.motion);
  found.castTime_ms = millisecondsSince(begin);
}

void printTable(const demo::BinScene& scene, const Findings& found) {
  std::map<ContactType, std::pair<int, int>> byType;
  Real deepest = 0;
  for (const ContactManifold& manifold : found.contacts.manifolds()) {
    ++byType[manifold.type].first;
    byType[manifold.type].second += manifold.count;
    deepest = std::fmax(deepest, manifold.depth());
  }
  int moving = 0;
  for (const demo::Body& body : scene.bodies) moving += body.isFixed ? 0 : 1;
  const char* names[] = {"point", "edge", "face", "patch", "unknown"};
  std::printf("%-34s %10d\n", "bodies (moving)", moving);
  std::printf("%-34s %10d\n", "pairs in contact", found.contacts.numManifolds());
  std::printf("%-34s %10d\n", "contact points", found.contacts.numContacts());
  for (const auto& [type, counts] : byType)
    std::printf("  %-32s %10d   (%d points)\n",
                (std::string(names[static_cast<int>(type)]) + " contacts").c_str(), counts.first,
                counts.second);
  std::printf("%-34s %10.3f mm\n", "deepest point", deepest * 1e3);
  std::printf("%-34s %10.3f ms\n", "all contacts of the bin", found.contactTime_ms);
  std::printf("%-34s %10zu   of %zu, %.3f ms\n", "rays that hit", found.rayHits.size(),
              found.rays.size(), found.rayTime_ms);
  if (found.castHit)
    std::printf("%-34s %10.4f   of its way: meets %s, %.3f ms\n", "shape cast stops at",
                found.castHit->impact.s, scene.bodies[found.castHit->object].name.c_str(),
                found.castTime_ms);
}

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "collision_demo: does not hold: %s\n", what);
  return holds;
}

/// Point on `object` within a hair of its surface or inside it.
bool liesOn(const CollisionObject& object, const Vec3& point) {
  return object.shape->signedDistance(inverseTimes(object.pose, point)).distance <= 1e-6;
}

bool checkFindings(demo::BinScene& scene, const Shape& thrown, const Findings& found) {
  bool good = check(found.contacts.isCollision(), "the bodies of a pile touch");
  good &= check(found.contacts.status() == QueryStatus::Ok, "every query succeeded");
  bool unitNormals = true, onOne = true;
  for (const ContactManifold& manifold : found.contacts.manifolds())
    for (const ContactPoint& contact : manifold.contacts()) {
      unitNormals &= std::fabs(norm(contact.normal) - 1) < 1e-12 && contact.depth >= 0;
      const Vec3 half = contact.normal * (contact.depth / 2);
      onOne &= liesOn(scene.group.object(manifold.object1), contact.position - half) ||
               liesOn(scene.group.object(manifold.object2), contact.position + half);
    }
  good &= check(unitNormals, "normals are unit and depths are not negative");
  good &=
      check(onOne, "each contact point is a point of one of its bodies, moved along the normal");

  scene.group.setNumThreads(4);
  CollisionResult again;
  scene.group.collide(CollisionOption::fullContacts(100000), again);
  bool same = again.numContacts() == found.contacts.numContacts();
  for (int i = 0; same && i < again.numContacts(); ++i)
    same = again.contact(i).position == found.contacts.contact(i).position &&
           again.contact(i).depth == found.contacts.contact(i).depth;
  good &= check(same, "four threads give the same bits as one");

  good &= check(!found.rayHits.empty(), "some rays hit");
  good &= check(found.castHit && found.castHit->impact.status == ImpactStatus::Hit,
                "the thrown shape meets the pile");
  if (found.castHit) {
    const CollisionObject& target = scene.group.object(found.castHit->object);
    const Transform end = found.motion.at(found.castHit->impact.s);
    good &= check(!overlap(thrown, end, *target.shape, target.pose),
                  "the thrown shape stops before it overlaps");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string page = argc > 1 ? argv[1] : "";
  const int numBodies = argc > 2 ? std::atoi(argv[2]) : 104;
  const auto begin = Clock::now();
  demo::BinScene scene = demo::makeBinScene(numBodies);
  std::printf("filled the bin in %.1f s\n\n", millisecondsSince(begin) / 1000);

  const auto thrown = std::make_shared<Capsule>(0.04, 0.06);
  Findings found;
  findContacts(scene, found);
  castRays(scene, found);
  castShape(scene, *thrown, found);
  printTable(scene, found);
  if (!checkFindings(scene, *thrown, found)) return EXIT_FAILURE;

  if (!page.empty()) {
    demo::PageContent content{&scene, &found.contacts, found.rays, {thrown, {}, true, {}}};
    const Real end = found.castHit ? found.castHit->impact.s : 1;
    for (int i = 0; i <= 8; ++i) content.cast.path.push_back(found.motion.at(end * i / 8));
    if (found.castHit) content.cast.point = found.castHit->impact.point;
    std::ofstream stream(page);
    stream << demo::makeScenePage(content);
    if (!stream.flush()) {
      std::fprintf(stderr, "collision_demo: cannot write %s\n", page.c_str());
      return EXIT_FAILURE;
    }
    std::printf("\nopen %s in a browser\n", page.c_str());
  }
  return EXIT_SUCCESS;
}
