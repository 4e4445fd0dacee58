#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/sink_table.hpp"

namespace millrace {

// What holds for a sink's table in every database that speaks SQL as SQLite does. Pure.

/// Throws UsageError: a name cannot be used, or the key is not made of the columns. `database` is
/// what the text calls it.
void expect_usable_names(const TableSchema& schema, const std::string& database);

/// Whether two rows with the same key cannot be there at once.
bool has_unique_key(const TableSchema& schema);

/// As SQLite compares names: the case of ASCII letters, and only of those, does not matter.
std::string upper_name(std::string_view name);

/// `INTEGER`, `REAL`, `TEXT`.
const char* name_of(TableSchema::Type type);

/// Columns as they are compared and shown to people: `count` INTEGER NOT NULL.
std::vector<std::string> column_texts(const TableSchema& schema);

/// The key's index as it is compared and shown to people: UNIQUE INDEX (`word`).
std::string index_text(const TableSchema& schema);

/// Names the first column in which a table is not like what is expected, if there is one.
std::optional<std::string> column_difference(const std::vector<std::string>& found,
                                             const std::vector<std::string>& expected);

}  // namespace millrace
