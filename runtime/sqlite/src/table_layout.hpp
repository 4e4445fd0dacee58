#pragma once

#include "millrace/env/sink_table.hpp"
#include "millrace/sqlite/database.hpp"

namespace millrace {

// How a sink's table lies in a database: an ordinary table with the schema's columns in their
// order, and an index on its key with a name of ours. Not a STRICT table: the types of what
// Millrace writes are checked before SQLite sees them, and programs older than STRICT could not
// even open the database.

/// Throws UsageError naming the first thing in the database that stands where the sink's table, its
/// index or the table of markers belongs and is not like it. What is missing is no difference.
void expect_same_layout(Database& database, const TableSchema& schema);

/// Creates what is missing. Expects a transaction, and the same layout of what is there.
void create_missing(Database& database, const TableSchema& schema);

}  // namespace millrace
