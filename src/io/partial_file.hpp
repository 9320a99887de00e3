// SPDX-License-Identifier: Apache-2.0
//
// Files that appear under their name only when they are whole: they are written beside it, as
// NAME.partial, by one process at a time.
#pragma once

#include <string>

namespace tangere::io {

/// "NAME.partial".
[[nodiscard]] std::string partialName(const std::string& name);

/// Opens NAME.partial, empty, for this process alone, and returns its descriptor. Throws FileError
/// when it cannot be written, NAME is no regular file, or another process is writing it.
[[nodiscard]] int openPartial(const std::string& name);

/// Brings the file to the disk and gives it its name; closes the descriptor in any case. Throws
/// FileError.
void finishPartial(const std::string& name, int descriptor);

}  // namespace tangere::io
