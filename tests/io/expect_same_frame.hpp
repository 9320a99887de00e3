// SPDX-License-Identifier: Apache-2.0
//
// Compares what was read with what was written, number by number.
#pragma once

#include "io/recording_samples.hpp"

#include <gtest/gtest.h>

namespace tangere::samples {

inline void expectSameSide(const PressureSide& a, const PressureSide& b) {
  EXPECT_EQ(a.body, b.body);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.soft, b.soft);
  EXPECT_EQ(a.element, b.element);
}

inline void expectSamePolygon(const PressurePolygon& a, const PressurePolygon& b) {
  expectSameSide(a.side1, b.side1);
  expectSameSide(a.side2, b.side2);
  EXPECT_EQ(a.numVertices, b.numVertices);
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.pressures, b.pressures);
  EXPECT_EQ(a.centroid, b.centroid);
  EXPECT_EQ(a.normal, b.normal);
  EXPECT_EQ(a.area, b.area);
  EXPECT_EQ(a.pressure, b.pressure);
  EXPECT_EQ(a.force, b.force);
  EXPECT_EQ(a.normalWork, b.normalWork);
  EXPECT_EQ(a.frictionWork, b.frictionWork);
}

inline void expectSame(const RecordedFrame& read, const OwnedFrame& written) {
  EXPECT_EQ(read.time, written.time);
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.stateHash, written.stateHash);
  ASSERT_EQ(read.bodies.size(), written.bodies.size());
  for (std::size_t i = 0; i < read.bodies.size(); ++i) {
    EXPECT_EQ(read.bodies[i].pose, written.bodies[i].pose);
    EXPECT_EQ(read.bodies[i].orientation, written.bodies[i].orientation);
    EXPECT_EQ(read.bodies[i].linearVelocity, written.bodies[i].linearVelocity);
    EXPECT_EQ(read.bodies[i].angularVelocity, written.bodies[i].angularVelocity);
  }
  ASSERT_EQ(read.contacts.size(), written.contacts.size());
  for (std::size_t i = 0; i < read.contacts.size(); ++i) {
    const ContactForce &a = read.contacts[i], &b = written.contacts[i];
    EXPECT_EQ(a.body1, b.body1);
    EXPECT_EQ(a.body2, b.body2);
    EXPECT_EQ(a.shape1, b.shape1);
    EXPECT_EQ(a.shape2, b.shape2);
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.normal, b.normal);
    EXPECT_EQ(a.depth, b.depth);
    EXPECT_EQ(a.force, b.force);
    EXPECT_EQ(a.torque, b.torque);
    EXPECT_EQ(a.normalWork, b.normalWork);
    EXPECT_EQ(a.frictionWork, b.frictionWork);
  }
  EXPECT_EQ(read.report.status, written.report.status);
  EXPECT_EQ(read.report.numContacts, written.report.numContacts);
  EXPECT_EQ(read.report.numIslands, written.report.numIslands);
  EXPECT_EQ(read.report.iterations, written.report.iterations);
  EXPECT_EQ(read.report.numImpacts, written.report.numImpacts);
  EXPECT_EQ(read.report.residual, written.report.residual);
  EXPECT_EQ(read.report.maxDepth, written.report.maxDepth);
  EXPECT_EQ(read.report.body1, written.report.body1);
  EXPECT_EQ(read.report.body2, written.report.body2);
  EXPECT_EQ(read.energy.kinetic, written.energy.kinetic);
  EXPECT_EQ(read.energy.potential, written.energy.potential);
  EXPECT_EQ(read.energy.external, written.energy.external);
  EXPECT_EQ(read.energy.damping, written.energy.damping);
  EXPECT_EQ(read.energy.contactNormal, written.energy.contactNormal);
  EXPECT_EQ(read.energy.contactFriction, written.energy.contactFriction);
  EXPECT_EQ(read.energy.kinematic, written.energy.kinematic);
  EXPECT_EQ(read.energy.correction, written.energy.correction);
  EXPECT_EQ(read.energy.integration, written.energy.integration);
  EXPECT_EQ(read.energy.gyroscopic, written.energy.gyroscopic);
  EXPECT_EQ(read.energy.residual, written.energy.residual);
  EXPECT_EQ(read.softVertices, written.softVertices);
  EXPECT_EQ(read.sensors, written.sensors);
  EXPECT_EQ(read.isAsleep, written.isAsleep);
  EXPECT_EQ(read.numEvents, written.numEvents);
  EXPECT_EQ(read.report.numPressurePolygons, written.report.numPressurePolygons);
  EXPECT_EQ(read.report.soft, written.report.soft);
  EXPECT_EQ(read.report.numInverted, written.report.numInverted);
  EXPECT_EQ(read.report.linearIterations, written.report.linearIterations);
  ASSERT_EQ(read.polygons.size(), written.polygons.size());
  for (std::size_t i = 0; i < read.polygons.size(); ++i)
    expectSamePolygon(read.polygons[i], written.polygons[i]);
}

}  // namespace tangere::samples
