// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

[[nodiscard]] inline bool isConvex(ShapeType type) {
  return type <= ShapeType::Plane || type == ShapeType::Convex;
}

/// Shapes apart: the points where they may come together within the step, if any, go to `result` as
/// a manifold with minus the gaps for depths, and their arms to `foreseen`.
///
/// A pair that moves by much of its size is asked for its first time of impact: it meets elsewhere
/// than where it is nearest now. Such a point is resolved at its own time (impacts.hpp).
void foreseePair(const model::ModelData& model, const State& state, const model::Workspace& ws,
                 const model::ShapePair& pair, const DistanceResult& nearest,
                 CollisionResult& result, std::vector<model::ForeseenManifold>& foreseen);

/// Shapes in touch that bounce off each other. Their manifold has the points up to the slop apart;
/// it gets those corners, too, that lie farther off and may come down within the step, so that they
/// bounce then and are not found below the surface a step later.
void foreseeBeside(const model::ModelData& model, const State& state, const model::Workspace& ws,
                   const model::ShapePair& pair, int manifold, CollisionResult& result,
                   std::vector<model::ForeseenManifold>& foreseen);

/// What contacts of shape 1, moved by -push, are of the shape where it is: depths that are less,
/// and points half way between.
void moveBack(const Vec3& push, ContactManifold* manifold);

/// How far the shapes of a pair may come together along the normal within the step where nothing
/// holds them [m].
[[nodiscard]] Real approachAlong(const model::ModelData& model, const model::Workspace& ws,
                                 const model::ShapePair& pair, const Vec3& normal);

/// How far to press shapes together that are `gap` apart along the normal to find all points that
/// may meet within the step.
[[nodiscard]] Real reachOfForeseen(const model::ModelData& model, const model::Workspace& ws,
                                   const model::ShapePair& pair, const Vec3& normal, Real gap);

/// The arms of all points of the manifold, into the list at its place.
void addArms(const model::ModelData& model, const State& state, const model::ShapePair& pair,
             int index, const ContactManifold& manifold,
             std::vector<model::ForeseenManifold>& foreseen);

/// How far apart the shapes of the pair may be and still meet within the step [m].
[[nodiscard]] Real closingReach(const model::ModelData& model, const model::Workspace& ws,
                                const model::ShapePair& pair);

/// After the solve: a fast body that contacts sent another way than foreseen, or that moves along a
/// surface that is not convex, goes no farther than to the next thing on that way.
void holdFastBodies(const model::ModelData& model, const State& state, model::Workspace& ws);

}  // namespace tangere::contact
