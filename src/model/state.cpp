// SPDX-License-Identifier: Apache-2.0
#include <tangere/state.hpp>

#include "core/assert.hpp"
#include "core/stable_hash.hpp"
#include "math/quat.hpp"
#include "model/model_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace tangere {

namespace {

constexpr std::uint32_t kFormat = 0x53475405;  // "TGS", version 5
static_assert(std::endian::native == std::endian::little, "saved states are little-endian");

class ByteWriter;
class ByteReader;

}  // namespace

State::State(const Model& model) : patches(model.options().patchCache) {
  const model::ModelData& data = model.data();
  const model::FieldCounts n(data);
#define TANGERE_FIELD(name, type, count, meaning) name.resize(n.count);
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD
  if (!q.empty()) q = data.startPositions;
  if (!v.empty()) v = data.startVelocities;
  for (std::size_t i = 0; i < n.numBodies; ++i) {
    const model::ModelBody& body = data.bodies[i];
    const Vec3 arm = body.startPose.rotation * body.mass.center;
    orientation[i] = math::quatFromRotation(body.startPose.rotation);
    center[i] = body.startPose.translation + arm;
    velocity[i] = body.startVelocity + cross(body.startAngularVelocity, arm);
    angularVelocity[i] = body.startAngularVelocity;
  }
  if (n.numSoftVertices == 0) return;
  for (const model::ModelSoft& soft : data.softs) {
    const std::span<const Vec3> start = soft.mesh.vertices();
    std::copy(start.begin(), start.end(), softPosition.begin() + soft.firstVertex);
    std::fill_n(softVelocity.begin() + soft.firstVertex, start.size(), soft.startVelocity);
  }
}

std::uint64_t State::hash() const {
  core::StableHash hash;
  hash.add(time);
  hash.add(step);
  hash.add(trialStep);
  hash.add(frictionStep);
#define TANGERE_FIELD(name, type, count, meaning) hash.add(std::span<const type>(name));
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD
  hash.add(patches.stateHash());
  hash.add(heldFriction.size());
  for (const HeldFriction& held : heldFriction) {
    hash.add(held.object1);
    hash.add(held.object2);
    hash.add(held.element1);
    hash.add(held.element2);
    hash.add(held.part);
    hash.add(held.tangent);
    hash.add(held.normal);
  }
  for (const EventContactMemory& contact : eventContacts) {
    hash.add(contact.shape1);
    hash.add(contact.shape2);
    hash.add(contact.feature1);
    hash.add(contact.feature2);
    hash.add(contact.isDeparting);
    hash.add(contact.approachSpeed);
    hash.add(contact.effectiveMass);
    hash.add(contact.overlap);
  }
  return hash.value();
}

namespace {

class ByteWriter {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  template <class T>
  void addArray(const std::vector<T>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) add(value);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void read(T* value) {
    static_assert(std::is_trivially_copyable_v<T>);
    TANGERE_REQUIRE(bytes_.size() - at_ >= sizeof(T), "saved state ends too early", at_);
    std::memcpy(value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
  }
  /// The count is checked against what is left before any memory is taken.
  template <class T>
  void readArray(std::vector<T>* values) {
    std::uint64_t count = 0;
    read(&count);
    TANGERE_REQUIRE(count <= (bytes_.size() - at_) / sizeof(T),
                    "saved state names more entries than it has", count);
    values->resize(static_cast<std::size_t>(count));
    for (T& value : *values) read(&value);
  }
  [[nodiscard]] bool isAtEnd() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::byte> State::save(const Model& model) const {
  ByteWriter out;
  out.add(kFormat);
  out.add(model.hash());
  out.add(time);
  out.add(step);
  out.add(trialStep);
  out.add(frictionStep);
#define TANGERE_FIELD(name, type, count, meaning) out.addArray(name);
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD
  ContactPatchCache::Snapshot snapshot;
  patches.save(snapshot);
  out.addArray(snapshot.patches);
  out.add(snapshot.frame);
  out.add(snapshot.nextId);
  out.add(snapshot.churn);
  out.addArray(heldFriction);
  out.addArray(eventContacts);
  out.add(hash());
  return out.take();
}

State State::load(const Model& model, std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  std::uint32_t format = 0;
  in.read(&format);
  TANGERE_REQUIRE(format == kFormat, "not a saved state of this version", format);
  std::uint64_t modelHash = 0;
  in.read(&modelHash);
  TANGERE_REQUIRE(modelHash == model.hash(), "the saved state belongs to another model", modelHash,
                  model.hash());
  State state(model);
  in.read(&state.time);
  in.read(&state.step);
  in.read(&state.trialStep);
  in.read(&state.frictionStep);
  const model::FieldCounts n(model.data());
#define TANGERE_FIELD(name, type, count, meaning) \
  in.readArray(&state.name);                      \
  TANGERE_REQUIRE(state.name.size() == n.count, "saved state has another number of " #name);
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD
  ContactPatchCache::Snapshot snapshot;
  in.readArray(&snapshot.patches);
  in.read(&snapshot.frame);
  in.read(&snapshot.nextId);
  in.read(&snapshot.churn);
  state.patches.load(snapshot);
  in.readArray(&state.heldFriction);
  in.readArray(&state.eventContacts);
  std::uint64_t hash = 0;
  in.read(&hash);
  TANGERE_REQUIRE(in.isAtEnd(), "saved state has bytes after its end");
  TANGERE_REQUIRE(hash == state.hash(), "saved state is damaged: its hash does not fit");
  return state;
}

}  // namespace tangere
