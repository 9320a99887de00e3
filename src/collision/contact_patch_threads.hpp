// SPDX-License-Identifier: Apache-2.0
//
// Threads for ContactPatchCache::update(): its interface is public and knows of no thread pool.
#pragma once

#include "core/parallel_for.hpp"

namespace tangere::collision {

/// While it lives, update() on the thread that made it shares its work among the threads of `pool`
/// (may be null: none). The patches are the same, bit for bit.
class ContactPatchThreads {
 public:
  explicit ContactPatchThreads(core::ThreadPool* pool);
  ~ContactPatchThreads();
  ContactPatchThreads(const ContactPatchThreads&) = delete;
  ContactPatchThreads& operator=(const ContactPatchThreads&) = delete;

  /// Of the calling thread; null where there is none.
  [[nodiscard]] static core::ThreadPool* pool();

 private:
  core::ThreadPool* outer_;
};

}  // namespace tangere::collision
