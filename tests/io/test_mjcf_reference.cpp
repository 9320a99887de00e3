// SPDX-License-Identifier: Apache-2.0
//
// What we make of MJCF files against what MuJoCo makes of them: tests/data/mjcf holds small files
// for each feature with MuJoCo's figures (written by mujoco_reference.py), and the figures of the
// robots of MuJoCo Menagerie, which are looked for in TANGERE_MENAGERIE or ../shared/menagerie.
#include <tangere/scene.hpp>

#include "math/quat.hpp"
#include "model/model_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace tangere {
namespace {

namespace fs = std::filesystem;

// Rounding of other orders of summation, of principal axes taken and undone.
constexpr Real kTolerance = 1e-10;

/// The words of one line of a reference file, taken one by one.
class Line {
 public:
  explicit Line(const std::string& text) : in_(text) { in_ >> kind_; }
  [[nodiscard]] const std::string& kind() const { return kind_; }
  std::string word() {
    std::string out;
    in_ >> out;
    return out;
  }
  Real number() { return std::strtod(word().c_str(), nullptr); }
  std::vector<Real> numbers(int count) {
    std::vector<Real> out;
    for (int i = 0; i < count; ++i) out.push_back(number());
    return out;
  }

 private:
  std::istringstream in_;
  std::string kind_;
};

void expectNear(const std::vector<Real>& ours, const std::vector<Real>& theirs,
                const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  Real scale = 0;
  for (const Real x : theirs) {
    if (std::isfinite(x)) scale = std::fmax(scale, std::fabs(x));
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (std::isinf(theirs[i])) {
      EXPECT_EQ(ours[i], theirs[i]) << what << " [" << i << "]";
    } else {
      EXPECT_NEAR(ours[i], theirs[i], kTolerance * std::fmax(scale, 1e-3))
          << what << " [" << i << "]";
    }
  }
}

std::vector<Real> list(const Vec3& v) { return {v.x, v.y, v.z}; }

std::vector<Real> rows(const Mat3& m) {
  std::vector<Real> out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.push_back(m(i, j));
  }
  return out;
}

/// One model beside its reference, line by line.
class Comparison {
 public:
  explicit Comparison(const Model& model) : model_(model), data_(model.data()) {}

  void compare(const fs::path& reference) {
    std::ifstream in(reference);
    ASSERT_TRUE(in) << reference;
    for (std::string text; std::getline(in, text);) {
      Line line(text);
      SCOPED_TRACE(text.substr(0, 80));
      if (line.kind() == "counts") counts(line);
      if (line.kind() == "option") option(line);
      if (line.kind() == "start") start(line);
      if (line.kind() == "body") body(line);
      if (line.kind() == "joint") joint(line);
      if (line.kind() == "actuator") actuator(line);
      if (line.kind() == "equality") equality(line);
      if (line.kind() == "tendon") tendon(line);
      if (line.kind() == "site") site(line);
      if (line.kind() == "key") key(line);
    }
    EXPECT_GT(num_bodies_, 0);
    EXPECT_EQ(joint_, model_.numJoints());
    EXPECT_EQ(actuator_, model_.numActuators());
    EXPECT_EQ(equality_, model_.numEqualities());
    EXPECT_EQ(tendon_, model_.numTendons());
    EXPECT_EQ(site_, model_.numSites());
  }

 private:
  void counts(Line& line) {
    EXPECT_EQ(model_.numPositions(), line.number());
    EXPECT_EQ(model_.numVelocities(), line.number());
    EXPECT_EQ(model_.numActuators(), line.number());
    EXPECT_EQ(model_.numActivations(), line.number());
    EXPECT_EQ(model_.numJoints(), line.number());
    EXPECT_EQ(model_.numEqualities(), line.number());
    EXPECT_EQ(model_.numTendons(), line.number());
    EXPECT_EQ(model_.numSites(), line.number());
    EXPECT_EQ(static_cast<Real>(model_.keyframes().size()), line.number());
  }

  void option(Line& line) {
    EXPECT_EQ(model_.options().solver, SolverType::Sap);
    EXPECT_EQ(model_.options().dt, line.number());
    expectNear(list(model_.options().gravity), line.numbers(3), "gravity");
  }

  void start(Line& line) {
    expectNear(data_.startPositions, line.numbers(model_.numPositions()), "start");
  }

  void body(Line& line) {
    ++num_bodies_;
    const std::string name = line.word();
    const bool isStatic = line.word() == "static";
    const int index = model_.findBody(name);
    ASSERT_GE(index, 0) << name;
    const model::ModelBody& ours = data_.bodies[static_cast<std::size_t>(index)];
    EXPECT_EQ(ours.type == BodyType::Fixed, isStatic);
    const Real mass = line.number();
    const std::vector<Real> center = line.numbers(3), inertia = line.numbers(6);
    if (!isStatic) {
      const Mat3& i = ours.mass.inertia;
      expectNear({ours.mass.mass}, {mass}, "mass");
      if (mass > 0) expectNear(list(ours.mass.center), center, "centre of mass");
      // Two inertias are as near as their largest entries say.
      Real scale = 0;
      for (const Real x : inertia) scale = std::fmax(scale, std::fabs(x));
      const Real entries[] = {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)};
      for (std::size_t k = 0; k < 6; ++k)
        EXPECT_NEAR(entries[k], inertia[k], kTolerance * scale) << "inertia " << k;
    }
    expectNear(list(ours.startPose.translation), line.numbers(3), "position");
    expectNear(rows(ours.startPose.rotation), line.numbers(9), "rotation");
    EXPECT_EQ(ours.gravityScale, 1 - line.number());
  }

  void joint(Line& line) {
    ASSERT_LT(joint_, model_.numJoints());
    const Joint& ours = model_.joint(joint_);
    EXPECT_EQ(jointTypeName(ours.type), line.word());
    EXPECT_EQ(model_.positionOfJoint(joint_), line.number());
    EXPECT_EQ(model_.velocityOfJoint(joint_), line.number());
    const std::vector<Real> range = line.numbers(2);
    const bool isBall = ours.type == JointType::Ball;
    expectNear({isBall && range[0] == 0 ? 0 : ours.lower, ours.upper}, range, "range");
    expectNear({ours.armature, ours.damping, ours.frictionLoss, ours.stiffness}, line.numbers(4),
               "armature, damping, friction loss, stiffness");
    expectNear({ours.springReference, ours.reference}, line.numbers(2), "references");
    expectNear(list(ours.axis), line.numbers(3), "axis");
    expectNear(list(ours.position), line.numbers(3), "position");
    expectNear({ours.lowerActuatorForce, ours.upperActuatorForce}, line.numbers(2), "force range");
    ++joint_;
  }

  void actuator(Line& line) {
    ASSERT_LT(actuator_, model_.numActuators());
    const Actuator& ours = model_.actuator(actuator_);
    EXPECT_EQ(static_cast<Real>(static_cast<int>(ours.dynamics)), line.number());
    const Real time = line.number();
    if (ours.dynamics == Actuator::Dynamics::Filter ||
        ours.dynamics == Actuator::Dynamics::FilterExact)
      expectNear({ours.timeConstant}, {time}, "time constant");
    expectNear({ours.gear.begin(), ours.gear.end()}, line.numbers(6), "gear");
    expectNear({ours.gain.begin(), ours.gain.end()}, line.numbers(3), "gain");
    expectNear({ours.bias.begin(), ours.bias.end()}, line.numbers(3), "bias");
    expectNear({ours.lowerControl, ours.upperControl}, line.numbers(2), "control");
    expectNear({ours.lowerForce, ours.upperForce}, line.numbers(2), "force");
    expectNear({ours.lowerActivation, ours.upperActivation}, line.numbers(2), "activation");
    ++actuator_;
  }

  void equality(Line& line) {
    ASSERT_LT(equality_, model_.numEqualities());
    const Equality& ours = model_.equality(equality_);
    const std::string kind = line.word();
    EXPECT_EQ(ours.isActive, line.number() != 0);
    const std::vector<Real> theirs = line.numbers(10);
    if (kind == "connect_sites" || kind == "weld_sites") {
      EXPECT_EQ(ours.type == Equality::Type::Weld, kind == "weld_sites");
    } else if (kind == "connect") {
      EXPECT_EQ(ours.type, Equality::Type::Connect);
      expectNear(list(ours.anchor), {theirs[0], theirs[1], theirs[2]}, "anchor");
      expectNear(list(ours.anchor2), {theirs[3], theirs[4], theirs[5]}, "anchor 2");
    } else if (kind == "weld") {
      EXPECT_EQ(ours.type, Equality::Type::Weld);
      // A point of body 2 and the point of body 1 where it is held, and the turn of body 2.
      const Vec3 point{theirs[0], theirs[1], theirs[2]};
      expectNear(list(ours.relativePose * point), {theirs[3], theirs[4], theirs[5]}, "point");
      expectNear(rows(ours.relativePose.rotation),
                 rows(rotationMatrix(Quat{theirs[6], theirs[7], theirs[8], theirs[9]})), "turn");
    } else {
      EXPECT_EQ(ours.type, kind == "joint" ? Equality::Type::Joint : Equality::Type::Tendon);
      expectNear({ours.polynomial.begin(), ours.polynomial.end()},
                 {theirs.begin(), theirs.begin() + 5}, "polynomial");
    }
    ++equality_;
  }

  void tendon(Line& line) {
    ASSERT_LT(tendon_, model_.numTendons());
    const Tendon& ours = model_.tendon(tendon_);
    expectNear({ours.lower, ours.upper}, line.numbers(2), "range");
    expectNear({ours.stiffness, ours.damping, ours.frictionLoss}, line.numbers(3), "coefficients");
    ++tendon_;
  }

  void site(Line& line) {
    ASSERT_LT(site_, model_.numSites());
    const Site& ours = model_.site(site_);
    const std::string name = line.word();
    if (name != "?") {
      EXPECT_EQ(ours.name, name);
    }
    expectNear(list(ours.pose.translation), line.numbers(3), "position");
    const std::vector<Real> q = line.numbers(4);
    expectNear(rows(ours.pose.rotation), rows(rotationMatrix(Quat{q[0], q[1], q[2], q[3]})),
               "rotation");
    ++site_;
  }

  void key(Line& line) {
    ASSERT_EQ(model_.keyframes().size(), 1u);
    const Keyframe& ours = model_.keyframes()[0];
    EXPECT_EQ(ours.time, line.number());
    if (!ours.q.empty()) expectNear(ours.q, line.numbers(model_.numPositions()), "q");
    if (!ours.control.empty()) {
      if (ours.q.empty()) (void)line.numbers(model_.numPositions());
      expectNear(ours.control, line.numbers(model_.numActuators()), "control");
    }
  }

  const Model& model_;
  const model::ModelData& data_;
  int num_bodies_ = 0, joint_ = 0, actuator_ = 0, equality_ = 0, tendon_ = 0, site_ = 0;
};

class MjcfReference : public ::testing::TestWithParam<const char*> {};

TEST_P(MjcfReference, AgreesWithMuJoCo) {
  const fs::path folder = fs::path(TANGERE_TEST_DATA) / "mjcf";
  const Scene scene = loadScene(folder / (std::string(GetParam()) + ".xml"));
  Comparison(scene.model).compare(folder / (std::string(GetParam()) + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Features, MjcfReference,
                         ::testing::Values("compiler", "defaults", "drives", "fit", "fit_bounds",
                                           "inertia", "meshes", "orientations", "replicate"),
                         [](const auto& test) { return std::string(test.param); });

/// The folder of the robots; empty when there is none.
fs::path menagerie() {
  if (const char* given = std::getenv("TANGERE_MENAGERIE")) return given;
  const fs::path beside = fs::path(TANGERE_TEST_DATA) / "../../../shared/menagerie";
  return fs::is_directory(beside) ? beside : fs::path();
}

struct Robot {
  const char* folder;
  const char* file;
};

class MenagerieReference : public ::testing::TestWithParam<Robot> {};

TEST_P(MenagerieReference, AgreesWithMuJoCo) {
  const fs::path folder = menagerie();
  if (folder.empty())
    GTEST_SKIP() << "NO ROBOTS: set TANGERE_MENAGERIE to a folder of MuJoCo Menagerie";
  const std::string name = GetParam().folder, file = GetParam().file;
  const Scene scene = loadScene(folder / name / (file + ".xml"));
  Comparison(scene.model)
      .compare(fs::path(TANGERE_TEST_DATA) / "mjcf/menagerie" / (name + "." + file + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(
    Robots, MenagerieReference,
    ::testing::Values(Robot{"agility_cassie", "cassie"}, Robot{"agility_cassie", "scene"},
                      Robot{"kuka_iiwa_14", "iiwa14"}, Robot{"kuka_iiwa_14", "scene"},
                      Robot{"robotiq_2f85", "2f85"}, Robot{"robotiq_2f85", "scene"},
                      Robot{"wonik_allegro", "left_hand"}, Robot{"wonik_allegro", "right_hand"},
                      Robot{"wonik_allegro", "scene_left"}, Robot{"wonik_allegro", "scene_right"}),
    [](const auto& test) { return std::string(test.param.folder) + "_" + test.param.file; });

}  // namespace
}  // namespace tangere
