#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/bad_record.hpp"
#include "millrace/runtime/source/written_time.hpp"

namespace millrace {

/// JSON objects, one a line, read into rows of these fields.
struct JsonRows {
  std::string address;
  std::vector<Field> fields;
  WrittenTime event_time;
  OnBadRecord on_bad_record = OnBadRecord::fail;
};

/// Other fields of the objects are passed over. A field that is declared, and missing or null, is
/// null if it may be. A record is bad if it is no JSON object, if a declared field stands in it
/// twice or is of another type, is missing or null and may not be, or if its time is out of range.
Source<Row> json_rows(JsonRows description);

}  // namespace millrace
