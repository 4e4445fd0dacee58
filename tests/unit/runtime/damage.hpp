#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

namespace millrace {

/// Whether `read` refuses `bytes` as it must refuse what was damaged. Any other error comes out.
template <class Read>
bool is_refused(std::span<const std::byte> bytes, Read read) {
  try {
    read(bytes);
  } catch (const CorruptObject&) {
    return true;
  }
  return false;
}

/// Where the first byte lies that can be changed without `read` noticing; nothing if there is none.
template <class Read>
std::optional<std::size_t> find_unnoticed_change(const Bytes& bytes, Read read) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xFF}}) {
      Bytes changed = bytes;
      changed[at] ^= mask;
      if (!is_refused(changed, read)) return at;
    }
  }
  return std::nullopt;
}

/// The shortest beginning of `bytes` that `read` takes for the whole; nothing if there is none.
template <class Read>
std::optional<std::size_t> find_unnoticed_cut(const Bytes& bytes, Read read) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (!is_refused(std::span(bytes).first(size), read)) return size;
  }
  return std::nullopt;
}

/// The message of the error that `act` throws; empty if it throws none of this kind.
template <class Error, class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace millrace
