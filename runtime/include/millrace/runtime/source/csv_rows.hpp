#pragma once

#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/written_rows.hpp"

namespace millrace {

/// Comma-separated values, a record a line, behind a line that names the columns of its partition.
///
/// Columns stand in any order, and those that are not declared are passed over. An empty cell is
/// null if its field may be, and else, of a string, the empty text; a text that is quoted is never
/// null. A record is bad if it has another number of cells than the first line, if a quote stands
/// where none can, if a cell is of another type or empty, or if its time is out of range.
///
/// The first line is read again whenever reading goes on behind it. Throws JobFailed, whatever is
/// said of bad records: a declared field is not among its columns, or stands there twice.
Source<Row> csv_rows(WrittenRows rows);

}  // namespace millrace
