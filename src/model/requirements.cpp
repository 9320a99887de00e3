// SPDX-License-Identifier: Apache-2.0
#include "model/requirements.hpp"

#include <tangere/error.hpp>

#include "core/assert.hpp"
#include "math/symmetric_eigen.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::model {

namespace {

[[noreturn]] void reject(const std::string& message) { throw InvalidInput(message); }

void requireEvent(const EventOptions& event) {
  const auto isPositive = [](Real value) { return value > 0 && math::isFinite(value); };
  TANGERE_REQUIRE(event.relativeTolerance >= 1e-14 && event.relativeTolerance <= 0.1,
                  "relative tolerance of the event solver must be between 1e-14 and 0.1",
                  event.relativeTolerance);
  TANGERE_REQUIRE(isPositive(event.absoluteTolerance) && event.absoluteTolerance <= 1,
                  "absolute tolerance of the event solver must be positive and at most 1 [m, rad]",
                  event.absoluteTolerance);
  TANGERE_REQUIRE(event.maxStep >= 0 && math::isFinite(event.maxStep),
                  "longest step of the event solver must be finite and not negative [s]",
                  event.maxStep);
  TANGERE_REQUIRE(isPositive(event.maxDamping), "largest damping must be positive and finite [s/m]",
                  event.maxDamping);
  TANGERE_REQUIRE(event.stiffnessReduction > 0 && event.stiffnessReduction <= 1,
                  "stiffness reduction must be above 0 and at most 1", event.stiffnessReduction);
  TANGERE_REQUIRE(isPositive(event.smallSpeed), "small speed must be positive and finite [m/s]",
                  event.smallSpeed);
  TANGERE_REQUIRE(isPositive(event.smallSpin), "small spin must be positive and finite [rad/s]",
                  event.smallSpin);
  TANGERE_REQUIRE(event.restPeriod >= 1e-9 && event.restPeriod <= 10,
                  "rest period must be between 1e-9 and 10 [s]", event.restPeriod);
  TANGERE_REQUIRE(event.impactSpeed >= 0 && math::isFinite(event.impactSpeed),
                  "impact speed must be finite and not negative [m/s]", event.impactSpeed);
  TANGERE_REQUIRE(isPositive(event.slipSpeed), "slip speed must be positive and finite [m/s]",
                  event.slipSpeed);
  TANGERE_REQUIRE(isPositive(event.maxCorrectionSpeed),
                  "correction speed must be positive and finite [m/s]", event.maxCorrectionSpeed);
  TANGERE_REQUIRE(event.maxSteps >= 1, "a call of the event solver needs a step", event.maxSteps);
  TANGERE_REQUIRE(isPositive(event.maxMemory), "memory must be positive and finite [bytes]",
                  event.maxMemory);
}

}  // namespace

void requireMaterial(const Material& material) {
  const std::string who = "material '" + material.name + "': ";
  if (material.name.empty()) reject("a material needs a name");
  if (!(material.density > 0 && material.density <= 1e12))
    reject(who + "density must be positive and at most 1e12 [kg/m^3]");
  if (!(material.friction >= 0 && material.friction <= 1000))
    reject(who + "friction must be between 0 and 1000");
  if (!(material.restitution >= 0 && material.restitution <= 1))
    reject(who + "restitution must be between 0 and 1");
  if (!(material.torsionalFriction >= 0 && material.torsionalFriction <= 1e6))
    reject(who + "torsional friction must be between 0 and 1e6 [m]");
  if (!(material.rollingFriction >= 0 && material.rollingFriction <= 1e6))
    reject(who + "rolling friction must be between 0 and 1e6 [m]");
  if (!(material.stiffness > 0)) reject(who + "stiffness must be positive [N/m]");
  if (!(material.relaxationTime >= 0 && material.relaxationTime <= 1e6))
    reject(who + "relaxation time must be between 0 and 1e6 [s]");
  if (!(material.dissipation >= 0 && material.dissipation <= 1e6))
    reject(who + "dissipation must be between 0 and 1e6 [s/m]");
  if (!(material.hydroelasticModulus > 0) ||
      (material.hydroelasticModulus > 1e15 && material.hydroelasticModulus < kUnlimited))
    reject(who + "hydroelastic modulus must be positive and at most 1e15, or unlimited [Pa]");
  if (!(material.hydroelasticThickness > 0 && material.hydroelasticThickness <= 1e6))
    reject(who + "thickness of the hydroelastic layer must be positive and at most 1e6 [m]");
  if (!(material.hydroelasticResolution >= 0 && material.hydroelasticResolution <= 1e6))
    reject(who + "hydroelastic resolution must be between 0 and 1e6 [m]");
  if (!(material.youngsModulus >= 0 && material.youngsModulus <= 1e100))
    reject(who + "Young's modulus must be between 0 and 1e100 [Pa]");
  if (!(material.poissonRatio >= 0 && material.poissonRatio <= 0.5))
    reject(who + "Poisson's ratio must be between 0 and 0.5");
  if (!(material.rollingResistance >= 0 && material.rollingResistance <= 1000))
    reject(who + "rolling resistance must be between 0 and 1000");
}

void requireHertz(const ModelData& data) {
  if (data.options.solver != SolverType::Event) return;
  std::vector<bool> isUsed(data.materials.size(), false);
  for (const ModelShape& shape : data.shapes) isUsed[shape.material] = true;
  const auto isElastic = [&](std::size_t i) {
    return isUsed[i] && (data.materials[i].contact == ContactModel::Hertz ||
                         data.materials[i].contact == ContactModel::Point);
  };
  for (std::size_t i = 0; i < data.materials.size(); ++i) {
    if (!isUsed[i] || data.materials[i].contact != ContactModel::Hertz) continue;
    for (std::size_t j = 0; j < data.materials.size(); ++j) {
      if (!isElastic(j) || data.materials[j].youngsModulus > 0) continue;
      const std::string& name = data.materials[j].name;
      reject(i == j ? "material '" + name +
                          "': the law of Hertz needs Young's modulus of the material [Pa]"
                    : "material '" + name + "' meets '" + data.materials[i].name +
                          "', which presses by the law of Hertz: that needs Young's modulus of "
                          "both [Pa]");
    }
    for (const ModelShape& shape : data.shapes) {
      if (static_cast<std::size_t>(shape.material) != i ||
          shape.shape->type() != ShapeType::PointCloud)
        continue;
      if (!(static_cast<const PointCloud&>(*shape.shape).pointRadius() > 0))
        reject("body '" + data.bodies[shape.body].name +
               "': the law of Hertz needs points with a radius");
    }
  }
}

void requireOptions(const SimulationOptions& options) {
  const ImpulseOptions& impulse = options.impulse;
  TANGERE_REQUIRE(options.dt > 0 && options.dt <= 1e3, "dt must be positive and at most 1000 [s]",
                  options.dt);
  TANGERE_REQUIRE(math::isFinite(options.gravity), "gravity must be finite [m/s^2]");
  TANGERE_REQUIRE(options.accuracy >= 0 && math::isFinite(options.accuracy),
                  "accuracy must be finite and not negative [m, rad]", options.accuracy);
  TANGERE_REQUIRE(options.accuracy == 0 || options.solver == SolverType::Sap,
                  "error control needs the SAP solver", options.accuracy);
  TANGERE_REQUIRE(options.restitutionThreshold >= 0 && math::isFinite(options.restitutionThreshold),
                  "restitution threshold must be finite and not negative [m/s]",
                  options.restitutionThreshold);
  TANGERE_REQUIRE(options.maxImpactsPerStep >= 0, "impacts per step must not be negative",
                  options.maxImpactsPerStep);
  TANGERE_REQUIRE(options.sap.toleranceGrowth >= 0 && options.sap.toleranceGrowth <= 1e6,
                  "growth of the tolerance must be between 0 and 1e6", options.sap.toleranceGrowth);
  TANGERE_REQUIRE(options.limits.all >= 0, "a limit of contacts must not be negative",
                  options.limits.all);
  for (const int limit : options.limits.ofKind)
    TANGERE_REQUIRE(limit >= 0, "a limit of contacts must not be negative", limit);
  TANGERE_REQUIRE(impulse.numSubsteps >= 1 && impulse.numSubsteps <= 10000,
                  "sub-steps must be between 1 and 10000", impulse.numSubsteps);
  TANGERE_REQUIRE(impulse.numSweeps >= 1 && impulse.numSweeps <= 1000000,
                  "sweeps must be between 1 and 1e6", impulse.numSweeps);
  TANGERE_REQUIRE(impulse.numProjections >= 0 && impulse.numProjections <= 1000,
                  "projections must be between 0 and 1000", impulse.numProjections);
  TANGERE_REQUIRE(impulse.numProjectionSteps >= 1 && impulse.numProjectionSteps <= 100000,
                  "projection steps must be between 1 and 100000", impulse.numProjectionSteps);
  TANGERE_REQUIRE(impulse.numCorrectionSweeps >= 1 && impulse.numCorrectionSweeps <= 1000000,
                  "correction sweeps must be between 1 and 1e6", impulse.numCorrectionSweeps);
  TANGERE_REQUIRE(impulse.maxExactPoints >= 0 && impulse.maxExactPoints <= 1000,
                  "points of an exact island must be between 0 and 1000", impulse.maxExactPoints);
  TANGERE_REQUIRE(impulse.tolerance > 0 && impulse.tolerance <= 1,
                  "solver tolerance must be positive and at most 1 [m/s]", impulse.tolerance);
  TANGERE_REQUIRE(impulse.correctionRate >= 0 && impulse.correctionRate <= 1,
                  "correction rate must be between 0 and 1", impulse.correctionRate);
  TANGERE_REQUIRE(impulse.slop >= 0 && math::isFinite(impulse.slop),
                  "slop must be finite and not negative [m]", impulse.slop);
  TANGERE_REQUIRE(impulse.maxCorrectionSpeed > 0 && math::isFinite(impulse.maxCorrectionSpeed),
                  "correction speed must be positive and finite [m/s]", impulse.maxCorrectionSpeed);
  TANGERE_REQUIRE(options.sleep.linearSpeed >= 0 && options.sleep.angularSpeed >= 0 &&
                      options.sleep.duration >= 0,
                  "sleep limits must not be negative", options.sleep.linearSpeed,
                  options.sleep.angularSpeed, options.sleep.duration);
  requireEvent(options.event);
}

void requireMass(const MassProperties& mass, const std::string& body) {
  const std::string who = "body '" + body + "': ";
  if (!(mass.mass > 0 && mass.mass <= 1e150)) reject(who + "mass must be positive [kg]");
  if (!math::isFinite(mass.center)) reject(who + "centre of mass must be finite [m]");
  Real matrix[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      matrix[i][j] = mass.inertia(i, j);
      if (!math::isFinite(matrix[i][j])) reject(who + "inertia must be finite [kg m^2]");
      if (!(std::fabs(mass.inertia(i, j) - mass.inertia(j, i)) <=
            1e-9 * (std::fabs(mass.inertia(i, i)) + std::fabs(mass.inertia(j, j)))))
        reject(who + "inertia must be symmetric");
    }
  }
  const auto principal = math::symmetricEigen(matrix);
  if (!(principal.values[0] > 0)) reject(who + "inertia must be positive definite");
  if (!(principal.values[2] <= (principal.values[0] + principal.values[1]) * (1 + 1e-9)))
    reject(who +
           "inertia breaks the triangle rule: no solid has principal moments with one above "
           "the sum of the others");
}

}  // namespace tangere::model
