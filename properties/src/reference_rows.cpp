#include "reference_rows.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "reference_arithmetic.hpp"
#include "reference_condition.hpp"
#include "reference_input.hpp"

namespace millrace::properties {
namespace {

/// The lines of a text as a log tells them: without their ends, blank ones passed over.
template <class Visit>
void each_line(const std::string& text, Visit visit) {
  std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  std::int64_t number = 0;
  while (begin < text.size()) {
    ++number;
    const auto newline = text.find('\n', begin);
    const std::size_t next = newline == std::string::npos ? text.size() : newline + 1;
    std::string_view line(text.data() + begin,
                          (newline == std::string::npos ? text.size() : newline) - begin);
    begin = next;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    visit(line, number, static_cast<std::int64_t>(next));
  }
}

OwnedRow after_set(const SetSpec& set, const OwnedRow& row) {
  OwnedRow made = row;
  for (const Assignment& one : set.assignments) {
    if (one.field == made.size()) made.emplace_back();
    made[one.field] = compute(one.value, row);
  }
  return made;
}

OwnedRow after_keep(const KeepSpec& keep, const OwnedRow& row) {
  OwnedRow made;
  for (const std::uint32_t field : keep.fields) made.push_back(row[field]);
  return made;
}

/// What the steps make of a record; nothing: a filter drops it.
std::optional<OwnedRow> after_steps(const std::vector<StepSpec>& steps, OwnedRow row) {
  for (const StepSpec& step : steps) {
    if (const auto* set = std::get_if<SetSpec>(&step)) {
      row = after_set(*set, row);
    } else if (const auto* keep = std::get_if<KeepSpec>(&step)) {
      row = after_keep(*keep, row);
    } else if (!keeps(std::get<FilterSpec>(step), row)) {
      return std::nullopt;
    }
  }
  return row;
}

}  // namespace

ReferenceRows reference_rows(const JobSpec& spec, const Input& input) {
  const SourceSpec& source = spec.source;
  ReferenceRows all;
  for (const InputPartition& partition : input.partitions) {
    auto& progress = all.progress[partition.name];
    std::optional<std::int64_t> newest;
    ReferenceLines lines(source);
    each_line(partition.text, [&](std::string_view line, std::int64_t number, std::int64_t next) {
      std::optional<ReferenceRecord> read = lines.read(line);
      if (!read) return;
      ReferenceRecord& record = *read;
      if (!record.fields) {
        if (source.on_bad_record == OnBadRecord::skip && !record.ends_job) return;
        throw UsageError(fmt::format("{}:{}: {}", partition.name, number, record.why_bad));
      }
      ++all.records;
      ReferenceRow row;
      row.time = record.time;
      row.watermark =
          newest ? *newest - source.disorder.count() - 1 : std::numeric_limits<std::int64_t>::min();
      row.read = {partition.name, next};
      newest = newest ? std::max(*newest, row.time) : row.time;
      progress.push_back({next, *newest});
      auto made = after_steps(spec.steps, std::move(*record.fields));
      if (!made) return;
      row.cells = std::move(*made);
      all.rows.push_back(std::move(row));
    });
  }
  return all;
}

}  // namespace millrace::properties
