#include "millrace/properties/reference.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "reference_condition.hpp"
#include "reference_fold.hpp"
#include "reference_input.hpp"

namespace millrace::properties {
namespace {

/// The records of one key in one window.
struct Group {
  std::vector<std::unique_ptr<ReferenceFold>> folds;
  bool is_certain = true;
};

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

/// The largest multiple of `size` that is not above `time`.
std::int64_t floor_to(std::int64_t time, std::int64_t size) {
  std::int64_t quotient = time / size;
  if (time % size < 0) --quotient;
  return quotient * size;
}

}  // namespace

Reference::Reference(const JobSpec& spec, const Input& input)
    : disorder_ms_(spec.disorder.count()) {
  using GroupKey = std::pair<std::int64_t, OwnedRow>;  // Window start, key.
  std::map<GroupKey, Group> groups;
  const std::int64_t size = spec.window_size.count();

  for (const InputPartition& partition : input.partitions) {
    auto& progress = progress_[partition.name];
    std::optional<std::int64_t> newest;
    each_line(partition.text, [&](std::string_view line, std::int64_t number, std::int64_t next) {
      const ReferenceRecord record = read_reference_record(line, spec.fields, spec.event_time);
      if (!record.fields) {
        if (spec.on_bad_record == OnBadRecord::skip) return;
        throw UsageError(fmt::format("{}:{}: {}", partition.name, number, record.why_bad));
      }
      ++records_;
      const auto time = std::get<std::int64_t>((*record.fields)[spec.event_time]);
      const std::int64_t start = floor_to(time, size);
      // What the partition's own watermark says just before the record: the operator's is a
      // minimum over partitions and can only be smaller (PROTOCOL 8, lateness).
      const bool must_count = !newest || start + size - 1 > *newest - disorder_ms_ - 1;
      newest = newest ? std::max(*newest, time) : time;
      progress.push_back({next, *newest});
      if (!keeps(spec.filters, *record.fields)) return;
      ++kept_records_;
      if (!must_count) ++may_be_late_;

      OwnedRow key;
      for (const std::uint32_t field : spec.key) key.push_back((*record.fields)[field]);
      Group& group = groups[{start, std::move(key)}];
      if (group.folds.empty()) {
        for (const AggregateColumn& column : spec.aggregates) {
          const auto type = column.of_rows ? FieldType::integer : spec.fields[column.field].type;
          group.folds.push_back(make_reference_fold(column, type));
        }
      }
      for (const auto& fold : group.folds) fold->add(*record.fields);
      group.is_certain = group.is_certain && must_count;
    });
  }

  for (const auto& [key, group] : groups) {
    ExpectedRow row;
    row.cells = key.second;
    row.cells.emplace_back(key.first);
    row.cells.emplace_back(key.first + size);
    for (const auto& fold : group.folds) row.cells.push_back(fold->result());
    row.last_instant = key.first + size - 1;
    row.is_certain = group.is_certain;
    is_exact_ = is_exact_ && group.is_certain;
    rows_.push_back(std::move(row));
  }
  // The groups are ordered by window already, and so by last instant.
  prefix_hashes_.emplace_back();
  for (const ExpectedRow& row : rows_) {
    RowSetHash hash = prefix_hashes_.back();
    hash.add(lend(row.cells));
    prefix_hashes_.push_back(hash);
  }

  for (const std::uint32_t field : spec.key) columns_.push_back(spec.fields[field].name);
  columns_.insert(columns_.end(), {"window_start", "window_end"});
  for (const AggregateColumn& column : spec.aggregates) {
    if (column.of_rows) count_column_ = columns_.size();
    columns_.push_back(column.name);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& key = spec.sink_key;
    if (key.empty() || std::find(key.begin(), key.end(), columns_[i]) != key.end()) {
      key_columns_.push_back(i);
    }
  }
}

Reference::Reference(const TableSchema& schema, std::vector<OwnedRow> rows)
    : knows_progress_(false) {
  prefix_hashes_.emplace_back();
  for (OwnedRow& row : rows) {
    RowSetHash hash = prefix_hashes_.back();
    hash.add(lend(row));
    prefix_hashes_.push_back(hash);
    rows_.push_back({std::move(row)});
  }
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    columns_.push_back(schema.columns[i].name);
    const auto& key = schema.key;
    if (key.empty() || std::find(key.begin(), key.end(), columns_[i]) != key.end()) {
      key_columns_.push_back(i);
    }
  }
}

std::size_t Reference::visible_rows(const std::vector<Claim>& claims) const {
  if (!knows_progress_) return 0;         // That many at least.
  std::optional<std::int64_t> watermark;  // Nothing: every partition has ended.
  for (const auto& [name, records] : progress_) {
    const auto claim = std::find_if(claims.begin(), claims.end(),
                                    [&](const Claim& c) { return c.partition == name; });
    if (claim == claims.end()) return 0;  // Nothing is claimed, so nothing can have closed.
    if (claim->ended) continue;
    const auto behind = std::upper_bound(
        records.begin(), records.end(), claim->offset,
        [](std::int64_t offset, const Progress& progress) { return offset < progress.offset; });
    if (behind == records.begin()) return 0;  // No record, no watermark.
    const std::int64_t own = (behind - 1)->newest - disorder_ms_ - 1;
    watermark = watermark ? std::min(*watermark, own) : own;
  }
  if (!watermark) return rows_.size();
  const auto open = std::upper_bound(
      rows_.begin(), rows_.end(), *watermark,
      [](std::int64_t mark, const ExpectedRow& row) { return mark < row.last_instant; });
  return static_cast<std::size_t>(open - rows_.begin());
}

}  // namespace millrace::properties
