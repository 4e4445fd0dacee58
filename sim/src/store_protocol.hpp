#pragma once

#include <cstdint>

namespace millrace::sim {

/// What a client asks of the store. Requests begin with it.
enum class StoreRequest : std::uint8_t {
  put,             ///< name, bytes -> PutOutcome
  read,            ///< name, offset, length -> exists, bytes
  read_register,   ///< name -> version, bytes
  put_if_version,  ///< name, expected, bytes -> SwapOutcome
  remove,          ///< name ->
  list,            ///< prefix -> names
};

}  // namespace millrace::sim
