// SPDX-License-Identifier: Apache-2.0
//
// Everything that a step needs and changes, and nothing else: a State that is copied, saved or
// restored continues to the same bits, contact patches and warm start included.
#pragma once

#include <tangere/contact_patch_cache.hpp>
#include <tangere/model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere {

/// What friction held at one polygon of a pressure contact in the last step. Objects are shapes,
/// and after them soft bodies; elements are tetrahedra or triangles of theirs.
struct HeldFriction {
  std::uint32_t object1 = 0, object2 = 0;
  std::int32_t element1 = -1, element2 = -1;
  std::int64_t part = 0;  ///< which of the points of a patch of rigid bodies
  Vec3 tangent{};         ///< impulse on object 1, world [N s]
  Real normal = 0;        ///< [N s]
};

/// A pair of shapes in contact under the event solver, or one of the points at which it touches:
/// what the force law remembers of how the contact began.
struct EventContactMemory {
  std::uint32_t shape1 = 0, shape2 = 0;
  std::int32_t feature1 = -1, feature2 = -1;  ///< of the point; -1 for a pair that has but one
  std::uint64_t isDeparting = 0;  ///< 1: thrown apart by an impact and not clear of each other yet
  Real approachSpeed = 0;         ///< when the contact began [m/s]
  Real effectiveMass = 0;         ///< of a rigid contact, when it began [kg]
  Real overlap = 0;               ///< how deep it was at the start, where that was too deep [m]
};

/// The arrays are the rows of state_fields.inc.
struct State {
  Real time = 0;           ///< [s]
  std::uint64_t step = 0;  ///< steps taken
  Real trialStep = 0;      ///< of error control: what to try next [s]; 0: the whole step
  /// SAP: how long the step was whose impulses friction remembers [s]; 0: there was none.
  Real frictionStep = 0;

#define TANGERE_FIELD(name, type, count, meaning) std::vector<type> name;
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD

  ContactPatchCache patches;
  std::vector<HeldFriction> heldFriction;         ///< sorted by objects and elements
  std::vector<EventContactMemory> eventContacts;  ///< sorted by shapes, a row a point

  State() = default;
  /// The start of `model`.
  explicit State(const Model& model);

  /// The same on every machine for the same state.
  [[nodiscard]] std::uint64_t hash() const;
  /// All of it as bytes, little-endian, with the hash of the model it belongs to.
  [[nodiscard]] std::vector<std::byte> save(const Model& model) const;
  /// Throws InvalidInput when the bytes are damaged or belong to another model.
  [[nodiscard]] static State load(const Model& model, std::span<const std::byte> bytes);
};

}  // namespace tangere
