// SPDX-License-Identifier: Apache-2.0
#include "collision/contact_patch_shared.hpp"

#include <algorithm>

namespace tangere::collision {
namespace {

constexpr std::int64_t kEntriesPerChunk = 32;
/// Ids from here on only say which of the new points of its patch a point is.
constexpr std::uint64_t kFirstProvisionalId = std::uint64_t{1} << 63;

void add(const PatchChurn& part, PatchChurn* sum) {
  sum->adds += part.adds;
  sum->removes += part.removes;
  sum->moved += part.moved;
  sum->rawAdds += part.rawAdds;
  sum->rawRemoves += part.rawRemoves;
}

}  // namespace

template <class RawContacts>
SharedPatchUpdate::Result SharedPatchUpdate::update(const RawContacts& raw,
                                                    const SharedFrame& frame,
                                                    core::ThreadPool* pool, std::uint64_t& nextId,
                                                    std::vector<EmittedContact>& contacts) {
  while (static_cast<int>(workers_.size()) < pool->numThreads())
    workers_.emplace_back(*frame.options);
  for (Worker& worker : workers_) {
    worker.update.rules() = PatchRules(*frame.options);
    worker.update.churn() = {};
    worker.update.resetRejectedContacts();
  }
  const std::size_t numEntries = frame.plan->entries().size();
  const auto count = static_cast<std::int64_t>(numEntries);
  outcomes_.resize(numEntries);
  chunks_.resize((numEntries + kEntriesPerChunk - 1) / kEntriesPerChunk);
  core::parallelForWorker(
      pool, count, kEntriesPerChunk, [&](std::int64_t begin, std::int64_t end, int worker) {
        ContactPatchUpdate& update = workers_[static_cast<std::size_t>(worker)].update;
        Chunk chunk;
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const Outcome outcome = updateEntry(raw, frame, i, update);
          outcomes_[i] = outcome;
          chunk.numPatches += outcome.count > 0 ? 1 : 0;
          chunk.numContacts += static_cast<std::size_t>(outcome.count);
          chunk.numNew += static_cast<std::uint64_t>(outcome.numNew);
        }
        chunks_[static_cast<std::size_t>(begin) / kEntriesPerChunk] = chunk;
      });

  Result result;
  for (Worker& worker : workers_) {
    result.numRejectedContacts += worker.update.numRejectedContacts();
    add(worker.update.churn(), &result.churn);
  }
  std::size_t numContacts = 0;
  for (Chunk& chunk : chunks_) {
    chunk.firstPatch = result.numPatches;
    chunk.firstContact = numContacts;
    chunk.firstId = nextId;
    result.numPatches += chunk.numPatches;
    numContacts += chunk.numContacts;
    nextId += chunk.numNew;
  }
  if (result.numPatches < numEntries) closeHoles(frame.target);
  contacts.resize(numContacts);
  core::parallelFor(pool, count, kEntriesPerChunk, [&](std::int64_t begin, std::int64_t end) {
    emit(static_cast<std::size_t>(begin), static_cast<std::size_t>(end),
         chunks_[static_cast<std::size_t>(begin) / kEntriesPerChunk], frame.target,
         contacts.data());
  });
  return result;
}

template SharedPatchUpdate::Result SharedPatchUpdate::update(const RawManifolds&,
                                                             const SharedFrame&, core::ThreadPool*,
                                                             std::uint64_t&,
                                                             std::vector<EmittedContact>&);
template SharedPatchUpdate::Result SharedPatchUpdate::update(const RawStream&, const SharedFrame&,
                                                             core::ThreadPool*, std::uint64_t&,
                                                             std::vector<EmittedContact>&);

/// Patches that are dropped leave their places to those behind them.
void SharedPatchUpdate::closeHoles(std::span<ContactPatch> patches) const {
  std::size_t numPatches = 0;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (outcomes_[i].count == 0) continue;
    if (numPatches != i) patches[numPatches] = patches[i];
    ++numPatches;
  }
}

void SharedPatchUpdate::emit(std::size_t firstEntry, std::size_t endEntry, const Chunk& chunk,
                             std::span<ContactPatch> patches, EmittedContact* contacts) const {
  std::size_t numPatches = chunk.firstPatch;
  std::uint64_t nextId = chunk.firstId;
  EmittedContact* out = contacts + chunk.firstContact;
  for (std::size_t i = firstEntry; i < endEntry; ++i) {
    const Outcome& outcome = outcomes_[i];
    if (outcome.count == 0) continue;
    if (outcome.numNew > 0) {
      for (ContactPatchPoint& point : patches[numPatches].contacts())
        if (point.id >= kFirstProvisionalId) point.id = nextId + (point.id - kFirstProvisionalId);
      nextId += static_cast<std::uint64_t>(outcome.numNew);
    }
    for (int k = 0; k < outcome.count; ++k) {
      *out++ = {.patch = static_cast<std::int32_t>(numPatches),
                .point = k,
                .rawManifold = outcome.sources[k].manifold,
                .rawPoint = outcome.sources[k].point};
    }
    ++numPatches;
  }
}

template <class RawContacts>
SharedPatchUpdate::Outcome SharedPatchUpdate::updateEntry(const RawContacts& raw,
                                                          const SharedFrame& frame,
                                                          std::size_t index,
                                                          ContactPatchUpdate& update) const {
  const ContactPatchPlan& plan = *frame.plan;
  const PlanEntry& entry = plan.entries()[index];
  ContactPatch& patch = frame.target[index];
  std::uint64_t nextId = kFirstProvisionalId;
  if (entry.oldPatch >= 0) {
    const ContactPatch& old = frame.old[static_cast<std::size_t>(entry.oldPatch)];
    if (&patch != &old) patch = old;
    if (!update.update(raw, plan, entry, *frame.options, frame.poseOf, frame.frame, patch, nextId))
      return {};
  } else {
    if (update.gather(raw, plan, entry, *frame.options, frame.poseOf) == 0) return {};
    const RawRecord record = raw[plan.record(entry.firstRecord)];
    patch = {};
    patch.key = {std::min(record.object1, record.object2), std::max(record.object1, record.object2),
                 entry.manifold};
    update.create(patch, frame.frame, nextId);
  }
  Outcome outcome;
  outcome.count = patch.count;
  outcome.numNew = static_cast<std::int32_t>(nextId - kFirstProvisionalId);
  for (int k = 0; k < patch.count; ++k) outcome.sources[k] = update.source(k);
  return outcome;
}

}  // namespace tangere::collision
