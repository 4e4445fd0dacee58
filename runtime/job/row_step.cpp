#include "row_step.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"

#include "field_names.hpp"

namespace millrace {
namespace {

FilterSpec read_filter(TomlSection& step, const std::vector<Field>& fields) {
  FilterSpec filter;
  filter.text = step.text("filter");
  try {
    filter.expression = parse_expression(filter.text, fields);
  } catch (const UsageError& error) {
    step.fail_key("filter", fmt::format("`filter`: {}", error.what()));
  }
  return filter;
}

/// A name that stands there already keeps its place, others come behind.
std::uint32_t place_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return place;
}

SetSpec read_set(TomlSection section, const std::vector<Field>& fields) {
  SetSpec set;
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  for (const TomlEntry& entry : section.entries()) {
    Assignment assignment;
    assignment.name = entry.key;
    assignment.text = entry.value.text() ? *entry.value.text() : section.text(entry.key.c_str());
    try {
      assignment.value = parse_arithmetic(assignment.text, fields);
    } catch (const UsageError& error) {
      section.fail_at(entry.value, fmt::format("{}: {}", section.path_of(entry.key), error.what()));
    }
    assignment.field = place_of(entry.key, names);
    if (names.size() > Row::most_fields) {
      section.fail_at(entry.value, fmt::format("more than {} fields", Row::most_fields));
    }
    set.assignments.push_back(std::move(assignment));
  }
  if (set.assignments.empty()) {
    section.fail("one field or more is expected, such as { total = \"price * count\" }");
  }
  return set;
}

KeepSpec read_keep(TomlSection& step, const std::vector<Field>& fields) {
  KeepSpec keep;
  for (const TomlEntry& entry : step.texts("keep")) {
    const auto field = find_field(fields, entry.key, step, "keep", &entry.value);
    if (std::find(keep.fields.begin(), keep.fields.end(), field) != keep.fields.end()) {
      step.fail_at(entry.value,
                   fmt::format("{}: `{}` stands there twice", step.path_of("keep"), entry.key));
    }
    keep.fields.push_back(field);
    keep.names.push_back(entry.key);
  }
  if (keep.fields.empty()) step.fail_key("keep", "`step.keep`: one field or more is expected");
  return keep;
}

}  // namespace

StepWork read_row_step(TomlSection& step, const std::vector<Field>& fields) {
  if (step.has("filter")) return read_filter(step, fields);
  if (step.has("set")) return read_set(step.section("set"), fields);
  return read_keep(step, fields);
}

std::string to_toml(const StepWork& work) {
  if (const auto* filter = std::get_if<FilterSpec>(&work)) {
    return fmt::format("filter = {}\n", toml_quoted(filter->text));
  }
  if (const auto* keep = std::get_if<KeepSpec>(&work)) {
    return fmt::format("keep = {}\n", toml_list(keep->names));
  }
  std::vector<std::string> set;
  for (const Assignment& one : std::get<SetSpec>(work).assignments) {
    set.push_back(fmt::format("{} = {}", toml_quoted(one.name), toml_quoted(one.text)));
  }
  return fmt::format("set = {{ {} }}\n", fmt::join(set, ", "));
}

FingerprintPart fingerprint_part(const StepWork& work) {
  if (const auto* filter = std::get_if<FilterSpec>(&work)) return {"filter", filter->text};
  if (const auto* keep = std::get_if<KeepSpec>(&work)) {
    return {"keep", fmt::format("{}", fmt::join(keep->names, ", "))};
  }
  std::vector<std::string> set;
  for (const Assignment& one : std::get<SetSpec>(work).assignments) {
    set.push_back(one.name + " = " + one.text);
  }
  return {"set", fmt::format("{}", fmt::join(set, ", "))};
}

}  // namespace millrace
