// SPDX-License-Identifier: Apache-2.0
#include <tangere/model.hpp>

#include "model/model_data.hpp"

#include <algorithm>

namespace tangere {

int Model::numBodies() const { return static_cast<int>(data_->bodies.size()); }

std::string_view Model::bodyName(int body) const { return data_->bodies[body].name; }

int Model::findBody(std::string_view name) const {
  const auto found = std::lower_bound(
      data_->bodies.begin(), data_->bodies.end(), name,
      [](const model::ModelBody& body, std::string_view wanted) { return body.name < wanted; });
  if (found == data_->bodies.end() || found->name != name) return -1;
  return static_cast<int>(found - data_->bodies.begin());
}

BodyType Model::bodyType(int body) const { return data_->bodies[body].type; }

const MassProperties& Model::massProperties(int body) const { return data_->bodies[body].mass; }

int Model::numShapes() const { return static_cast<int>(data_->shapes.size()); }

int Model::bodyOfShape(int shape) const { return data_->shapes[shape].body; }

const std::shared_ptr<const Shape>& Model::shape(int shape) const {
  return data_->shapes[shape].shape;
}

const Transform& Model::shapePose(int shape) const { return data_->shapes[shape].pose; }

const SimulationOptions& Model::options() const { return data_->options; }

std::uint64_t Model::hash() const { return data_->hash; }

}  // namespace tangere
