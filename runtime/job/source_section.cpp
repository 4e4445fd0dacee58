#include "source_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"

#include "field_names.hpp"

namespace millrace {
namespace {

/// A path that is relative to a file.
std::string beside(const std::string& file, const std::string& path) {
  const auto slash = file.rfind('/');
  if (path.starts_with('/') || slash == std::string::npos) return path;
  return file.substr(0, slash + 1) + path;
}

std::vector<Field> read_fields(TomlSection section) {
  std::vector<Field> fields;
  for (const TomlEntry& entry : section.entries()) {
    Field field;
    field.name = entry.key;
    const auto type = entry.value.text();
    if (!type || !parse_type(*type, field)) {
      section.fail_at(entry.value, fmt::format("{} is expected to be \"string\", \"int64\" or "
                                               "\"float64\", with `?` behind it if it may be null",
                                               section.path_of(entry.key)));
    }
    if (fields.size() == Row::most_fields) {
      section.fail_at(entry.value, fmt::format("more than {} fields", Row::most_fields));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

RowFormat read_format(TomlSection& source) {
  const std::string name = source.text("format");
  if (const auto format = find_row_format(name)) return *format;
  source.fail_key("format", fmt::format("{} is \"{}\"; \"jsonl\" or \"csv\" is expected",
                                        source.path_of("format"), name));
}

OnBadRecord read_on_bad_record(TomlSection& source) {
  const std::string text = source.text_or("on_bad_record", "fail");
  if (text == "fail") return OnBadRecord::fail;
  if (text == "skip") return OnBadRecord::skip;
  source.fail_key("on_bad_record", fmt::format("{} is \"{}\"; \"fail\" or \"skip\" is expected",
                                               source.path_of("on_bad_record"), text));
}

WrittenTime read_event_time(TomlSection& source, const std::vector<Field>& fields) {
  WrittenTime written;
  written.field = find_field(fields, source.text("event_time"), source, "event_time");
  const std::string name = source.text_or("event_time_format", "ms");
  const auto format = find_time_format(name);
  if (!format) {
    source.fail_key("event_time_format",
                    fmt::format("{} is \"{}\"; \"ms\", \"s\", \"us\" or \"iso8601\" is "
                                "expected",
                                source.path_of("event_time_format"), name));
  }
  written.format = *format;
  const Field& time = fields[written.field];
  const bool is_text = written.format == TimeFormat::iso8601;
  if (time.type != (is_text ? FieldType::text : FieldType::integer) || time.nullable) {
    source.fail_key("event_time",
                    fmt::format("{} is `{}`, which is {}; a field of type \"{}\" is expected",
                                source.path_of("event_time"), time.name, type_text(time),
                                is_text ? "string" : "int64"));
  }
  return written;
}

Duration read_idle_after(TomlSection& source) {
  const Duration span = source.duration("idle_after");
  if (span == Duration::zero()) {
    source.fail_key("idle_after", fmt::format("{} is 0; a span above 0 is expected",
                                              source.path_of("idle_after")));
  }
  return span;
}

}  // namespace

SourceSpec read_source(TomlSection source, const std::string& name) {
  SourceSpec spec;
  spec.name = name;
  spec.format = read_format(source);
  spec.files = source.text("files");
  spec.address = beside(source.file(), spec.files);
  spec.fields = read_fields(source.section("fields"));
  spec.event_time = read_event_time(source, spec.fields);
  spec.disorder = source.duration_or("disorder", Duration{0});
  if (source.has("idle_after")) spec.idle_after = read_idle_after(source);
  spec.on_bad_record = read_on_bad_record(source);
  source.finish();
  return spec;
}

std::string to_toml(const SourceSpec& source, const std::string& section) {
  std::vector<std::string> fields;
  for (const Field& field : source.fields) {
    fields.push_back(
        fmt::format("{} = {}", toml_quoted(field.name), toml_quoted(type_text(field))));
  }
  std::string time =
      fmt::format("event_time_format = \"{}\"\n", describe(source.event_time.format));
  if (source.idle_after) {
    time += fmt::format("idle_after = {}\n", toml_quoted(describe(*source.idle_after)));
  }
  return fmt::format(
      "[{}]\nformat = \"{}\"\nfiles = {}\nfields = {{ {} }}\nevent_time = {}\n{}"
      "disorder = {}\non_bad_record = {}\n",
      section, describe(source.format), toml_quoted(source.files), fmt::join(fields, ", "),
      toml_quoted(source.fields[source.event_time.field].name), time,
      toml_quoted(describe(source.disorder)), toml_quoted(describe(source.on_bad_record)));
}

}  // namespace millrace
