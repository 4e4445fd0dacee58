#include "window_step.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"

#include "field_names.hpp"
#include "sink_section.hpp"

namespace millrace {
namespace {

using Kind = WindowShape::Kind;

constexpr std::pair<const char*, Kind> kinds[] = {{"tumbling", Kind::tumbling},
                                                  {"sliding", Kind::sliding},
                                                  {"sessions", Kind::sessions},
                                                  {"global", Kind::global}};

const char* name_of(Kind kind) {
  return std::find_if(std::begin(kinds), std::end(kinds),
                      [&](const auto& pair) { return pair.second == kind; })
      ->first;
}

/// The kind that the section says its windows are of.
Kind read_kind(TomlSection& window) {
  const std::string expected = "one of `tumbling`, `sliding`, `sessions` and `global` is expected";
  std::vector<std::pair<const char*, Kind>> said;
  for (const auto& pair : kinds) {
    if (window.has(pair.first)) said.push_back(pair);
  }
  if (said.empty()) window.fail("a window of no kind: " + expected);
  if (said.size() > 1) {
    window.fail_key(said[1].first, fmt::format("a window is `{}` and `{}`; {}", said[0].first,
                                               said[1].first, expected));
  }
  return said.front().second;
}

Duration read_size(TomlSection& window, const char* key) {
  const Duration size = window.duration(key);
  if (size == Duration::zero()) {
    window.fail_key(key, "a window of no length: a span above 0 is expected");
  }
  return size;
}

Duration read_slide(TomlSection& window, Duration size) {
  const Duration slide = window.duration("slide");
  if (slide == Duration::zero() || slide > size) {
    window.fail_key("slide", fmt::format("{} is {}; a span above 0 and at most `sliding`, which "
                                         "is {}, is expected: windows leave no gaps",
                                         window.path_of("slide"), describe(slide), describe(size)));
  }
  return slide;
}

Duration read_offset(TomlSection& window, Duration slide) {
  const Duration offset = window.duration_or("offset", Duration{0});
  if (offset >= slide) {
    window.fail_key("offset",
                    fmt::format("{} is {}; less than {} is expected, from one window to "
                                "the next",
                                window.path_of("offset"), describe(offset), describe(slide)));
  }
  return offset;
}

std::vector<std::string> columns_beside_key(const WindowSpec& spec) {
  std::vector<std::string> columns;
  if (spec.has_bounds()) columns.insert(columns.end(), {"window_start", "window_end"});
  if (spec.has_panes()) columns.emplace_back("pane");
  return columns;
}

std::vector<std::uint32_t> read_key(TomlSection& window, const WindowSpec& spec,
                                    const std::vector<Field>& fields) {
  std::vector<std::uint32_t> key;
  const std::vector<std::string> taken = columns_beside_key(spec);
  for (const TomlEntry& entry : window.texts("key")) {
    const auto number = find_field(fields, entry.key, window, "key", &entry.value);
    if (fields[number].type == FieldType::real) {
      window.fail_at(entry.value, fmt::format("`{}` is a float64, which makes no key: equal "
                                              "numbers can be written differently",
                                              entry.key));
    }
    if (std::find(taken.begin(), taken.end(), entry.key) != taken.end()) {
      window.fail_at(entry.value,
                     fmt::format("`{}` is the name of another column of the table", entry.key));
    }
    if (std::find(key.begin(), key.end(), number) != key.end()) {
      window.fail_at(entry.value, fmt::format("`{}` stands in the key twice", entry.key));
    }
    key.push_back(number);
  }
  if (key.empty()) window.fail_key("key", "a key of one field or more is expected");
  return key;
}

Duration read_lateness(TomlSection& window, const WindowShape& shape) {
  const Duration lateness = window.duration_or("allowed_lateness", Duration{0});
  if (lateness > Duration::zero() && shape.kind == Kind::global) {
    window.fail_key("allowed_lateness",
                    "`step.window.allowed_lateness` of a global window: it never ends, so that "
                    "nothing is late for it");
  }
  return lateness;
}

AggregateColumn read_fold(const TomlSection& at, const TomlEntry& entry, std::string_view text,
                          const std::vector<Field>& fields) {
  AggregateColumn column;
  column.name = entry.key;
  const auto open = text.find('(');
  const auto fold = find_fold(text.substr(0, open));
  if (open == std::string_view::npos || !text.ends_with(')') || !fold) {
    at.fail_at(entry.value,
               fmt::format("{} is \"{}\"; count(), count(FIELD), count_distinct(FIELD), "
                           "sum(FIELD), min(FIELD), max(FIELD) or avg(FIELD) is expected",
                           at.path_of(entry.key), text));
  }
  column.fold = *fold;
  const auto of = text.substr(open + 1, text.size() - open - 2);
  using Fold = AggregateColumn::Fold;
  if (of.empty() && *fold == Fold::count) {
    column.of_rows = true;
    return column;
  }
  column.field = find_field(fields, of, at, entry.key, &entry.value);
  const bool counts = *fold == Fold::count || *fold == Fold::count_distinct;
  if (!counts && fields[column.field].type == FieldType::text) {
    at.fail_at(entry.value, fmt::format("{} is \"{}\", and `{}` is a string; a number is expected",
                                        at.path_of(entry.key), text, of));
  }
  return column;
}

std::vector<AggregateColumn> read_aggregates(TomlSection section, const WindowSpec& spec,
                                             const std::vector<Field>& fields) {
  std::vector<AggregateColumn> aggregates;
  std::set<std::string> columns;
  for (std::string& column : columns_beside_key(spec)) columns.insert(std::move(column));
  for (const std::uint32_t number : spec.key) columns.insert(fields[number].name);
  for (const TomlEntry& entry : section.entries()) {
    if (!columns.insert(entry.key).second) {
      section.fail_at(entry.value,
                      fmt::format("{} is the name of another column", section.path_of(entry.key)));
    }
    const auto text = entry.value.text();
    aggregates.push_back(
        read_fold(section, entry, text ? *text : section.text(entry.key.c_str()), fields));
    if (aggregates.size() > Row::most_fields) {
      section.fail_at(entry.value,
                      fmt::format("more than {} aggregates of one window", Row::most_fields));
    }
  }
  if (aggregates.empty()) {
    section.fail("one aggregate or more is expected, such as { count = \"count()\" }");
  }
  return aggregates;
}

constexpr std::int64_t longest_top = 1000;

/// What is told once: there is no column that would tell a second time from the first.
void expect_one_result(const WindowSpec& spec, const TomlSection& step) {
  if (!spec.has_panes()) return;
  step.fail_key("top", fmt::format("{} of {}: its results are told again, and `top` has no `pane`",
                                   step.path_of("top"),
                                   spec.has_bounds() ? "a window with an allowed lateness"
                                                     : "a global window"));
}

TopSpec read_top(TomlSection top, const std::vector<Field>& fields) {
  TopSpec spec;
  spec.most = static_cast<std::uint32_t>(top.integer("n", 1, longest_top));
  spec.by = find_field(fields, top.text("by"), top, "by");
  for (const char* const name : {"window_start", "window_end", "rank"}) {
    const bool is_taken = std::any_of(fields.begin(), fields.end(),
                                      [&](const Field& field) { return field.name == name; });
    if (is_taken) top.fail(fmt::format("the rows have a field `{}`, which `top` gives them", name));
  }
  if (fields.size() + 3 > Row::most_fields) {
    top.fail(fmt::format("rows of {} fields; with `top` at most {} are expected", fields.size(),
                         Row::most_fields - 3));
  }
  top.finish();
  return spec;
}

std::vector<std::string> key_names(const WindowSpec& window, const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const std::uint32_t number : window.key) names.push_back(fields[number].name);
  return names;
}

}  // namespace

WindowShape read_shape(TomlSection& window) {
  WindowShape shape;
  shape.kind = read_kind(window);
  switch (shape.kind) {
    case Kind::tumbling:
      shape.size = read_size(window, "tumbling");
      shape.offset = read_offset(window, shape.size);
      break;
    case Kind::sliding:
      shape.size = read_size(window, "sliding");
      shape.slide = read_slide(window, shape.size);
      shape.offset = read_offset(window, shape.slide);
      break;
    case Kind::sessions: shape.size = read_size(window, "sessions"); break;
    case Kind::global:
      if (!window.boolean_or("global", true)) {
        window.fail_key("global",
                        fmt::format("{} is false; true is expected", window.path_of("global")));
      }
      shape.every = window.integer("every", 1, std::numeric_limits<std::int64_t>::max());
      break;
  }
  return shape;
}

std::vector<std::pair<std::string, std::string>> settings_of(const WindowShape& shape) {
  const auto span = [](Duration value) { return toml_quoted(describe(value)); };
  std::vector<std::pair<std::string, std::string>> settings{
      {name_of(shape.kind), shape.kind == Kind::global ? "true" : span(shape.size)}};
  if (shape.kind == Kind::sliding) settings.emplace_back("slide", span(shape.slide));
  if (shape.offset != Duration::zero()) settings.emplace_back("offset", span(shape.offset));
  if (shape.kind == Kind::global) settings.emplace_back("every", fmt::format("{}", shape.every));
  return settings;
}

void add_fingerprint(const WindowShape& shape, const std::string& prefix,
                     std::vector<FingerprintPart>& parts) {
  for (const auto& [name, value] : settings_of(shape)) {
    const bool is_quoted = value.starts_with('"');
    parts.push_back({prefix + name, is_quoted ? value.substr(1, value.size() - 2) : value});
  }
}

WindowSpec read_window_step(TomlSection& step, const std::vector<Field>& fields) {
  TomlSection window = step.section("window");
  WindowSpec spec;
  spec.shape = read_shape(window);
  spec.allowed_lateness = read_lateness(window, spec.shape);
  spec.key = read_key(window, spec, fields);
  window.finish();
  if (!step.has("top")) {
    spec.aggregates = read_aggregates(step.section("aggregate"), spec, fields);
    return spec;
  }
  if (step.has("aggregate")) {
    step.fail_key("aggregate", "a window with `aggregate` and `top`: one of them is expected");
  }
  expect_one_result(spec, step);
  spec.top = read_top(step.section("top"), fields);
  return spec;
}

std::string to_toml(const WindowSpec& window, const std::vector<Field>& fields) {
  std::string settings;
  for (const auto& [name, value] : settings_of(window.shape)) {
    settings += fmt::format("{} = {}, ", name, value);
  }
  if (window.allowed_lateness != Duration::zero()) {
    settings +=
        fmt::format("allowed_lateness = {}, ", toml_quoted(describe(window.allowed_lateness)));
  }
  std::vector<std::string> aggregates;
  for (const AggregateColumn& column : window.aggregates) {
    aggregates.push_back(
        fmt::format("{} = {}", toml_quoted(column.name), toml_quoted(describe(column, fields))));
  }
  return fmt::format("window = {{ {}key = {} }}\n{}\n{}", settings,
                     toml_list(key_names(window, fields)),
                     window.top ? fmt::format("top = {{ n = {}, by = {} }}", window.top->most,
                                              toml_quoted(fields[window.top->by].name))
                                : fmt::format("aggregate = {{ {} }}", fmt::join(aggregates, ", ")),
                     window.late ? late_to_toml(*window.late) : "");
}

void add_fingerprint(const WindowSpec& window, const std::vector<Field>& fields,
                     std::vector<FingerprintPart>& parts) {
  add_fingerprint(window.shape, "window.", parts);
  if (window.allowed_lateness != Duration::zero()) {
    parts.push_back({"window.allowed_lateness", describe(window.allowed_lateness)});
  }
  parts.push_back({"window.key", fmt::format("{}", fmt::join(key_names(window, fields), ", "))});
  if (window.top) {
    parts.push_back(
        {"top", fmt::format("{} by {}", window.top->most, fields[window.top->by].name)});
    return;
  }
  std::vector<std::string> aggregates;
  for (const AggregateColumn& column : window.aggregates) {
    aggregates.push_back(column.name + " = " + describe(column, fields));
  }
  parts.push_back({"aggregate", fmt::format("{}", fmt::join(aggregates, ", "))});
}

}  // namespace millrace
