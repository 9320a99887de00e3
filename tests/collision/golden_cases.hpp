// SPDX-License-Identifier: Apache-2.0
//
// The golden collision cases as kernel views, and how an answer to one is judged: by the signed
// distance, by the support function along the answered normal, by the witness points being where
// they say they are. The format is described next to the data.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/convex_contact.hpp"
#include "geometry/kernels/support.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tangere::test {

/// The vertices of a convex point set as a HullView, without faces: all that GJK, EPA and MPR read.
class HullPoints {
 public:
  explicit HullPoints(const std::vector<Vec3>& points) {
    for (const Vec3& p : points) {
      x_.push_back(p.x);
      y_.push_back(p.y);
      z_.push_back(p.z);
      center_ += p * (1.0 / static_cast<double>(points.size()));
    }
    while (x_.size() % 4 != 0) {
      x_.push_back(points[0].x);
      y_.push_back(points[0].y);
      z_.push_back(points[0].z);
    }
    view_.x = x_.data();
    view_.y = y_.data();
    view_.z = z_.data();
    view_.numVertices = static_cast<int>(points.size());
    for (const Vec3& p : points) radius_ = std::max(radius_, norm(p - center_));
  }
  HullPoints(const HullPoints&) = delete;
  HullPoints& operator=(const HullPoints&) = delete;

  [[nodiscard]] kernel::ConvexView<double> view() const {
    kernel::ConvexView<double> v;
    v.core = kernel::CoreType::Hull;
    v.hull = &view_;
    v.center = center_;
    v.boundingRadius = radius_;
    return v;
  }

 private:
  std::vector<double> x_, y_, z_;
  kernel::HullView<double> view_;
  Vec3 center_{};
  double radius_ = 0;
};

inline kernel::ConvexView<double> makeView(kernel::CoreType core, const Vec3& size,
                                           double radius = 0) {
  kernel::ConvexView<double> v;
  v.core = core;
  v.size = size;
  v.radius = radius;
  switch (core) {
    case kernel::CoreType::Box:
      v.boundingRadius = norm(size);
      break;
    case kernel::CoreType::Cylinder:
      v.boundingRadius = std::sqrt(size.x * size.x + size.z * size.z);
      break;
    case kernel::CoreType::Cone:  // about its centroid
      v.center = {0, 0, -0.5 * size.z};
      v.boundingRadius =
          std::max(1.5 * size.z, std::sqrt(size.x * size.x + 0.25 * size.z * size.z));
      break;
    case kernel::CoreType::Ellipsoid:
      v.boundingRadius = std::max({size.x, size.y, size.z});
      break;
    case kernel::CoreType::Segment:
      v.boundingRadius = size.z;
      break;
    default:
      break;
  }
  v.boundingRadius += radius;
  return v;
}

struct GoldenShape {
  std::string kind;
  kernel::ConvexView<double> view;
  [[nodiscard]] bool isCurved() const { return !kernel::isPolytope(view.core); }
};

struct GoldenCase {
  int id = 0;
  std::string category;
  GoldenShape shape1, shape2;
  Transform X_W1, X_W2;
  double distance = 0;
  double scale = 0;

  [[nodiscard]] Transform relativePose() const { return inverseTimes(X_W1, X_W2); }
  [[nodiscard]] bool isCurved() const { return shape1.isCurved() || shape2.isCurved(); }
  [[nodiscard]] std::string pair() const { return shape1.kind + "-" + shape2.kind; }
};

/// Cases between bounded shapes; the hulls they refer to live as long as this does.
class GoldenCases {
 public:
  explicit GoldenCases(const std::string& folder) {
    loadHulls(folder + "/public_hulls.csv");
    loadCases(folder + "/public.csv");
  }
  [[nodiscard]] const std::vector<GoldenCase>& cases() const { return cases_; }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> out;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) out.push_back(cell);
    return out;
  }

  void loadHulls(const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file);
    std::map<int, std::vector<Vec3>> points;
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
      const std::vector<std::string> c = split(line);
      points[std::stoi(c[0])].push_back({std::stod(c[2]), std::stod(c[3]), std::stod(c[4])});
    }
    for (const auto& [index, p] : points) hulls_.emplace(index, p);
  }

  GoldenShape makeShape(const std::string& kind, double a, double b, double c, int hull) {
    using kernel::CoreType;
    if (kind == "sphere") return {kind, makeView(CoreType::Point, {}, a)};
    if (kind == "capsule") return {kind, makeView(CoreType::Segment, {0, 0, b}, a)};
    if (kind == "box") return {kind, makeView(CoreType::Box, {a, b, c})};
    if (kind == "cylinder") return {kind, makeView(CoreType::Cylinder, {a, a, b})};
    if (kind == "cone") return {kind, makeView(CoreType::Cone, {a, a, b})};
    if (kind == "ellipsoid") return {kind, makeView(CoreType::Ellipsoid, {a, b, c})};
    return {kind, hulls_.at(hull).view()};
  }

  void loadCases(const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file);
    std::string line;
    std::getline(stream, line);
    std::map<std::string, std::size_t> column;
    for (const std::string& name : split(line)) column.emplace(name, column.size());
    while (std::getline(stream, line)) {
      const std::vector<std::string> c = split(line);
      const auto text = [&](const std::string& name) { return c.at(column.at(name)); };
      const auto number = [&](const std::string& name) { return std::stod(text(name)); };
      GoldenCase g;
      if (text("shape1") == "halfspace" || text("shape2") == "halfspace") continue;
      g.id = std::stoi(text("id"));
      g.category = text("category");
      for (const std::string i : {"1", "2"}) {
        const GoldenShape shape = makeShape(text("shape" + i), number("a" + i), number("b" + i),
                                            number("c" + i), std::stoi(text("hull" + i)));
        const Transform X{rotationMatrix(Quat{number("qw" + i), number("qx" + i), number("qy" + i),
                                              number("qz" + i)}),
                          {number("x" + i), number("y" + i), number("z" + i)}};
        (i == "1" ? g.shape1 : g.shape2) = shape;
        (i == "1" ? g.X_W1 : g.X_W2) = X;
      }
      g.distance = number("dist");
      g.scale = number("scale");
      cases_.push_back(g);
    }
  }

  std::map<int, HullPoints> hulls_;
  std::vector<GoldenCase> cases_;
};

/// Support value of a rounded view along a unit direction.
inline double supportValue(const kernel::ConvexView<double>& view, const Vec3& n) {
  int index = 0;
  return dot(kernel::supportCore(view, n, &index), n) + view.radius;
}

/// The largest translation-free gap along n (unit, from B to A): the signed distance is its maximum
/// over all n, so what it lacks is the error of the normal.
inline double gapAlong(const kernel::ConvexView<double>& a, const kernel::ConvexView<double>& b,
                       const Transform& X_AB, const Vec3& n) {
  return -supportValue(a, -n) - supportValue(b, transposeTimes(X_AB.rotation, n)) -
         dot(n, X_AB.translation);
}

/// How far p is outside the view's support planes: over many directions and along `n`. A point of
/// the shape gives at most rounding.
inline double outside(const kernel::ConvexView<double>& view, const Vec3& p, const Vec3& n) {
  double worst = dot(p, n) - supportValue(view, n);
  for (int i = 0; i < 60; ++i) {  // a spiral over the sphere
    const double z = -1 + (2 * i + 1) / 60.0, r = std::sqrt(1 - z * z), t = 2.399963229728653 * i;
    const Vec3 m{r * std::cos(t), r * std::sin(t), z};
    worst = std::max(worst, dot(p, m) - supportValue(view, m));
  }
  return worst;
}

/// Errors of one answer, each relative to the sizes the golden data are judged by.
struct GoldenError {
  double distance = 0;  ///< |d - d_ref| / max(|d_ref|, scale)
  double normal = 0;    ///< what the gap along the normal lacks, / scale
  double witness = 0;   ///< points outside their shapes, or not distance * normal apart, / scale
  [[nodiscard]] double worst() const { return std::max({distance, normal, witness}); }
};

inline GoldenError judge(const GoldenCase& g, const kernel::ConvexContact<double>& c) {
  const Transform X_AB = g.relativePose();
  GoldenError e;
  const auto bad = [](double x) { return !std::isfinite(x); };
  if (bad(c.distance) || bad(squaredNorm(c.normal)) || bad(squaredNorm(c.pointA)) ||
      bad(squaredNorm(c.pointB)) || std::fabs(norm(c.normal) - 1) > 1e-12)
    return {1e300, 1e300, 1e300};
  e.distance = std::fabs(c.distance - g.distance) / std::max(std::fabs(g.distance), g.scale);
  e.normal = (g.distance - gapAlong(g.shape1.view, g.shape2.view, X_AB, c.normal)) /
             std::max(std::fabs(g.distance), g.scale);
  e.witness = norm(c.pointA - c.pointB - c.normal * c.distance);
  e.witness = std::max(e.witness, outside(g.shape1.view, c.pointA, -c.normal));
  e.witness = std::max(e.witness, outside(g.shape2.view, inverseTimes(X_AB, c.pointB),
                                          transposeTimes(X_AB.rotation, c.normal)));
  e.witness /= std::max(std::fabs(g.distance), g.scale);
  return e;
}

}  // namespace tangere::test
