// SPDX-License-Identifier: Apache-2.0
//
// LZ4, the compression that readers of MCAP know and that costs next to nothing: one frame
// (lz4_Frame_format.md of the LZ4 project), independent blocks of up to 4 MB, without checksums of
// its own, because the file around it has them. Equal inputs give equal bytes.
#pragma once

#include <string>
#include <string_view>

namespace tangere::io {

[[nodiscard]] std::string compressLz4(std::string_view bytes);

}  // namespace tangere::io
