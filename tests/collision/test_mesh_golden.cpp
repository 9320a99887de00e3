// SPDX-License-Identifier: Apache-2.0
//
// Golden pairs with meshes: written by tests/mesh_reference/mesh_golden in extended precision, in
// the columns of the other golden data. The shape "mesh" has its number in the column of hulls.
#include <tangere/collision.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tangere {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> readTable(const std::string& name) {
  std::ifstream stream(std::string(TANGERE_TEST_DATA) + "/golden/collision/" + name);
  if (!stream) throw std::runtime_error("cannot read " + name);
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> names = split(line);
  std::vector<Row> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = split(line);
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells.at(i);
    rows.push_back(row);
  }
  return rows;
}

Real number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }
Vec3 vector(const Row& row, const std::string& name, const std::string& end = "") {
  return {number(row, name + "x" + end), number(row, name + "y" + end),
          number(row, name + "z" + end)};
}

std::map<int, std::shared_ptr<const Shape>> readMeshes() {
  std::map<int, std::vector<Vec3>> vertices;
  std::map<int, std::vector<Triangle>> triangles;
  for (const Row& row : readTable("mesh_vertices.csv"))
    vertices[std::stoi(row.at("mesh"))].push_back(vector(row, ""));
  for (const Row& row : readTable("mesh_triangles.csv"))
    triangles[std::stoi(row.at("mesh"))].push_back(
        {std::stoi(row.at("a")), std::stoi(row.at("b")), std::stoi(row.at("c"))});
  std::map<int, std::shared_ptr<const Shape>> meshes;
  for (const auto& [index, v] : vertices)
    meshes[index] = std::make_shared<Mesh>(v, triangles.at(index));
  return meshes;
}

struct GoldenPair {
  std::string text, category;
  std::shared_ptr<const Shape> shape1, shape2;
  Transform X_W1, X_W2;
  Real distance = 0;
  Vec3 normal{};  ///< from shape 1 to shape 2
  [[nodiscard]] bool isCurved() const {
    const auto curved = [](ShapeType t) {
      return t == ShapeType::Sphere || t == ShapeType::Capsule;
    };
    return curved(shape1->type()) || curved(shape2->type());
  }
};

std::vector<GoldenPair> readPairs() {
  const std::map<int, std::shared_ptr<const Shape>> meshes = readMeshes();
  std::vector<GoldenPair> pairs;
  for (const Row& row : readTable("mesh_cases.csv")) {
    const auto shape = [&](const std::string& i) -> std::shared_ptr<const Shape> {
      const std::string& kind = row.at("shape" + i);
      const Real a = number(row, "a" + i), b = number(row, "b" + i), c = number(row, "c" + i);
      if (kind == "sphere") return std::make_shared<Sphere>(a);
      if (kind == "capsule") return std::make_shared<Capsule>(a, b);
      if (kind == "box") return std::make_shared<Box>(Vec3{a, b, c});
      return meshes.at(std::stoi(row.at("hull" + i)));
    };
    const auto pose = [&](const std::string& i) {
      return Transform{rotationMatrix(Quat{number(row, "qw" + i), number(row, "qx" + i),
                                           number(row, "qy" + i), number(row, "qz" + i)}),
                       vector(row, "", i)};
    };
    pairs.push_back({row.at("id") + ": " + row.at("shape1") + " on " + row.at("shape2"),
                     row.at("category"), shape("1"), shape("2"), pose("1"), pose("2"),
                     number(row, "dist"), vector(row, "n")});
  }
  return pairs;
}

TEST(MeshGolden, DistancesNormalsAndPointsOfWhatIsApart) {
  int run = 0;
  for (const GoldenPair& g : readPairs()) {
    if (g.category == "touch_plus_d") continue;
    SCOPED_TRACE(g.text);
    ++run;
    const DistanceResult d = distance(*g.shape1, g.X_W1, *g.shape2, g.X_W2);
    EXPECT_NEAR(d.distance, g.distance, 1e-12);
    // The direction between points of the order of 1 m that are 1e-5 m apart.
    EXPECT_NEAR(norm(d.normal + g.normal), 0, 1e-9);
    EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-12);
    EXPECT_FALSE(overlap(*g.shape1, g.X_W1, *g.shape2, g.X_W2));
    CollisionResult result;
    EXPECT_EQ(collide(*g.shape1, g.X_W1, *g.shape2, g.X_W2, {}, result), 0);
  }
  EXPECT_GT(run, 60);
}

TEST(MeshGolden, WhatOverlapsByDIsNoDeeperAndIsParted) {
  int run = 0;
  for (const GoldenPair& g : readPairs()) {
    if (g.category != "touch_plus_d") continue;
    SCOPED_TRACE(g.text);
    ++run;
    const Real most = -g.distance * (g.isCurved() ? 1.05 : 1.001);
    EXPECT_TRUE(overlap(*g.shape1, g.X_W1, *g.shape2, g.X_W2));
    const DistanceResult d = distance(*g.shape1, g.X_W1, *g.shape2, g.X_W2);
    EXPECT_LT(d.distance, 0);
    EXPECT_GE(d.distance, -most - 1e-9);
    Transform parted = g.X_W1;
    parted.translation -= d.normal * (d.distance * 1.001);
    EXPECT_FALSE(overlap(*g.shape1, parted, *g.shape2, g.X_W2));
    CollisionResult result;
    ASSERT_GT(collide(*g.shape1, g.X_W1, *g.shape2, g.X_W2, {}, result), 0);
    for (int k = 0; k < result.numContacts(); ++k) {
      EXPECT_LE(result.contact(k).depth, most + 1e-9);
      // Contacts push body 1 back: from shape 2 to shape 1.
      EXPECT_LT(dot(result.contact(k).normal, g.normal), 0.1);
    }
  }
  EXPECT_GT(run, 60);
}

}  // namespace
}  // namespace tangere
