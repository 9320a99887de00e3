// SPDX-License-Identifier: Apache-2.0
//
// How bodies look: what robot files say of it, and what recordings keep for pictures.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>
#include <tangere/scene.hpp>

#include "io/recording_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace tangere {
namespace {

using samples::TemporaryFolder;

constexpr const char* kTetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

constexpr const char* kInertial =
    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    "</inertial>";

Scene readUrdf(const std::string& visual, const std::filesystem::path& folder) {
  return readSceneXml(
      "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material>"
      "<link name='a'>" +
          std::string(kInertial) + visual + "</link></robot>",
      folder, "r.urdf");
}

TEST(Visuals, UrdfGivesSolidsAndFilesWithTheirPlaceAndColour) {
  const TemporaryFolder folder;
  write(folder / "look.obj", kTetrahedron);
  const Scene scene = readUrdf(
      "<visual><origin xyz='1 2 3'/><geometry><box size='2 4 6'/></geometry>"
      "<material name='red'/></visual>"
      "<visual><geometry><mesh filename='look.obj' scale='2 2 -2'/></geometry></visual>",
      folder / "");
  ASSERT_EQ(scene.visuals.size(), 2u);
  const VisualShape& box = scene.visuals[0];
  EXPECT_EQ(box.body, "a");
  EXPECT_EQ(box.pose.translation, (Vec3{1, 2, 3}));
  EXPECT_EQ(box.color, (std::array<Real, 4>{1, 0, 0, 1}));
  ASSERT_NE(box.shape, nullptr);
  EXPECT_EQ(static_cast<const Box&>(*box.shape).halfExtents(), (Vec3{1, 2, 3}));
  EXPECT_EQ(scene.visuals[1].file.filename(), "look.obj");
  EXPECT_EQ(scene.model.numShapes(), 0);

  const std::vector<VisualShape> read = readVisuals(scene.visuals);
  ASSERT_EQ(read.size(), 2u);
  ASSERT_NE(read[1].mesh, nullptr);
  EXPECT_EQ(read[1].mesh->vertices[3], (Vec3{0, 0, -2}));
  // A reflection turns the triangles, or the inside would be seen.
  EXPECT_EQ(read[1].mesh->triangles[0], (Triangle{0, 1, 2}));
}

TEST(Visuals, WhatCannotBeDrawnIsLeftOutAndSpoilsNoScene) {
  const TemporaryFolder folder;
  write(folder / "broken.stl", "solid nothing");
  const Scene scene = readUrdf(
      "<visual><geometry><mesh filename='missing.obj'/></geometry></visual>"
      "<visual><geometry><mesh filename='../../../etc/passwd'/></geometry></visual>"
      "<visual><geometry><sphere radius='-1'/></geometry></visual>"
      "<visual><origin xyz='a b c'/><geometry><sphere radius='1'/></geometry></visual>"
      "<visual><geometry><mesh filename='broken.stl'/></geometry></visual>",
      folder / "");
  ASSERT_EQ(scene.visuals.size(), 1u);  // a file is not opened before it is to be drawn
  std::vector<std::string> notes;
  EXPECT_TRUE(readVisuals(scene.visuals, &notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("not drawn: "), std::string::npos);
  EXPECT_NE(notes[0].find("broken.stl"), std::string::npos);
}

TEST(Visuals, SdformatGivesThemToo) {
  const Scene scene = readSceneXml(
      "<sdf version='1.9'><model name='m'><link name='a'><visual name='v'><pose>0 0 1 0 0 0</pose>"
      "<geometry><cylinder><radius>1</radius><length>4</length></cylinder></geometry>"
      "<material><diffuse>0 1 0 0.5</diffuse></material></visual></link></model></sdf>",
      {}, "m.sdf");
  ASSERT_EQ(scene.visuals.size(), 1u);
  EXPECT_EQ(scene.visuals[0].pose.translation, (Vec3{0, 0, 1}));
  EXPECT_EQ(scene.visuals[0].color, (std::array<Real, 4>{0, 1, 0, 0.5}));
  EXPECT_EQ(static_cast<const Cylinder&>(*scene.visuals[0].shape).halfLength(), 2);
}

TEST(Visuals, MjcfShowsTheGroupsThatMujocoShows) {
  const TemporaryFolder folder;
  write(folder / "look.obj", kTetrahedron);
  const Scene scene = readSceneXml(
      "<mujoco><asset><mesh name='m' file='look.obj' scale='2 2 2' refpos='1 0 0'/>"
      "<material name='blue' rgba='0 0 1 1'/></asset><worldbody>"
      "<geom type='box' size='1 1 1' pos='0 0 5' contype='0' conaffinity='0'/>"
      "<body name='a' pos='0 0 2'><freejoint/>"
      "<geom type='sphere' size='1' group='3'/>"
      "<geom type='mesh' mesh='m' contype='0' conaffinity='0' group='2' mass='0' "
      "material='blue'/></body>"
      "<body name='plain'><freejoint/><geom type='sphere' size='1'/></body>"
      "</worldbody></mujoco>",
      folder / "", "a.xml");
  ASSERT_EQ(scene.visuals.size(), 2u);
  EXPECT_EQ(scene.visuals[0].body, "");  // of the world
  EXPECT_EQ(scene.visuals[0].pose.translation, (Vec3{0, 0, 5}));
  const VisualShape& mesh = scene.visuals[1];
  EXPECT_EQ(mesh.body, "a");
  EXPECT_EQ(mesh.color, (std::array<Real, 4>{0, 0, 1, 1}));
  EXPECT_EQ(mesh.scale, (Vec3{2, 2, 2}));
  EXPECT_EQ(mesh.pose.translation, (Vec3{-2, 0, 0}));  // 2 (v - refpos)
}

TEST(Visuals, ARobotInASceneBringsItsLooksUnderItsName) {
  const TemporaryFolder folder;
  write(folder / "r.urdf", "<robot name='r'><link name='a'>" + std::string(kInertial) +
                               "<visual><geometry><sphere radius='1'/></geometry></visual>"
                               "</link></robot>");
  const Scene scene = readSceneToml("[[model]]\nfile = \"r.urdf\"\nname = \"left\"\n", folder / "");
  ASSERT_EQ(scene.visuals.size(), 1u);
  EXPECT_EQ(scene.visuals[0].body, "left/a");
}

TEST(Visuals, ARecordingKeepsThemWithJointsAndParents) {
  const TemporaryFolder folder;
  write(folder / "look.obj", kTetrahedron);
  const Scene scene =
      readSceneXml("<robot name='r'><link name='a'/><link name='b'>" + std::string(kInertial) +
                       "<collision><geometry><sphere radius='1'/></geometry></collision>"
                       "<visual><geometry><mesh filename='look.obj'/></geometry></visual></link>"
                       "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
                       "<axis xyz='0 1 0'/></joint></robot>",
                   folder / "", "r.urdf");
  const std::vector<VisualShape> visuals = readVisuals(scene.visuals);
  Simulator simulator(scene.model);
  std::vector<BodyState> bodies;
  RecordingWriter writer(folder / "r.h5", scene.model, {.visuals = visuals});
  writer.append(frameOf(simulator, &bodies));
  writer.close();

  const RecordingReader reader(folder / "r.h5");
  const int b = scene.model.findBody("b");
  ASSERT_EQ(reader.visuals().size(), 1u);
  EXPECT_EQ(reader.visuals()[0].body, b);
  EXPECT_EQ(reader.visuals()[0].type, "mesh");
  EXPECT_EQ(reader.visuals()[0].vertices, visuals[0].mesh->vertices);
  EXPECT_EQ(reader.visuals()[0].triangles, visuals[0].mesh->triangles);
  EXPECT_EQ(reader.visuals()[0].color, visuals[0].color);
  ASSERT_EQ(reader.shapes().size(), 1u);
  EXPECT_EQ(reader.parentOf(b), scene.model.parentOf(b));
  ASSERT_EQ(reader.joints().size(), 1u);
  EXPECT_EQ(reader.joints()[0].name, "j");
  EXPECT_EQ(reader.joints()[0].body, b);
  EXPECT_EQ(reader.joints()[0].axis, (Vec3{0, 1, 0}));
}

TEST(RecordedSeries, HasOneNumberOfEachFrame) {
  const TemporaryFolder folder;
  const Model model = samples::makeModel();
  RecordingWriter writer(folder / "a.h5", model);
  std::vector<samples::OwnedFrame> frames;
  for (std::uint64_t step = 0; step < 100; ++step) {
    frames.push_back(samples::makeFrame(step, model.numBodies(), static_cast<int>(step % 5)));
    writer.append(frames.back().view());
  }
  writer.close();
  const RecordedSeries series = RecordingReader(folder / "a.h5").series();
  ASSERT_EQ(series.time.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(series.time[i], frames[i].time);
    EXPECT_EQ(series.step[i], frames[i].step);
    EXPECT_EQ(series.status[i], frames[i].report.status);
    EXPECT_EQ(series.numContacts[i], frames[i].report.numContacts);
    EXPECT_EQ(series.iterations[i], frames[i].report.iterations);
    EXPECT_EQ(series.numIslands[i], frames[i].report.numIslands);
    EXPECT_EQ(series.numEvents[i], frames[i].numEvents);
    EXPECT_EQ(series.residual[i], frames[i].report.residual);
    EXPECT_EQ(series.maxDepth[i], frames[i].report.maxDepth);
    EXPECT_EQ(series.energy[i].kinetic, frames[i].energy.kinetic);
    EXPECT_EQ(series.energy[i].residual, frames[i].energy.residual);
  }
}

TEST(RecordedStress, IsThatOfTheSimulator) {
  const TemporaryFolder folder;
  const Model model = samples::makeSoftModel();
  Simulator simulator(model);
  RecordingWriter writer(folder / "a.h5", model);
  std::vector<BodyState> bodies;
  simulator.step(5);
  writer.append(frameOf(simulator, &bodies));
  writer.close();
  RecordingReader reader(folder / "a.h5");
  (void)reader.frame(0);
  for (int soft = 0; soft < model.numSoftBodies(); ++soft) {
    const std::vector<Mat3> read = reader.softStress(soft), own = simulator.softStress(soft);
    ASSERT_EQ(read.size(), own.size());
    Real largest = 0, difference = 0;
    for (std::size_t t = 0; t < own.size(); ++t)
      for (int k = 0; k < 3; ++k) {
        largest = std::fmax(largest, norm(own[t].col[k]));
        difference = std::fmax(difference, norm(own[t].col[k] - read[t].col[k]));
      }
    EXPECT_GT(largest, 0);
    EXPECT_LE(difference, 1e-9 * largest);  // the same rest shape, rounded once more
  }
}

}  // namespace
}  // namespace tangere
