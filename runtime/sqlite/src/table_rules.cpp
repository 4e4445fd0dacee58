#include "millrace/sqlite/table_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace {

void expect_usable_names(const TableSchema& schema, const std::string& database) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("table `{}` in database `{}`: {}", schema.table, database, why));
  };
  const auto is_name = [](std::string_view name) {
    return !name.empty() && name.find('\0') == std::string_view::npos;
  };
  const std::string table = upper_name(schema.table);
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
    if (std::ranges::find(names, upper_name(column.name)) != names.end()) {
      refuse(fmt::format("there are two columns `{}`; expected names that differ", column.name));
    }
    names.push_back(upper_name(column.name));
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
  if (has_unique_key(schema) && schema.key.empty()) {
    refuse("its key is unique; expected it to be given");
  }
  if (schema.mode != SinkMode::upsert) return;
  for (const auto& column : schema.columns) {
    if (!column.nullable || std::ranges::find(schema.key, column.name) == schema.key.end())
      continue;
    refuse(fmt::format("its key has `{}`, which may be null; expected a key that tells rows apart",
                       column.name));
  }
}

bool has_unique_key(const TableSchema& schema) {
  return schema.unique_key || schema.mode == SinkMode::upsert;
}

std::string upper_name(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

const char* name_of(TableSchema::Type type) {
  switch (type) {
    case TableSchema::Type::integer: return "INTEGER";
    case TableSchema::Type::real: return "REAL";
    case TableSchema::Type::text: return "TEXT";
  }
  violated("every type of a column has a name", Where::here());
}

std::vector<std::string> column_texts(const TableSchema& schema) {
  std::vector<std::string> texts;
  for (const auto& column : schema.columns) {
    texts.push_back(fmt::format("`{}` {}{}", column.name, name_of(column.type),
                                column.nullable ? "" : " NOT NULL"));
  }
  return texts;
}

std::string index_text(const TableSchema& schema) {
  std::string columns;
  for (const auto& column : schema.key) {
    columns += fmt::format("{}`{}`", columns.empty() ? "" : ", ", column);
  }
  return fmt::format("{}INDEX ({})", has_unique_key(schema) ? "UNIQUE " : "", columns);
}

std::optional<std::string> column_difference(const std::vector<std::string>& found,
                                             const std::vector<std::string>& expected) {
  for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    if (i >= found.size()) {
      return fmt::format("column {} is missing; expected {}", i + 1, expected[i]);
    }
    if (i >= expected.size()) {
      return fmt::format("column {} is {}; expected no more than {} columns", i + 1, found[i],
                         expected.size());
    }
    if (found[i] != expected[i]) {
      return fmt::format("column {} is {}; expected {}", i + 1, found[i], expected[i]);
    }
  }
  return std::nullopt;
}

}  // namespace millrace
