#include "millrace/runtime/source/written_rows.hpp"

#include <fmt/format.h>

#include "millrace/runtime/job/names.hpp"

namespace millrace {

void check_time(const WrittenRows& rows, const Row& row) {
  const auto& [field, format] = rows.event_time;
  if (rows.event_time.read(row)) return;
  const std::string& name = rows.fields[field].name;
  if (format == TimeFormat::iso8601) {
    throw BadRecord(
        fmt::format("the field `{}` is \"{}\"; a time in the years 1 to 9999 is "
                    "expected, such as 2026-03-01T12:00:00Z",
                    name, row.text(field)));
  }
  throw BadRecord(fmt::format(
      "the field `{}` is {}; a time in the years 1 to 9999 is expected, in {} since 1970", name,
      row.integer(field), describe(format)));
}

std::string_view expected_of(FieldType type) {
  switch (type) {
    case FieldType::integer: return "an int64";
    case FieldType::real: return "a number";
    case FieldType::text: return "a string";
  }
  return "";
}

}  // namespace millrace
