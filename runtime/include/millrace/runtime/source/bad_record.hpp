#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace millrace {

/// What to do with a record that cannot be read.
enum class OnBadRecord : std::uint8_t { fail, skip };

/// Thrown by whoever reads one record: why it cannot be read. The reader of the partition adds
/// where it stands, or counts it and goes on.
class BadRecord : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Always throws JobFailed: `quakes.jsonl:17: why`.
[[noreturn]] void throw_bad_record(std::string_view partition, std::int64_t line,
                                   std::string_view why);

}  // namespace millrace
