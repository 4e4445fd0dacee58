#include "join_step.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"

#include "field_names.hpp"
#include "job_inputs.hpp"
#include "window_step.hpp"

namespace millrace {
namespace {

using From = JoinColumn::From;

std::optional<Duration> parse_signed(std::string_view text) {
  if (!text.starts_with('-')) return parse_duration(text);
  const auto span = parse_duration(text.substr(1));
  return span ? std::optional(-*span) : std::nullopt;
}

void read_between(TomlSection& join, JoinSpec& spec) {
  std::vector<Duration> spans;
  const std::vector<TomlEntry> texts = join.texts("between");
  for (const TomlEntry& entry : texts) {
    const auto span = parse_signed(entry.key);
    if (!span) {
      join.fail_at(entry.value, fmt::format("{}: \"{}\"; a span such as \"-10s\" or \"1h\" is "
                                            "expected",
                                            join.path_of("between"), entry.key));
    }
    spans.push_back(*span);
  }
  if (spans.size() != 2 || spans[0] > spans[1]) {
    join.fail_key("between",
                  fmt::format("{}: two spans are expected, the smaller one first, such as "
                              "[\"-5min\", \"1h\"]: so far is a right row from a left one",
                              join.path_of("between")));
  }
  spec.before = -spans[0];
  spec.after = spans[1];
}

void read_kind(TomlSection& join, JoinSpec& spec) {
  const std::string expected = "one of `tumbling`, `sliding` and `between` is expected";
  for (const char* const other : {"sessions", "global"}) {
    if (join.has(other)) join.fail_key(other, fmt::format("{}: {}", join.path_of(other), expected));
  }
  const bool has_window = join.has("tumbling") || join.has("sliding");
  if (has_window == join.has("between")) {
    join.fail(fmt::format("a join of {}: {}", has_window ? "two kinds" : "no kind", expected));
  }
  if (has_window) {
    spec.window = read_shape(join);
  } else {
    read_between(join, spec);
  }
}

std::vector<std::uint32_t> read_key(TomlSection& join, const char* name, const JoinSide& side) {
  std::vector<std::uint32_t> key;
  for (const TomlEntry& entry : join.texts(name)) {
    const auto number = find_field(side.fields, entry.key, join, name, &entry.value);
    if (side.fields[number].type == FieldType::real) {
      join.fail_at(entry.value, fmt::format("`{}` is a float64, which makes no key: equal numbers "
                                            "can be written differently",
                                            entry.key));
    }
    if (std::find(key.begin(), key.end(), number) != key.end()) {
      join.fail_at(entry.value, fmt::format("`{}` stands in the key twice", entry.key));
    }
    key.push_back(number);
  }
  if (key.empty()) join.fail_key(name, "a key of one field or more is expected");
  return key;
}

/// `a.x`, which is string.
std::string typed(const JoinSide& side, std::uint32_t number) {
  Field field = side.fields[number];
  field.nullable = false;
  return fmt::format("`{}.{}` is {}", side.name, field.name, type_text(field));
}

void expect_equal_keys(const JoinSpec& spec, const TomlSection& join, const JoinSides& sides) {
  if (spec.left_key.size() != spec.right_key.size()) {
    join.fail_key("right_key", fmt::format("{} has {} fields and `left_key` has {}; equally many "
                                           "are expected",
                                           join.path_of("right_key"), spec.right_key.size(),
                                           spec.left_key.size()));
  }
  for (std::size_t i = 0; i < spec.left_key.size(); ++i) {
    const FieldType left = sides.left.fields[spec.left_key[i]].type;
    const FieldType right = sides.right.fields[spec.right_key[i]].type;
    if (left == right) continue;
    join.fail_key("right_key", fmt::format("a join of unequal key types: {} and {}",
                                           typed(sides.left, spec.left_key[i]),
                                           typed(sides.right, spec.right_key[i])));
  }
}

/// A column of one side. What is part of the key is never null: rows with null in it meet none.
JoinColumn column_of(const JoinSpec& spec, const JoinSides& sides, From from, std::uint32_t field) {
  const bool is_left = from == From::left;
  const auto& key = is_left ? spec.left_key : spec.right_key;
  JoinColumn column{(is_left ? sides.left : sides.right).fields[field], from, field};
  if (std::find(key.begin(), key.end(), field) != key.end()) column.made.nullable = false;
  return column;
}

JoinColumn bound_of(From from) {
  const char* const name = from == From::window_start ? "window_start" : "window_end";
  return {{name, FieldType::integer, false}, from, 0};
}

/// Whether a field of the right is part of the key, and so is the same of the left.
bool is_shared(const JoinSpec& spec, const JoinSides& sides, std::uint32_t right) {
  for (std::size_t i = 0; i < spec.right_key.size(); ++i) {
    if (spec.right_key[i] != right) continue;
    return sides.left.fields[spec.left_key[i]].name == sides.right.fields[right].name;
  }
  return false;
}

std::vector<JoinColumn> all_columns(const JoinSpec& spec, const TomlSection& step,
                                    const JoinSides& sides) {
  std::vector<JoinColumn> columns;
  for (std::uint32_t i = 0; i < sides.left.fields.size(); ++i) {
    columns.push_back(column_of(spec, sides, From::left, i));
  }
  for (std::uint32_t i = 0; i < sides.right.fields.size(); ++i) {
    if (!is_shared(spec, sides, i)) columns.push_back(column_of(spec, sides, From::right, i));
  }
  if (spec.window) {
    columns.push_back(bound_of(From::window_start));
    columns.push_back(bound_of(From::window_end));
  }
  std::set<std::string_view> names;
  for (const JoinColumn& column : columns) {
    const std::string& name = column.made.name;
    if (names.insert(name).second) continue;
    step.fail_key("join", fmt::format("two columns of the join are called `{0}`; `columns` is "
                                      "expected to say which there are, such as {{ a = "
                                      "\"left.{0}\", b = \"right.{0}\" }}",
                                      name));
  }
  return columns;
}

/// What `left.x`, `right.x`, `window_start` or `window_end` stand for.
JoinColumn read_column(const JoinSpec& spec, const TomlSection& columns, const TomlEntry& entry,
                       std::string_view text, const JoinSides& sides) {
  if (spec.window && text == "window_start") return bound_of(From::window_start);
  if (spec.window && text == "window_end") return bound_of(From::window_end);
  for (const From from : {From::left, From::right}) {
    const std::string_view prefix = from == From::left ? "left." : "right.";
    if (!text.starts_with(prefix)) continue;
    const auto& fields = (from == From::left ? sides.left : sides.right).fields;
    const auto field =
        find_field(fields, text.substr(prefix.size()), columns, entry.key, &entry.value);
    return column_of(spec, sides, from, field);
  }
  columns.fail_at(entry.value,
                  fmt::format("{} is \"{}\"; left.FIELD{} right.FIELD{} is expected",
                              columns.path_of(entry.key), text, spec.window ? "," : " or",
                              spec.window ? ", window_start or window_end" : ""));
}

std::vector<JoinColumn> read_columns(const JoinSpec& spec, TomlSection section,
                                     const JoinSides& sides) {
  std::vector<JoinColumn> columns;
  for (const TomlEntry& entry : section.entries()) {
    const auto text = entry.value.text();
    columns.push_back(
        read_column(spec, section, entry, text ? *text : section.text(entry.key.c_str()), sides));
    columns.back().made.name = entry.key;
  }
  if (columns.empty()) section.fail("one column or more is expected, such as { a = \"left.a\" }");
  return columns;
}

std::string text_of(const JoinColumn& column, const JoinSides& sides) {
  switch (column.from) {
    case From::left: return "left." + sides.left.fields[column.field].name;
    case From::right: return "right." + sides.right.fields[column.field].name;
    case From::window_start: return "window_start";
    case From::window_end: return "window_end";
  }
  return "";
}

std::vector<std::string> key_names(const std::vector<std::uint32_t>& key, const JoinSide& side) {
  std::vector<std::string> names;
  for (const std::uint32_t field : key) names.push_back(side.fields[field].name);
  return names;
}

}  // namespace

JoinSides join_sides(const JobSpec& spec, const std::vector<std::vector<Field>>& rows,
                     const StepSpec& step) {
  const std::vector<std::string> names = names_of(spec, step.inputs);
  return {{names[0], rows[step.inputs[0]]}, {names[1], rows[step.inputs[1]]}};
}

std::string describe_signed(Duration span) {
  return span < Duration::zero() ? "-" + describe(-span) : describe(span);
}

JoinSpec read_join_step(TomlSection& step, TomlSection& join, const JoinSides& sides) {
  JoinSpec spec;
  read_kind(join, spec);
  spec.left_key = read_key(join, "left_key", sides.left);
  spec.right_key = read_key(join, "right_key", sides.right);
  expect_equal_keys(spec, join, sides);
  join.finish();
  spec.has_own_columns = step.has("columns");
  spec.columns = spec.has_own_columns ? read_columns(spec, step.section("columns"), sides)
                                      : all_columns(spec, step, sides);
  if (spec.columns.size() > Row::most_fields) {
    step.fail_key("join", fmt::format("{} columns of a join; at most {} are expected",
                                      spec.columns.size(), Row::most_fields));
  }
  return spec;
}

std::string to_toml(const JoinSpec& join, const JoinSides& sides) {
  std::string how;
  if (join.window) {
    for (const auto& [name, value] : settings_of(*join.window)) {
      how += fmt::format("{}{} = {}", how.empty() ? "" : ", ", name, value);
    }
  } else {
    how = fmt::format("between = [\"{}\", \"{}\"]", describe_signed(-join.before),
                      describe_signed(join.after));
  }
  std::string out =
      fmt::format("join = {{ left = {}, right = {}, left_key = {}, right_key = {}, {} }}\n",
                  toml_quoted(sides.left.name), toml_quoted(sides.right.name),
                  toml_list(key_names(join.left_key, sides.left)),
                  toml_list(key_names(join.right_key, sides.right)), how);
  if (!join.has_own_columns) return out;
  std::vector<std::string> columns;
  for (const JoinColumn& column : join.columns) {
    columns.push_back(
        fmt::format("{} = {}", toml_quoted(column.made.name), toml_quoted(text_of(column, sides))));
  }
  return out + fmt::format("columns = {{ {} }}\n", fmt::join(columns, ", "));
}

void add_fingerprint(const JoinSpec& join, const JoinSides& sides,
                     std::vector<FingerprintPart>& parts) {
  parts.push_back({"join.left", sides.left.name});
  parts.push_back({"join.right", sides.right.name});
  parts.push_back(
      {"join.left_key", fmt::format("{}", fmt::join(key_names(join.left_key, sides.left), ", "))});
  parts.push_back({"join.right_key",
                   fmt::format("{}", fmt::join(key_names(join.right_key, sides.right), ", "))});
  if (join.window) {
    add_fingerprint(*join.window, "join.", parts);
  } else {
    parts.push_back({"join.between", fmt::format("{}, {}", describe_signed(-join.before),
                                                 describe_signed(join.after))});
  }
  if (!join.has_own_columns) return;
  std::vector<std::string> columns;
  for (const JoinColumn& column : join.columns) {
    columns.push_back(fmt::format("{} = {}", column.made.name, text_of(column, sides)));
  }
  parts.push_back({"columns", fmt::format("{}", fmt::join(columns, ", "))});
}

}  // namespace millrace
