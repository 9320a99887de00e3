// SPDX-License-Identifier: Apache-2.0
//
// One frame of all patches by several threads. Each entry of the plan is worked on by itself, in
// the place that is its own if none is dropped. Then holes are closed and the chunks are counted,
// so that each knows its first patch, contact and new id: they are those of a single thread.
#pragma once

#include <tangere/contact_patch_cache.hpp>

#include "collision/contact_patch_plan.hpp"
#include "collision/contact_patch_update.hpp"
#include "core/parallel_for.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::collision {

/// Fewer patches are not worth a message to another core.
inline constexpr std::size_t kMinSharedPatches = 128;

/// What update() knows when it begins.
struct SharedFrame {
  const ContactPatchPlan* plan = nullptr;
  const ContactPatchCacheOptions* options = nullptr;  ///< without a cap of pairs
  std::span<const Transform> poseOf;
  std::span<const ContactPatch> old;
  std::span<ContactPatch> target;  ///< one for each entry; may be `old` if no entry is new
  std::uint32_t frame = 0;
};

/// Keeps its memory from frame to frame.
class SharedPatchUpdate {
 public:
  struct Result {
    std::size_t numPatches = 0;  ///< the first ones of the target
    int numRejectedContacts = 0;
    PatchChurn churn;  ///< of this frame
  };

  /// Brings the patches up to date, and writes what to emit.
  template <class RawContacts>
  [[nodiscard]] Result update(const RawContacts& raw, const SharedFrame& frame,
                              core::ThreadPool* pool, std::uint64_t& nextId,
                              std::vector<EmittedContact>& contacts);

 private:
  struct alignas(64) Worker {
    explicit Worker(const ContactPatchCacheOptions& options) : update(options) {}
    ContactPatchUpdate update;
  };
  struct Outcome {
    RawSource sources[ContactPatch::kMaxPoints];
    std::int32_t count = 0;  ///< of points; 0: the patch is dropped
    std::int32_t numNew = 0;
  };

  /// Of the entries of one chunk; and where they begin.
  struct alignas(64) Chunk {
    std::size_t numPatches = 0, numContacts = 0;
    std::uint64_t numNew = 0;
    std::size_t firstPatch = 0, firstContact = 0;
    std::uint64_t firstId = 0;
  };

  void closeHoles(std::span<ContactPatch> patches) const;
  void emit(std::size_t firstEntry, std::size_t endEntry, const Chunk& chunk,
            std::span<ContactPatch> patches, EmittedContact* contacts) const;
  template <class RawContacts>
  [[nodiscard]] Outcome updateEntry(const RawContacts& raw, const SharedFrame& frame,
                                    std::size_t entry, ContactPatchUpdate& update) const;

  std::vector<Worker> workers_;
  std::vector<Outcome> outcomes_;  // of each entry
  std::vector<Chunk> chunks_;
};

}  // namespace tangere::collision
