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
  bool ends_job = false;  ///< It is so bad that nobody passes over it.
};

/// Reads the lines of one partition, with a JSON library of its own or its own reading of
/// comma-separated values.
class ReferenceLines {
 public:
  explicit ReferenceLines(const SourceSpec& source) : source_(source) {}

  /// Nothing: the line is no record but says what the columns are called.
  std::optional<ReferenceRecord> read(std::string_view line);

 private:
  ReferenceRecord read_cells(std::string_view line) const;
  std::optional<ReferenceRecord> read_names(std::string_view line);

  const SourceSpec& source_;
  std::vector<std::string> names_;  ///< Of columns.
};

}  // namespace millrace::properties
