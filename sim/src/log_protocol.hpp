#pragma once

#include <cstdint>

namespace millrace::sim {

/// What a client asks of the log. Requests begin with it.
enum class LogRequest : std::uint8_t {
  partitions,  ///< address -> list of name, end, head hash
  read,        ///< address, partition, position, end, most -> at_end, entries
};

}  // namespace millrace::sim
