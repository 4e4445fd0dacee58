#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// A line of input as the reference reads it.
struct ReferenceRecord {
  std::optional<OwnedRow> fields;  ///< In the order of the job; nothing: the record is bad.
  std::int64_t time = 0;           ///< In milliseconds.
  std::string why_bad;
};

/// Reads one line with a JSON library of its own.
ReferenceRecord read_reference_record(std::string_view line, const SourceSpec& source);

}  // namespace millrace::properties
