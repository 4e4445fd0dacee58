#include "reference_input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference_csv.hpp"
#include "reference_time.hpp"

namespace millrace::properties {
namespace {

/// As many objects and lists may lie in each other (JOBFILE.md).
constexpr int deepest = 1024;

/// Listens to a parser: what the fields of the outermost object hold.
class Listener final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Listener(const std::vector<Field>& fields)
      : cells(fields.size()), is_there(fields.size(), false), fields_(fields) {}

  bool null() override {
    if (is_field() && !field().nullable) return bad(field().name + " is null");
    return value(OwnedCell{});
  }
  bool boolean(bool) override { return is_field() ? mismatch("a boolean") : value(OwnedCell{}); }
  bool number_integer(number_integer_t number) override { return integer(number); }
  bool number_unsigned(number_unsigned_t number) override {
    if (number <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return integer(static_cast<std::int64_t>(number));
    }
    if (is_field() && field().type != FieldType::real) return mismatch("an integer beyond int64");
    return value(static_cast<double>(number));
  }
  bool number_float(number_float_t number, const string_t& text) override {
    // An integer of any length is JSON, but the job's fields can hold none beyond 64 bits.
    if (text.find_first_of(".eE") == std::string::npos) return bad("an integer beyond 64 bits");
    if (!std::isfinite(number)) return bad("a number beyond float64");
    if (is_field() && field().type != FieldType::real) return mismatch("a fraction");
    return value(number);
  }
  bool string(string_t& text) override {
    if (is_field() && field().type != FieldType::text) return mismatch("a string");
    return value(text);
  }
  bool binary(binary_t&) override { return bad("binary"); }

  bool start_object(std::size_t) override {
    if (depth_ != 0) return start_container("an object");
    depth_ = 1;
    return true;
  }
  bool start_array(std::size_t) override {
    return depth_ == 0 ? bad("an array and no object") : start_container("an array");
  }
  bool end_object() override { return end_container(); }
  bool end_array() override { return end_container(); }

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const Field& field) { return field.name == name; });
    current_ = static_cast<std::size_t>(found - fields_.begin());
    if (!is_field()) return true;
    if (is_there[current_]) return bad(name + " stands there twice");
    is_there[current_] = true;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    return bad(error.what());
  }

  OwnedRow cells;
  std::vector<bool> is_there;
  std::string why_bad;

 private:
  bool is_field() const { return depth_ == 1 && current_ < fields_.size(); }
  const Field& field() const { return fields_[current_]; }
  bool bad(std::string why) {
    if (why_bad.empty()) why_bad = std::move(why);
    return false;
  }
  bool mismatch(const char* what) { return bad(field().name + " is " + what); }
  bool start_container(const char* what) {
    if (is_field()) return mismatch(what);
    if (depth_ == deepest) return bad("nested too deep");
    ++depth_;
    return true;
  }
  bool end_container() {
    --depth_;
    return true;
  }
  bool integer(std::int64_t number) {
    if (is_field() && field().type == FieldType::text) return mismatch("an integer");
    if (is_field() && field().type == FieldType::real) return value(static_cast<double>(number));
    return value(number);
  }
  bool value(OwnedCell cell) {
    if (depth_ == 0) return bad("no object");
    if (!is_field()) return true;
    auto* const real = std::get_if<double>(&cell);
    if (real != nullptr && *real == 0) *real = 0.0;  // And not -0.
    cells[current_] = std::move(cell);
    return true;
  }

  const std::vector<Field>& fields_;
  std::size_t current_ = std::numeric_limits<std::size_t>::max();
  int depth_ = 0;
};

ReferenceRecord read_object(std::string_view line, const SourceSpec& source) {
  const std::vector<Field>& fields = source.fields;
  Listener listener(fields);
  ReferenceRecord record;
  // The parser passes over the first of these, and stops at the second as if it were the end.
  if (line.starts_with("\xEF\xBB\xBF") || line.find('\0') != std::string_view::npos) {
    record.why_bad = "a byte that is no part of JSON";
    return record;
  }
  if (!nlohmann::json::sax_parse(line.begin(), line.end(), &listener)) {
    record.why_bad = listener.why_bad;
    return record;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!listener.is_there[i] && !fields[i].nullable) {
      record.why_bad = fields[i].name + " is missing";
      return record;
    }
  }
  record.fields = std::move(listener.cells);
  return record;
}

/// Sees to the record's time.
ReferenceRecord with_time(ReferenceRecord record, const SourceSpec& source) {
  if (!record.fields) return record;
  const OwnedCell& cell = (*record.fields)[source.event_time.field];
  if (const auto time = reference_time(cell, source.event_time.format)) {
    record.time = *time;
    return record;
  }
  const auto* const number = std::get_if<std::int64_t>(&cell);
  record.why_bad = number == nullptr ? "a text that is no time"
                                     : fmt::format("the time {} is out of range", *number);
  record.fields.reset();
  return record;
}

}  // namespace

std::optional<ReferenceRecord> ReferenceLines::read(std::string_view line) {
  if (source_.format == RowFormat::jsonl) return with_time(read_object(line, source_), source_);
  if (!names_.empty()) return with_time(read_cells(line), source_);
  return read_names(line);
}

/// Nothing: all is well.
std::optional<ReferenceRecord> ReferenceLines::read_names(std::string_view line) {
  const ReferenceCells header = reference_cells(line);
  if (!header.why_bad.empty()) return ReferenceRecord{{}, 0, header.why_bad, true};
  for (const auto& cell : header.cells) names_.push_back(cell.text);
  for (const Field& field : source_.fields) {
    const auto times = std::count(names_.begin(), names_.end(), field.name);
    if (times == 1) continue;
    return ReferenceRecord{{}, 0, fmt::format("{} columns are called {}", times, field.name), true};
  }
  return std::nullopt;
}

ReferenceRecord ReferenceLines::read_cells(std::string_view line) const {
  ReferenceRecord record;
  const ReferenceCells read = reference_cells(line);
  record.why_bad = read.why_bad;
  if (!record.why_bad.empty()) return record;
  if (read.cells.size() != names_.size()) {
    record.why_bad = fmt::format("{} cells and not {}", read.cells.size(), names_.size());
    return record;
  }
  OwnedRow row;
  for (const Field& field : source_.fields) {
    const auto column = std::find(names_.begin(), names_.end(), field.name) - names_.begin();
    auto value = reference_value(read.cells[static_cast<std::size_t>(column)], field);
    if (!value) {
      record.why_bad = field.name + " is of another type";
      return record;
    }
    row.push_back(*std::move(value));
  }
  record.fields = std::move(row);
  return record;
}

}  // namespace millrace::properties
