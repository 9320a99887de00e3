// SPDX-License-Identifier: Apache-2.0
//
// Random trees with joints of every kind, and states for them. The same numbers on every machine.
#pragma once

#include <tangere/dynamics.hpp>

#include "math/quat.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tangere::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// In [0, 1).
  Real unit() { return static_cast<Real>(engine_() >> 11) * 0x1p-53; }
  Real between(Real lower, Real upper) { return lower + (upper - lower) * unit(); }
  int below(int n) { return static_cast<int>(unit() * n); }
  Vec3 vec3(Real size) {
    const Real x = between(-size, size), y = between(-size, size);
    return {x, y, between(-size, size)};
  }
  std::vector<Real> vector(std::size_t n, Real size) {
    std::vector<Real> out(n);
    for (Real& x : out) x = between(-size, size);
    return out;
  }
  Mat3 rotation() { return math::rotationExp(vec3(3)); }

 private:
  std::mt19937_64 engine_;
};

struct TreeOptions {
  std::uint64_t seed = 1;
  int numLinks = 5;
  bool isFloating = false;
  bool isChain = false;
  Vec3 at{};  ///< where the root is
  Vec3 gravity{1, -2, -9.81};
  Real massSpread = 10;    ///< masses from 1/spread to spread
  bool hasPassive = true;  ///< springs, damping, armature, scaled gravity
};

inline std::string linkName(int i) {
  std::string name("link");
  name += std::to_string(1000 + i);  // so that the order of names is the order of numbers
  return name;
}

/// How many ways a joint turns and shifts; a link with more than three of either may be singular.
inline int numTurns(JointType type) {
  if (type == JointType::Ball) return 3;
  return type == JointType::Prismatic ? 0 : (type == JointType::Universal ? 2 : 1);
}
inline int numShifts(JointType type) {
  return type == JointType::Planar ? 2 : (type == JointType::Prismatic ? 1 : 0);
}

inline Joint randomJoint(Random& random, const TreeOptions& options, const std::string& name) {
  constexpr JointType kTypes[] = {JointType::Revolute, JointType::Revolute, JointType::Prismatic,
                                  JointType::Screw,    JointType::Ball,     JointType::Universal,
                                  JointType::Planar};
  Joint joint;
  joint.name = name;
  joint.type = kTypes[random.below(7)];
  joint.axis = random.vec3(1);
  if (random.unit() < 0.5) {
    joint.axis = {};
    joint.axis[random.below(3)] = random.unit() < 0.5 ? 1 : -1;
  }
  const Vec3 other = random.vec3(1);
  joint.axis2 = cross(joint.axis, other);
  if (random.unit() < 0.7) joint.position = random.vec3(0.3);
  joint.pitch = joint.type == JointType::Screw ? random.between(-0.5, 0.5) : 0;
  const bool isScalar = joint.type == JointType::Revolute || joint.type == JointType::Prismatic ||
                        joint.type == JointType::Screw;
  if (isScalar && random.unit() < 0.5) joint.reference = random.between(-1, 1);
  if (!options.hasPassive) return joint;
  joint.armature = random.unit() < 0.5 ? random.between(0, 0.1) : 0;
  joint.damping = random.between(0, 1);
  joint.stiffness = random.unit() < 0.5 ? random.between(0, 5) : 0;
  joint.springReference = isScalar ? random.between(-0.3, 0.3) : 0;
  return joint;
}

/// A body whose inertia is one of matter: that of point masses.
inline MassProperties randomMass(Random& random, Real spread) {
  MassProperties mass;
  mass.mass = std::pow(spread, random.between(-1, 1));
  mass.center = random.vec3(0.3);
  for (int i = 0; i < 6; ++i) {
    const Vec3 p = random.vec3(0.4);
    const Real m = mass.mass / 6;
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 3; ++r)
        mass.inertia(r, c) += m * ((r == c ? squaredNorm(p) : 0) - p[r] * p[c]);
    }
  }
  return mass;
}

inline std::vector<Body> randomBodies(const TreeOptions& options) {
  Random random(options.seed);
  std::vector<Body> bodies;
  for (int i = 0; i < options.numLinks; ++i) {
    Body body;
    body.name = linkName(i);
    if (i > 0) body.parent = linkName(options.isChain ? i - 1 : random.below(i));
    body.pose.translation = i == 0 ? options.at + random.vec3(0.5) : random.vec3(0.5);
    if (random.unit() < 0.7) body.pose.rotation = random.rotation();
    body.massProperties = randomMass(random, options.massSpread);
    if (options.hasPassive) {
      body.gravityScale = random.unit() < 0.3 ? random.between(-1, 2) : 1;
      body.linearDamping = random.unit() < 0.3 ? random.between(0, 1) : 0;
      body.angularDamping = random.unit() < 0.3 ? random.between(0, 1) : 0;
    }
    const bool isFree = i == 0 && options.isFloating;
    const bool isWelded = i > 0 && random.unit() < 0.1;
    const int numJoints = isFree || isWelded ? 0 : 1 + random.below(2);
    for (int j = 0; j < numJoints; ++j) {
      std::string name = body.name;
      name += "_";
      name += std::to_string(j);
      const Joint joint = randomJoint(random, options, name);
      if (j > 0 && numTurns(joint.type) + numTurns(body.joints[0].type) > 3) continue;
      if (j > 0 && numShifts(joint.type) + numShifts(body.joints[0].type) > 3) continue;
      body.joints.push_back(joint);
      // The second one is not along the same axis.
      if (j > 0) body.joints.back().axis = body.joints.back().axis2;
      if (j > 0) body.joints.back().axis2 = joint.axis;
    }
    bodies.push_back(body);
  }
  return bodies;
}

inline Model buildTree(const std::vector<Body>& bodies, const Vec3& gravity) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.gravity = gravity;
  builder.setOptions(options);
  for (const Body& body : bodies) builder.addBody(body);
  return builder.build();
}

inline Model randomTree(const TreeOptions& options) {
  return buildTree(randomBodies(options), options.gravity);
}

/// Somewhere near the start, in motion.
inline State randomState(const Model& model, std::uint64_t seed, Real speed = 1) {
  Random random(seed);
  State state(model);
  state.q = integratePositions(model, state.q, random.vector(state.v.size(), 1), 1);
  state.v = random.vector(state.v.size(), speed);
  return state;
}

/// The trees that most tests go through.
inline std::vector<TreeOptions> manyTrees() {
  std::vector<TreeOptions> all;
  constexpr int kSizes[] = {1, 2, 3, 5, 8, 12, 20, 30};
  std::uint64_t seed = 1;
  for (const int size : kSizes) {
    for (const bool isFloating : {false, true}) {
      for (const bool isChain : {false, true}) {
        TreeOptions options;
        options.seed = seed++;
        options.numLinks = size;
        options.isFloating = isFloating;
        options.isChain = isChain;
        all.push_back(options);
      }
    }
  }
  return all;
}

inline Real largest(const std::vector<Real>& x) {
  Real size = 0;
  for (const Real value : x) size = std::fmax(size, std::fabs(value));
  return size;
}

/// The largest difference, relative to the largest entry of `expected`.
inline Real relativeDifference(const std::vector<Real>& actual, const std::vector<Real>& expected) {
  Real most = actual.size() == expected.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < actual.size() && i < expected.size(); ++i) {
    const Real difference = std::fabs(actual[i] - expected[i]);
    most = difference <= most ? most : difference;  // NaN is the most
  }
  const Real size = largest(expected);
  return size > 0 ? most / size : most;
}

/// n x n times n.
inline std::vector<Real> times(const std::vector<Real>& matrix, const std::vector<Real>& x) {
  std::vector<Real> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) out[i] += matrix[i * x.size() + j] * x[j];
  return out;
}

inline Real dotOf(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace tangere::test
