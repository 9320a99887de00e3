// SPDX-License-Identifier: Apache-2.0
//
// Outputs: files that appear under their name only when they are whole: they are written beside it,
// as NAME.partial, by one process at a time.
#pragma once

#include <string>

namespace tangere::io {

/// The file that an output of this name becomes: the name itself, or for a link the file that it
/// leads to, so that the link stays one. Throws FileError for what a file cannot replace: a folder,
/// a device, a pipe, and a link to one of these or to nothing.
[[nodiscard]] std::string outputName(const std::string& path);

/// "NAME.partial".
[[nodiscard]] std::string partialName(const std::string& name);

/// Opens NAME.partial, empty, for this process alone, and returns its descriptor; every file that
/// the engine writes begins here. NAME is from outputName(). Throws FileError when it cannot be
/// written, NAME is neither new nor a regular file, or another process is writing it.
[[nodiscard]] int openPartial(const std::string& name);

/// Brings the file to the disk and gives it its name; closes the descriptor in any case. Throws
/// FileError.
void finishPartial(const std::string& name, int descriptor);

}  // namespace tangere::io
