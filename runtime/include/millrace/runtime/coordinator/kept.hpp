#pragma once

#include <cstdint>
#include <vector>

#include "millrace/runtime/coordinator/manifest.hpp"

namespace millrace {

/// What the checkpoint behind `previous` keeps of it and of what that kept: all that are pinned,
/// and of the others the newest `retained` - 1; `retained` is 1 or more. `checksum` is that of the
/// manifest of `previous`. A genesis without state is nothing to go back to. Pure.
std::vector<KeptCheckpoint> kept_after(const Manifest& previous, std::uint64_t checksum,
                                       std::uint32_t retained);

}  // namespace millrace
