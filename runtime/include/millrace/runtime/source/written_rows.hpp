#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source/bad_record.hpp"
#include "millrace/runtime/source/written_time.hpp"

namespace millrace {

/// How files hold rows: JSON objects, or comma-separated values.
enum class RowFormat : std::uint8_t { jsonl, csv };

/// Rows of these fields, written one a line, and where their files are.
struct WrittenRows {
  std::string address;
  std::vector<Field> fields;
  WrittenTime event_time;
  OnBadRecord on_bad_record = OnBadRecord::fail;
};

/// Throws BadRecord: the event time of `row` is out of range.
void check_time(const WrittenRows& rows, const Row& row);

/// What a field of this type must hold, for people: `an int64`.
std::string_view expected_of(FieldType type);

}  // namespace millrace
