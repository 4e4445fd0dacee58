#include "table_layout.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "marker_table.hpp"
#include "quoted.hpp"

namespace millrace {
namespace {

/// SQLite ignores the case of ASCII letters in names, and only of those.
std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string index_name(const TableSchema& schema) { return "millrace_key_" + schema.table; }

const char* type_name(TableSchema::Type type) {
  switch (type) {
    case TableSchema::Type::integer: return "INTEGER";
    case TableSchema::Type::real: return "REAL";
    case TableSchema::Type::text: return "TEXT";
  }
  violated("every type of a column has a name", Where::here());
}

/// Columns are compared, and shown to people, as texts: `count` INTEGER NOT NULL.
std::string shown(const TableSchema::Column& column) {
  return fmt::format("`{}` {}{}", column.name, type_name(column.type),
                     column.nullable ? "" : " NOT NULL");
}

std::vector<std::string> expected_columns(const TableSchema& schema) {
  std::vector<std::string> columns;
  for (const auto& column : schema.columns) columns.push_back(shown(column));
  return columns;
}

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
                    text_in(rows, 1).empty() ? "without a type" : upper(text_in(rows, 1)),
                    holds_in(rows, 2) ? " NOT NULL" : "", holds_in(rows, 3) ? " PRIMARY KEY" : "",
                    holds_in(rows, 4) ? " GENERATED" : ""));
  }
  return columns;
}

bool is_unique(const TableSchema& schema) {
  return schema.unique_key || schema.mode == SinkMode::upsert;
}

std::string expected_index(const TableSchema& schema) {
  std::string columns;
  for (const auto& column : schema.key) {
    columns += fmt::format("{}`{}`", columns.empty() ? "" : ", ", column);
  }
  return fmt::format("{}INDEX ({})", is_unique(schema) ? "UNIQUE " : "", columns);
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
  const auto columns = found_columns(database, table);
  for (std::size_t i = 0; i < std::max(columns.size(), expected.size()); ++i) {
    if (i >= columns.size()) {
      return fmt::format("column {} is missing; expected {}", i + 1, expected[i]);
    }
    if (i >= expected.size()) {
      return fmt::format("column {} is {}; expected no more than {} columns", i + 1, columns[i],
                         expected.size());
    }
    if (columns[i] != expected[i]) {
      return fmt::format("column {} is {}; expected {}", i + 1, columns[i], expected[i]);
    }
  }
  return std::nullopt;
}

std::optional<std::string> index_difference(Database& database, const TableSchema& schema) {
  if (schema.key.empty() || !find(database, index_name(schema))) return std::nullopt;
  const std::string found = found_index(database, schema);
  const std::string expected = expected_index(schema);
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
                           type_name(column.type), column.nullable ? "" : " NOT NULL");
  }
  return fmt::format("CREATE TABLE {}({})", quoted(schema.table), columns);
}

}  // namespace

void expect_usable_names(const TableSchema& schema, const std::string& database) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("table `{}` in database `{}`: {}", schema.table, database, why));
  };
  const auto is_name = [](std::string_view name) {
    return !name.empty() && name.find('\0') == std::string_view::npos;
  };
  const std::string table = upper(schema.table);
  if (!is_name(schema.table)) {
    throw UsageError(fmt::format(
        "a table in database `{}`: expected a name that is not empty and holds no NUL", database));
  }
  if (table.starts_with("SQLITE_") || table.starts_with("MILLRACE_")) {
    refuse("names that begin with `sqlite_` or `millrace_` are reserved; expected another");
  }
  if (schema.columns.empty()) refuse("it has no columns; expected at least one");
  std::vector<std::string> names;
  for (const auto& column : schema.columns) {
    if (!is_name(column.name)) refuse("expected columns with names that hold no NUL");
    if (std::ranges::find(names, upper(column.name)) != names.end()) {
      refuse(fmt::format("there are two columns `{}`; expected names that differ", column.name));
    }
    names.push_back(upper(column.name));
  }
  for (std::size_t i = 0; i < schema.key.size(); ++i) {
    const std::string& name = schema.key[i];
    if (std::ranges::find(schema.columns, name, &TableSchema::Column::name) ==
        schema.columns.end()) {
      refuse(fmt::format("its key names `{}`; expected one of its columns", name));
    }
    if (std::find(schema.key.begin(), schema.key.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        schema.key.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(fmt::format("its key names `{}` twice; expected it once", name));
    }
  }
  if (is_unique(schema) && schema.key.empty()) refuse("its key is unique; expected it to be given");
  if (schema.mode != SinkMode::upsert) return;
  for (const auto& column : schema.columns) {
    if (!column.nullable || std::ranges::find(schema.key, column.name) == schema.key.end())
      continue;
    refuse(fmt::format("its key has `{}`, which may be null; expected a key that tells rows apart",
                       column.name));
  }
}

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
  if (auto why = table_difference(database, schema.table, expected_columns(schema))) {
    refuse(schema.table, *why);
  }
  if (auto why = index_difference(database, schema)) refuse(schema.table, *why);
  const bool index_comes_late =
      is_unique(schema) && find(database, schema.table) && !find(database, index_name(schema));
  if (index_comes_late && has_equal_keys(database, schema)) {
    refuse(schema.table, "it has rows that are equal in the key; expected a key that is unique");
  }
}

void create_missing(Database& database, const TableSchema& schema) {
  if (!find(database, std::string(MarkerTable::name))) database.execute(MarkerTable::creation());
  if (!find(database, schema.table)) database.execute(creation(schema));
  if (schema.key.empty() || find(database, index_name(schema))) return;
  database.execute(fmt::format("CREATE {}INDEX {} ON {}({})", is_unique(schema) ? "UNIQUE " : "",
                               quoted(index_name(schema)), quoted(schema.table),
                               key_columns(schema)));
}

}  // namespace millrace
