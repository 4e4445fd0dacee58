#include "table_layout.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/table_rules.hpp"

#include "marker_table.hpp"
#include "quoted.hpp"

namespace millrace {
namespace {

std::string index_name(const TableSchema& schema) { return "millrace_key_" + schema.table; }

std::vector<std::string> expected_marker_columns() {
  return {"`sink` TEXT NOT NULL PRIMARY KEY", "`lineage` TEXT NOT NULL",
          "`fence_term` INTEGER NOT NULL", "`term` INTEGER NOT NULL", "`n` INTEGER NOT NULL"};
}

std::string_view text_in(const Statement& row, int column) {
  const Cell cell = row.column(column);
  const auto* text = std::get_if<std::string_view>(&cell);
  return text == nullptr ? std::string_view() : *text;
}

bool holds_in(const Statement& row, int column) {
  const Cell cell = row.column(column);
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number != nullptr && *number != 0;
}

std::vector<std::string> found_columns(Database& database, const std::string& table) {
  Statement rows(database,
                 "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)");
  rows.bind(1, table);
  std::vector<std::string> columns;
  while (rows.step()) {
    columns.push_back(
        fmt::format("`{}` {}{}{}{}", text_in(rows, 0),
                    text_in(rows, 1).empty() ? "without a type" : upper_name(text_in(rows, 1)),
                    holds_in(rows, 2) ? " NOT NULL" : "", holds_in(rows, 3) ? " PRIMARY KEY" : "",
                    holds_in(rows, 4) ? " GENERATED" : ""));
  }
  return columns;
}

std::string found_index(Database& database, const TableSchema& schema) {
  Statement kind(database, "SELECT \"unique\", partial FROM pragma_index_list(?1) WHERE name = ?2");
  const std::string name = index_name(schema);
  kind.bind(1, schema.table);
  kind.bind(2, name);
  if (!kind.step()) return "something else";
  const bool is_unique = holds_in(kind, 0);
  const bool is_partial = holds_in(kind, 1);

  Statement rows(database, "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key");
  rows.bind(1, name);
  std::string columns;
  while (rows.step()) {
    const std::string_view column = text_in(rows, 0);
    columns += columns.empty() ? "" : ", ";
    columns += column.empty() ? "an expression" : fmt::format("`{}`", column);
    columns += holds_in(rows, 1) ? " DESC" : "";
    if (text_in(rows, 2) != "BINARY") columns += fmt::format(" COLLATE {}", text_in(rows, 2));
  }
  return fmt::format("{}INDEX ({}){}", is_unique ? "UNIQUE " : "", columns,
                     is_partial ? " WHERE ..." : "");
}

/// What stands in the database under a name, and how it is spelt there.
struct Found {
  std::string name;
  std::string kind;  ///< `table`, `view`, `virtual`, `index`, ...
};

std::optional<Found> find(Database& database, const std::string& name) {
  // The first list tells a virtual table from another; the second also has indexes.
  Statement rows(database,
                 "SELECT name, type FROM pragma_table_list"
                 " WHERE schema = 'main' AND name = ?1 COLLATE NOCASE"
                 " UNION ALL SELECT name, type FROM sqlite_schema"
                 " WHERE type = 'index' AND name = ?1 COLLATE NOCASE");
  rows.bind(1, name);
  if (!rows.step()) return std::nullopt;
  return Found{std::string(text_in(rows, 0)), std::string(text_in(rows, 1))};
}

/// Names what is wrong with a table, if it is there.
std::optional<std::string> table_difference(Database& database, const std::string& table,
                                            const std::vector<std::string>& expected) {
  const auto found = find(database, table);
  if (!found) return std::nullopt;
  if (found->kind != "table") {
    return fmt::format("it is of kind `{}`; expected an ordinary table", found->kind);
  }
  if (found->name != table) {
    return fmt::format("it is spelt `{}`; expected `{}`", found->name, table);
  }
  return column_difference(found_columns(database, table), expected);
}

std::optional<std::string> index_difference(Database& database, const TableSchema& schema) {
  if (schema.key.empty() || !find(database, index_name(schema))) return std::nullopt;
  const std::string found = found_index(database, schema);
  const std::string expected = index_text(schema);
  if (found == expected) return std::nullopt;
  return fmt::format("`{}` is {}; expected {}", index_name(schema), found, expected);
}

std::string key_columns(const TableSchema& schema) {
  std::string columns;
  for (const auto& column : schema.key) {
    columns += (columns.empty() ? "" : ", ") + quoted(column);
  }
  return columns;
}

/// Rows that were there before the constraint.
bool has_equal_keys(Database& database, const TableSchema& schema) {
  Statement rows(database, fmt::format("SELECT 1 FROM {0} WHERE ({1}) IS NOT NULL"
                                       " GROUP BY {1} HAVING count(*) > 1 LIMIT 1",
                                       quoted(schema.table), key_columns(schema)));
  return rows.step();
}

std::string creation(const TableSchema& schema) {
  std::string columns;
  for (const auto& column : schema.columns) {
    columns += fmt::format("{}{} {}{}", columns.empty() ? "" : ", ", quoted(column.name),
                           name_of(column.type), column.nullable ? "" : " NOT NULL");
  }
  return fmt::format("CREATE TABLE {}({})", quoted(schema.table), columns);
}

}  // namespace

void expect_same_layout(Database& database, const TableSchema& schema) {
  const auto refuse = [&](std::string_view table, const std::string& why) {
    throw UsageError(fmt::format("table `{}` in database `{}`: {}", table, database.path(), why));
  };
  Statement encoding(database, "PRAGMA encoding");
  encoding.step();
  // In another encoding SQLite would translate texts, and change those that are not Unicode.
  if (text_in(encoding, 0) != "UTF-8") {
    throw UsageError(fmt::format("database `{}`: its texts are {}; expected UTF-8", database.path(),
                                 text_in(encoding, 0)));
  }
  const std::string markers(MarkerTable::name);
  if (auto why = table_difference(database, markers, expected_marker_columns())) {
    refuse(markers, *why);
  }
  if (auto why = table_difference(database, schema.table, column_texts(schema))) {
    refuse(schema.table, *why);
  }
  if (auto why = index_difference(database, schema)) refuse(schema.table, *why);
  const bool index_comes_late =
      has_unique_key(schema) && find(database, schema.table) && !find(database, index_name(schema));
  if (index_comes_late && has_equal_keys(database, schema)) {
    refuse(schema.table, "it has rows that are equal in the key; expected a key that is unique");
  }
}

void create_missing(Database& database, const TableSchema& schema) {
  if (!find(database, std::string(MarkerTable::name))) database.execute(MarkerTable::creation());
  if (!find(database, schema.table)) database.execute(creation(schema));
  if (schema.key.empty() || find(database, index_name(schema))) return;
  database.execute(fmt::format("CREATE {}INDEX {} ON {}({})",
                               has_unique_key(schema) ? "UNIQUE " : "", quoted(index_name(schema)),
                               quoted(schema.table), key_columns(schema)));
}

}  // namespace millrace
