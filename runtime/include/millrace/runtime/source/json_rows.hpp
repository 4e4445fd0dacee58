#pragma once

#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/written_rows.hpp"

namespace millrace {

/// JSON objects, one a line.
///
/// Other fields of the objects are passed over. A field that is declared, and missing or null, is
/// null if it may be. A record is bad if it is no JSON object, if a declared field stands in it
/// twice or is of another type, is missing or null and may not be, or if its time is out of range.
Source<Row> json_rows(WrittenRows rows);

}  // namespace millrace
