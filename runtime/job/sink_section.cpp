#include "sink_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/job/names.hpp"

#include "field_names.hpp"

namespace millrace {
namespace {

SinkMode read_mode(TomlSection& sink) {
  const auto mode = sink.text_or("mode", "staged");
  if (const auto found = find_sink_mode(mode)) return *found;
  sink.fail_key("mode", fmt::format("{} is \"{}\"; \"staged\", \"upsert\" or \"insert\" is "
                                    "expected",
                                    sink.path_of("mode"), mode));
}

std::vector<std::string> read_key(TomlSection& sink, const std::vector<Field>& columns) {
  std::vector<std::string> key;
  if (!sink.has("key")) return key;
  for (const TomlEntry& entry : sink.texts("key")) {
    const bool known = std::any_of(columns.begin(), columns.end(),
                                   [&](const Field& column) { return column.name == entry.key; });
    if (!known) {
      sink.fail_at(entry.value, fmt::format("the table has no column `{}`; its columns are {}",
                                            entry.key, list_of_names(columns)));
    }
    key.push_back(entry.key);
  }
  return key;
}

/// Results of one key would replace each other, in an order that nobody promises. Of rows without
/// a window that is what is asked for.
void expect_distinct_keys(const SinkSpec& spec, const TomlSection& sink,
                          const std::vector<Field>& columns, const Identity& identity) {
  const auto holds = [&](std::string_view column) {
    return std::find(spec.key.begin(), spec.key.end(), column) != spec.key.end();
  };
  const auto expect = [&](const std::string& column) {
    if (holds(column)) return;
    sink.fail_key("key",
                  fmt::format("{} of an upsert sink lacks `{}`; the key of the window{} expected, "
                              "which tell rows apart",
                              sink.path_of("key"), column,
                              identity.has_bounds ? " and `window_start` are" : " is"));
  };
  if (identity.columns.empty() && spec.key.empty()) {
    sink.fail_key("key",
                  fmt::format("{} of an upsert sink is empty; the columns are expected by which "
                              "a row replaces another",
                              sink.path_of("key")));
  }
  for (const std::string& column : identity.columns) expect(column);
  if (identity.has_bounds && !holds("window_end")) expect("window_start");
  for (const Field& column : columns) {
    if (!column.nullable || !holds(column.name)) continue;
    sink.fail_key("key", fmt::format("{} of an upsert sink has `{}`, which may be null",
                                     sink.path_of("key"), column.name));
  }
}

}  // namespace

SinkSpec read_sink(TomlSection& sink, const std::vector<Field>& columns, const Identity& identity) {
  SinkSpec spec;
  spec.table = sink.text("table");
  spec.database = sink.text("database");
  spec.mode = read_mode(sink);
  spec.key = read_key(sink, columns);
  spec.unique_key = sink.boolean_or("unique", false);
  if (spec.unique_key && spec.key.empty()) {
    sink.fail_key("unique", fmt::format("{} is true without a {} that could be unique",
                                        sink.path_of("unique"), sink.path_of("key")));
  }
  if (spec.unique_key && spec.mode == SinkMode::insert) {
    sink.fail_key("unique", fmt::format("{} is true, and an insert sink writes rows again",
                                        sink.path_of("unique")));
  }
  if (spec.mode == SinkMode::upsert) expect_distinct_keys(spec, sink, columns, identity);
  sink.finish();
  return spec;
}

std::string to_toml(const SinkSpec& sink) {
  return fmt::format("table = {}\ndatabase = {}\nmode = \"{}\"\nkey = {}\nunique = {}\n",
                     toml_quoted(sink.table), toml_quoted(sink.database), describe(sink.mode),
                     toml_list(sink.key), sink.unique_key);
}

SinkSpec read_late(TomlSection late, const SinkSpec& beside) {
  SinkSpec spec;
  spec.table = late.text("table");
  spec.database = late.text_or("database", beside.database);
  spec.mode = read_mode(late);
  if (spec.mode == SinkMode::upsert) {
    late.fail_key("mode", fmt::format("{} is \"upsert\"; \"staged\" or \"insert\" is expected: "
                                      "nothing tells late rows apart",
                                      late.path_of("mode")));
  }
  late.finish();
  return spec;
}

std::string late_to_toml(const SinkSpec& late) {
  return fmt::format("late = {{ table = {}, database = {}, mode = \"{}\" }}\n",
                     toml_quoted(late.table), toml_quoted(late.database), describe(late.mode));
}

}  // namespace millrace
