// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tangere/error.hpp>

namespace tangere {

/// Larger than a limit that the caller set or may raise, and nothing else is wrong.
class LimitExceeded : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

}  // namespace tangere
