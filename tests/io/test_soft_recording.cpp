// SPDX-License-Identifier: Apache-2.0
//
// Recordings of soft bodies, pressure contacts and sensors: every number comes back, and the first
// one that differs is named.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>

#include "io/expect_same_frame.hpp"
#include "io/recording_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tangere {
namespace {

using samples::makeSoftFrame;
using samples::makeSoftModel;
using samples::OwnedFrame;
using samples::TemporaryFolder;

/// Frames with no, few and, sometimes, more polygons than a chunk holds.
OwnedFrame frameAt(const Model& model, std::uint64_t step) {
  const int numPolygons = step % 50 == 49 ? 2500 : static_cast<int>(step % 4);
  return makeSoftFrame(step, model, static_cast<int>(step % 3), numPolygons);
}

TEST(SoftRecording, EveryNumberIsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const Model model = makeSoftModel();
  {
    RecordingWriter writer(folder / "a.h5", model);
    for (std::uint64_t i = 0; i < 200; ++i) writer.append(frameAt(model, i).view());
    writer.close();
  }
  RecordingReader reader(folder / "a.h5");
  ASSERT_EQ(reader.numFrames(), 200);
  for (int i = 0; i < 200; ++i)
    samples::expectSame(reader.frame(i), frameAt(model, static_cast<std::uint64_t>(i)));
  for (const int i : {199, 0, 49, 127, 128})
    samples::expectSame(reader.frame(i), frameAt(model, static_cast<std::uint64_t>(i)));
}

TEST(SoftRecording, MeshesAndNamesComeBack) {
  const TemporaryFolder folder;
  const Model model = makeSoftModel();
  {
    RecordingWriter writer(folder / "a.h5", model);
    writer.close();
  }
  const RecordingReader reader(folder / "a.h5");
  ASSERT_EQ(reader.softBodies().size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const RecordedSoftBody& soft = reader.softBodies()[static_cast<std::size_t>(i)];
    const TetMesh& mesh = model.softMesh(i);
    EXPECT_EQ(soft.name, model.softBodyName(i));
    EXPECT_EQ(soft.firstVertex, model.firstVertexOf(i));
    EXPECT_EQ(soft.numVertices, static_cast<int>(mesh.vertices().size()));
    EXPECT_EQ(soft.tets, std::vector<Tet>(mesh.tets().begin(), mesh.tets().end()));
    EXPECT_EQ(soft.surface, std::vector<Triangle>(mesh.surface().begin(), mesh.surface().end()));
  }
  ASSERT_EQ(reader.sensors().size(), 2u);
  EXPECT_EQ(reader.sensors()[0].name, "angle");
  EXPECT_EQ(reader.sensors()[0].numValues, 1);
  EXPECT_EQ(reader.sensors()[1].name, "place");
  EXPECT_EQ(reader.sensors()[1].firstValue, 1);
  EXPECT_EQ(reader.sensors()[1].numValues, 3);
}

TEST(SoftRecording, ARunIsRecordedAsItWas) {
  const TemporaryFolder folder;
  Simulator sim(makeSoftModel());
  std::vector<State> states;
  std::vector<std::vector<PressurePolygon>> polygons;
  std::vector<std::vector<Real>> sensors;
  {
    RecordingWriter writer(folder / "a.h5", sim.model());
    for (int i = 0; i < 30; ++i) {
      const StepReport& report = sim.step();
      std::vector<BodyState> bodies;
      for (int k = 0; k < sim.model().numBodies(); ++k) bodies.push_back(sim.body(k));
      states.push_back(sim.state());
      polygons.emplace_back(sim.pressureContacts().begin(), sim.pressureContacts().end());
      sensors.emplace_back(sim.sensors().begin(), sim.sensors().end());
      writer.append({.time = sim.state().time,
                     .step = sim.state().step,
                     .stateHash = sim.state().hash(),
                     .bodies = bodies,
                     .contacts = sim.contacts(),
                     .report = report,
                     .energy = sim.energy(),
                     .softVertices = sim.state().softPosition,
                     .polygons = sim.pressureContacts(),
                     .sensors = sim.sensors()});
    }
    writer.close();
  }
  EXPECT_FALSE(polygons.back().empty());
  RecordingReader reader(folder / "a.h5");
  for (std::size_t i = 0; i < states.size(); ++i) {
    const RecordedFrame& frame = reader.frame(static_cast<std::int64_t>(i));
    EXPECT_EQ(frame.softVertices, states[i].softPosition);
    EXPECT_EQ(frame.sensors, sensors[i]);
    ASSERT_EQ(frame.polygons.size(), polygons[i].size());
    for (std::size_t k = 0; k < polygons[i].size(); ++k)
      EXPECT_EQ(frame.polygons[k].force, polygons[i][k].force);
  }
}

TEST(SoftRecording, NeedsNoRigidBody) {
  const TemporaryFolder folder;
  const Model model = makeSoftModel(/*rigid=*/false);
  ASSERT_EQ(model.numBodies(), 0);
  const auto frame = [&](std::uint64_t step) {
    OwnedFrame out;
    out.step = step;
    for (int i = 0; i < model.numSoftVertices(); ++i)
      out.softVertices.push_back({0.1 * i, 0.2, static_cast<Real>(step)});
    return out;
  };
  {
    RecordingWriter writer(folder / "a.h5", model);
    for (std::uint64_t i = 0; i < 70; ++i) writer.append(frame(i).view());
    writer.close();
  }
  RecordingReader a(folder / "a.h5"), b(folder / "a.h5");
  ASSERT_EQ(a.numFrames(), 70);
  EXPECT_EQ(a.numBodies(), 0);
  for (int i = 0; i < 70; ++i)
    samples::expectSame(a.frame(i), frame(static_cast<std::uint64_t>(i)));
  EXPECT_FALSE(firstDifference(a, b).has_value());
}

TEST(SoftRecording, AModelWithoutSoftBodiesHasNoneInItsRecording) {
  const TemporaryFolder folder;
  {
    RecordingWriter writer(folder / "a.h5", samples::makeModel());
    OwnedFrame frame = samples::makeFrame(0, 3, 2);
    writer.append(frame.view());
    frame.softVertices.resize(1);
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame.softVertices.clear();
    frame.sensors.resize(1);
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    frame.sensors.clear();
    frame.polygons.resize(1);
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
    writer.close();
  }
  RecordingReader reader(folder / "a.h5");
  EXPECT_TRUE(reader.softBodies().empty());
  EXPECT_TRUE(reader.sensors().empty());
  EXPECT_TRUE(reader.frame(0).softVertices.empty());
}

TEST(SoftRecording, FramesThatDoNotFitOrAreNotFiniteAreRefused) {
  const TemporaryFolder folder;
  const Model model = makeSoftModel();
  RecordingWriter writer(folder / "a.h5", model);
  constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
  const auto refuses = [&](auto change) {
    OwnedFrame frame = frameAt(model, 3);
    change(frame);
    EXPECT_THROW(writer.append(frame.view()), InvalidInput);
  };
  refuses([](OwnedFrame& f) { f.softVertices.pop_back(); });
  refuses([](OwnedFrame& f) { f.softVertices[2].y = kNaN; });
  refuses([](OwnedFrame& f) { f.sensors.pop_back(); });
  refuses([](OwnedFrame& f) { f.sensors[1] = kNaN; });
  refuses([](OwnedFrame& f) { f.polygons[0].force.x = kNaN; });
  refuses([](OwnedFrame& f) { f.polygons[0].area = kNaN; });
  refuses([](OwnedFrame& f) { f.polygons[1].vertices[2].z = kNaN; });
  refuses([](OwnedFrame& f) { f.polygons[1].pressures[0] = kNaN; });
  refuses([](OwnedFrame& f) { f.polygons[0].numVertices = 9; });
  EXPECT_EQ(writer.numFrames(), 0u);
}

/// Two recordings of 20 frames; `change` alters frame 7 of the second.
template <class Change>
std::optional<RecordingDifference> differenceAfter(Change change, Real tolerance = 0) {
  const TemporaryFolder folder;
  const Model model = makeSoftModel();
  for (const char* name : {"a.h5", "b.h5"}) {
    RecordingWriter writer(folder / name, model);
    for (std::uint64_t i = 0; i < 20; ++i) {
      OwnedFrame frame = frameAt(model, i);
      if (i == 7 && std::string(name) == "b.h5") change(frame);
      writer.append(frame.view());
    }
    writer.close();
  }
  RecordingReader a(folder / "a.h5"), b(folder / "b.h5");
  return firstDifference(a, b, {.tolerance = tolerance});
}

TEST(SoftRecordingDiff, OneBitOfAVertexIsFoundWithStepNameAndValues) {
  EXPECT_FALSE(differenceAfter([](OwnedFrame&) {}).has_value());
  const int first = makeSoftModel().firstVertexOf(1);
  const auto difference = differenceAfter([&](OwnedFrame& frame) {
    Real& x = frame.softVertices[static_cast<std::size_t>(first + 2)].x;
    x = std::nextafter(x, 1e9);
  });
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->step, 7u);
  EXPECT_EQ(difference->kind, "soft body");
  EXPECT_EQ(difference->name, makeSoftModel().softBodyName(1));
  EXPECT_EQ(difference->quantity, "position of vertex 2");
  EXPECT_NE(difference->value1, difference->value2);
}

TEST(SoftRecordingDiff, ToleranceForgivesSmallDifferencesOfVerticesAndAllOfPressure) {
  const auto change = [](OwnedFrame& frame) {
    frame.softVertices[0].z += 1e-9;
    frame.polygons.pop_back();
    frame.sensors[0] += 1;
  };
  EXPECT_TRUE(differenceAfter(change, 1e-10).has_value());
  EXPECT_FALSE(differenceAfter(change, 1e-8).has_value());
}

TEST(SoftRecordingDiff, PolygonsSensorsAndCountsAreCompared) {
  const auto found = [](auto change) {
    const auto difference = differenceAfter(change);
    return difference ? difference->kind + " '" + difference->name + "' " + difference->quantity
                      : "";
  };
  // The soft bodies are "ball" and "cube", the bodies "arm" and "floor".
  EXPECT_EQ(found([](OwnedFrame& f) { f.polygons[1].force.z += 1; }),
            "pressure 'cube on arm' force");
  EXPECT_EQ(found([](OwnedFrame& f) { f.polygons[0].vertices[1].x += 1; }),
            "pressure 'ball on arm' vertex");
  EXPECT_EQ(found([](OwnedFrame& f) { f.polygons[0].pressures[1] += 1; }),
            "pressure 'ball on arm' vertex_pressure");
  EXPECT_EQ(found([](OwnedFrame& f) { f.polygons[2].side2.element = 5; }),
            "pressure 'ball on arm' element");
  EXPECT_EQ(found([](OwnedFrame& f) { f.polygons.pop_back(); }),
            "pressure 'ball on arm' number of polygons");
  EXPECT_EQ(found([](OwnedFrame& f) { f.sensors[2] += 1; }), "sensor 'place' value 1");
  EXPECT_EQ(found([](OwnedFrame& f) { ++f.report.numInverted; }), "solver '' inverted");
}

TEST(SoftRecordingDiff, OtherSoftBodiesAreADifferenceOfTheModel) {
  const TemporaryFolder folder;
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  SoftBody soft;
  soft.name = "ball";
  soft.mesh = std::make_shared<TetMesh>(meshShape(Sphere(0.05), {.resolution = 0.05}));
  builder.addSoftBody(soft);
  { RecordingWriter(folder / "a.h5", builder.build()).close(); }
  { RecordingWriter(folder / "b.h5", makeSoftModel(/*rigid=*/false)).close(); }
  RecordingReader a(folder / "a.h5"), b(folder / "b.h5");
  const auto difference = firstDifference(a, b);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->kind, "model");
  EXPECT_EQ(difference->name, "cube");
  EXPECT_EQ(difference->quantity, "number of soft bodies");
}

}  // namespace
}  // namespace tangere
