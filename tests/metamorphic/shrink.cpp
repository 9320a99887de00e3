// SPDX-License-Identifier: Apache-2.0
#include "metamorphic/scene_case.hpp"

#include <tangere/error.hpp>

#include <algorithm>
#include <cmath>

namespace tangere::test {

namespace {

class Shrinker {
 public:
  Shrinker(Case scene, const std::function<bool(const Case&)>& fails)
      : scene_(std::move(scene)), fails_(fails) {}

  Case run() {
    bool isSmaller = true;
    while (isSmaller && numTrials_ < kMaxTrials) {
      isSmaller = leaveOutBodies();
      isSmaller = leaveOutShapes() || isSmaller;
      isSmaller = setToZero() || isSmaller;
    }
    roundNumbers();
    return scene_;
  }

 private:
  static constexpr int kMaxTrials = 400;

  /// Whether the changed case still fails; it is then the case.
  bool accept(const Case& changed) {
    if (numTrials_ >= kMaxTrials) return false;
    ++numTrials_;
    try {
      if (!fails_(changed)) return false;
    } catch (const InvalidInput&) {
      return false;
    }
    scene_ = changed;
    return true;
  }

  bool leaveOutBodies() {
    bool isSmaller = false;
    for (std::size_t i = scene_.bodies.size(); i-- > 0;) {
      if (i >= scene_.bodies.size() || scene_.bodies.size() < 2) continue;
      const std::string name = scene_.bodies[i].name;
      const bool isParent = std::any_of(scene_.bodies.begin(), scene_.bodies.end(),
                                        [&](const Body& body) { return body.parent == name; });
      if (isParent) continue;
      Case smaller = scene_;
      for (const Joint& joint : scene_.bodies[i].joints) smaller.joints.erase(joint.name);
      smaller.bodies.erase(smaller.bodies.begin() + static_cast<std::ptrdiff_t>(i));
      isSmaller = accept(smaller) || isSmaller;
    }
    return isSmaller;
  }

  bool leaveOutShapes() {
    bool isSmaller = false;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
      for (std::size_t k = scene_.bodies[i].shapes.size(); k-- > 0;) {
        if (scene_.bodies[i].shapes.size() < 2 || k >= scene_.bodies[i].shapes.size()) continue;
        Case smaller = scene_;
        auto& shapes = smaller.bodies[i].shapes;
        shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(k));
        isSmaller = accept(smaller) || isSmaller;
      }
    }
    return isSmaller;
  }

  template <class Change>
  bool attempt(const Change& change) {
    Case smaller = scene_;
    return change(smaller) && accept(smaller);
  }

  /// What the change sets to zero; false where it was zero already.
  static bool clear(Real& value) {
    const bool isNews = value != 0;
    value = 0;
    return isNews;
  }
  static bool clear(Vec3& value) {
    const bool isNews = !(value == Vec3{});
    value = {};
    return isNews;
  }

  bool setToZero() {
    bool isSmaller = false;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
      const auto tryBody = [&](const auto& change) {
        isSmaller = attempt([&](Case& c) { return change(c.bodies[i]); }) || isSmaller;
      };
      tryBody([](Body& b) { return clear(b.linearVelocity); });
      tryBody([](Body& b) { return clear(b.angularVelocity); });
      tryBody([](Body& b) { return clear(b.linearDamping); });
      tryBody([](Body& b) { return clear(b.angularDamping); });
      tryBody([](Body& b) {
        if (b.type != BodyType::Kinematic) return false;
        b.type = BodyType::Fixed;
        b.linearVelocity = b.angularVelocity = {};
        return true;
      });
    }
    for (std::size_t i = 0; i < scene_.materials.size(); ++i) {
      const auto tryMaterial = [&](const auto& change) {
        isSmaller = attempt([&](Case& c) { return change(c.materials[i]); }) || isSmaller;
      };
      tryMaterial([](Material& m) { return clear(m.friction); });
      tryMaterial([](Material& m) { return clear(m.restitution); });
      tryMaterial([](Material& m) { return clear(m.torsionalFriction); });
      tryMaterial([](Material& m) { return clear(m.rollingFriction); });
      tryMaterial([](Material& m) {
        const bool isNews = m.stiffness < kUnlimited;
        m.stiffness = kUnlimited;
        return isNews;
      });
    }
    isSmaller = attempt([](Case& c) { return clear(c.options.gravity); }) || isSmaller;
    isSmaller = attempt([](Case& c) {
                  const bool isNews = c.options.patchCache.enabled;
                  c.options.patchCache.enabled = false;
                  return isNews;
                }) ||
                isSmaller;
    return isSmaller;
  }

  static Real rounded(Real value, int digits) {
    if (value == 0 || !std::isfinite(value)) return value;
    const Real unit = std::pow(Real(10), std::floor(std::log10(std::fabs(value))) - digits + 1);
    return std::round(value / unit) * unit;
  }
  static void roundTo(Vec3& v, int digits) {
    v = {rounded(v.x, digits), rounded(v.y, digits), rounded(v.z, digits)};
  }

  void roundNumbers() {
    for (const int digits : {2, 3, 4, 6}) {
      const bool isRounded = attempt([&](Case& c) {
        for (Body& body : c.bodies) {
          roundTo(body.pose.translation, digits);
          roundTo(body.linearVelocity, digits);
          roundTo(body.angularVelocity, digits);
        }
        for (Material& m : c.materials) {
          m.friction = rounded(m.friction, digits);
          m.restitution = rounded(m.restitution, digits);
          m.density = rounded(m.density, digits);
        }
        c.options.dt = rounded(c.options.dt, digits);
        roundTo(c.options.gravity, digits);
        return true;
      });
      if (isRounded) return;
    }
  }

  Case scene_;
  const std::function<bool(const Case&)>& fails_;
  int numTrials_ = 0;
};

}  // namespace

Case shrunk(const Case& scene, const std::function<bool(const Case&)>& fails) {
  return Shrinker(scene, fails).run();
}

}  // namespace tangere::test
