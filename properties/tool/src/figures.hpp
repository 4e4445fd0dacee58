#pragma once

#include <cstdint>
#include <string>

namespace millrace::tool {

/// `0 bytes`, `999 bytes`, `1.5 KiB`, `12.0 GiB`: rounded down.
std::string size_text(std::uint64_t bytes);

}  // namespace millrace::tool
