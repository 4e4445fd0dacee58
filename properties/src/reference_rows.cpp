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

}  // namespace

ReferenceSource reference_source(const JobSpec& spec, std::size_t number, const Input& input) {
  const SourceSpec& source = spec.sources[number];
  ReferenceSource all;
  all.stream.sources.insert(number);
  // An idle partition is not waited for, so what it gives then may be late, whatever its time.
  all.stream.waits_for_all = !source.idle_after;
  for (const InputPartition& partition : input.partitions) {
    if (!is_of_source(spec, source.name, partition.name)) continue;
    auto& progress = all.progress[partition.name];
    std::int64_t watermark = std::numeric_limits<std::int64_t>::min();
    ReferenceLines lines(source);
    each_line(partition.text, [&](std::string_view line, std::int64_t line_number,
                                  std::int64_t next) {
      std::optional<ReferenceRecord> record = lines.read(line);
      if (!record) return;
      if (!record->fields) {
        if (source.on_bad_record == OnBadRecord::skip && !record->ends_job) return;
        throw UsageError(fmt::format("{}:{}: {}", partition.name, line_number, record->why_bad));
      }
      const std::int64_t bound =
          all.stream.waits_for_all ? watermark : std::numeric_limits<std::int64_t>::max();
      all.stream.rows.push_back(
          {std::move(*record->fields), record->time, bound, {{partition.name, next}}, true});
      watermark = std::max(watermark, record->time - source.disorder.count() - 1);
      progress.push_back({next, watermark});
    });
  }
  return all;
}

void apply_row_step(const StepWork& step, std::vector<ReferenceRow>& rows) {
  if (const auto* filter = std::get_if<FilterSpec>(&step)) {
    std::erase_if(rows, [&](const ReferenceRow& row) { return !keeps(*filter, row.cells); });
    return;
  }
  for (ReferenceRow& row : rows) {
    if (const auto* set = std::get_if<SetSpec>(&step)) {
      row.cells = after_set(*set, row.cells);
    } else {
      row.cells = after_keep(std::get<KeepSpec>(step), row.cells);
    }
  }
}

ReferenceStream reference_union(const std::vector<const ReferenceStream*>& streams) {
  ReferenceStream all = *streams.front();
  for (std::size_t i = 1; i < streams.size(); ++i) {
    const ReferenceStream& other = *streams[i];
    all.rows.insert(all.rows.end(), other.rows.begin(), other.rows.end());
    all.is_certain = all.is_certain && other.is_certain;
    all.knows_progress = all.knows_progress && other.knows_progress;
    all.waits_for_all = all.waits_for_all && other.waits_for_all;
    if (all.clock.empty()) all.clock = other.clock;
    if (!other.clock.empty() && other.clock != all.clock) all.knows_progress = false;
    all.is_ordered = all.is_ordered && other.is_ordered;
    for (const std::size_t source : other.sources) {
      // What comes by two ways comes in no order.
      if (!all.sources.insert(source).second) all.is_ordered = false;
    }
  }
  return all;
}

}  // namespace millrace::properties
