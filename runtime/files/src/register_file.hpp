#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/env/object_store.hpp"

namespace millrace {

/// The file of a register (STORE.md): in an envelope, its version and its bytes.
Bytes seal_register(std::uint64_t version, std::span<const std::byte> bytes);

/// Throws CorruptObject naming `name`.
Versioned unseal_register(std::span<const std::byte> sealed, std::string_view name);

}  // namespace millrace
