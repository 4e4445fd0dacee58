#include "millrace/properties/reference.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "reference_rows.hpp"
#include "reference_table.hpp"
#include "reference_window.hpp"

namespace millrace::properties {

OwnedRow Reference::Families::of(const OwnedRow& row) const {
  OwnedRow family;
  for (const std::size_t column : columns) {
    if (column < row.size()) family.push_back(row[column]);
  }
  return family;
}

Reference::Reference(const JobSpec& spec, const Input& input)
    : Reference(spec, reference_rows(spec, input)) {}

Reference::Reference(const JobSpec& spec, const ReferenceRows& input)
    : records_(input.records),
      kept_records_(input.rows.size()),
      disorder_ms_(spec.source.disorder.count()) {
  for (const auto& [partition, records] : input.progress) {
    auto& own = progress_[partition];  // Also of one without records: it holds the others back.
    for (const auto& [offset, newest] : records) own.push_back({offset, newest});
  }
  const TableSchema schema = tables_of(spec).front().schema;
  ReferenceResults results = spec.window
                                 ? reference_window(*spec.window, fields_of_rows(spec), input.rows)
                                 : reference_table(schema, input.rows);
  families_ = std::move(results.families);
  may_be_late_ = results.may_be_late.size();
  take(std::move(results.rows));
  name_columns(schema);
  if (spec.window && counts_once(*spec.window, spec.sink.mode)) find_count(*spec.window);
}

bool Reference::counts_once(const WindowSpec& window, SinkMode mode) const {
  using Kind = WindowShape::Kind;
  if (window.has_panes()) return false;
  if (window.shape.kind == Kind::tumbling) return true;
  // Of sessions that are not certain an upsert sink may show what a replay does not make again.
  return window.shape.kind == Kind::sessions && (is_exact_ || mode == SinkMode::staged);
}

void Reference::find_count(const WindowSpec& window) {
  const std::size_t first = columns_.size() - window.aggregates.size();
  for (std::size_t i = 0; i < window.aggregates.size(); ++i) {
    if (window.aggregates[i].of_rows) count_column_ = first + i;
  }
}

Reference::Reference(const TableSchema& schema, std::vector<OwnedRow> rows)
    : knows_progress_(false) {
  std::vector<ExpectedRow> expected;
  for (OwnedRow& row : rows) expected.push_back({std::move(row)});
  take(std::move(expected));
  name_columns(schema);
}

std::vector<Reference> Reference::of_tables(const JobSpec& spec, const Input& input) {
  const ReferenceRows rows = reference_rows(spec, input);
  std::vector<Reference> references{Reference(spec, rows)};
  if (!spec.late) return references;
  Reference late(tables_of(spec)[1].schema, {});
  std::vector<ExpectedRow> expected;
  for (OwnedRow& row :
       reference_window(*spec.window, fields_of_rows(spec), rows.rows).may_be_late) {
    expected.push_back({std::move(row)});
    expected.back().is_certain = false;
  }
  late.take(std::move(expected));
  references.push_back(std::move(late));
  return references;
}

void Reference::take(std::vector<ExpectedRow> rows) {
  rows_ = std::move(rows);
  std::stable_sort(rows_.begin(), rows_.end(), [](const ExpectedRow& a, const ExpectedRow& b) {
    const bool a_waits = a.causes != nullptr;
    const bool b_waits = b.causes != nullptr;
    return std::pair(a_waits, a.last_instant) < std::pair(b_waits, b.last_instant);
  });
  prefix_hashes_.assign(1, {});
  row_hashes_.clear();
  by_watermark_ = 0;
  for (const ExpectedRow& row : rows_) {
    RowSetHash hash = prefix_hashes_.back();
    hash.add(lend(row.cells));
    prefix_hashes_.push_back(hash);
    row_hashes_.emplace_back().add(lend(row.cells));
    is_exact_ = is_exact_ && row.is_certain;
    if (row.causes == nullptr) ++by_watermark_;
  }
}

void Reference::name_columns(const TableSchema& schema) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    columns_.push_back(schema.columns[i].name);
    const auto& key = schema.key;
    if (key.empty() || std::find(key.begin(), key.end(), columns_[i]) != key.end()) {
      key_columns_.push_back(i);
    }
  }
}

bool Reference::have_ended(const std::vector<Claim>& claims) const {
  return std::all_of(progress_.begin(), progress_.end(), [&](const auto& partition) {
    return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
      return claim.partition == partition.first && claim.ended;
    });
  });
}

std::size_t Reference::closed_rows(const std::vector<Claim>& claims) const {
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
  if (!watermark) return by_watermark_;
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(by_watermark_);
  const auto open = std::upper_bound(
      rows_.begin(), end, *watermark,
      [](std::int64_t mark, const ExpectedRow& row) { return mark < row.last_instant; });
  return static_cast<std::size_t>(open - rows_.begin());
}

ShownRows Reference::shown_at(const std::vector<Claim>& claims) const {
  if (!knows_progress_) return first_rows(0);  // That many at least.
  ShownRows shown = first_rows(closed_rows(claims));
  shown.is_final = have_ended(claims);
  if (by_watermark_ == rows_.size()) return shown;
  std::map<std::string_view, std::int64_t> read;
  for (const Claim& claim : claims) {
    read[claim.partition] = claim.ended ? std::numeric_limits<std::int64_t>::max() : claim.offset;
  }
  const auto is_read = [&](const ReadPoint& point) {
    const auto found = read.find(point.partition);
    return found != read.end() && found->second >= point.offset;
  };
  for (std::size_t i = by_watermark_; i < rows_.size(); ++i) {
    const auto& causes = *rows_[i].causes;
    const auto known = std::count_if(causes.begin(), causes.end(), is_read);
    if (static_cast<std::size_t>(known) < rows_[i].needed) continue;
    shown.is_shown[i] = true;
    ++shown.count;
    shown.hash.add(row_hashes_[i]);
  }
  return shown;
}

ShownRows Reference::first_rows(std::size_t count) const {
  ShownRows shown;
  shown.is_shown.assign(rows_.size(), false);
  std::fill_n(shown.is_shown.begin(), count, true);
  shown.count = count;
  shown.hash = prefix_hashes_[count];
  shown.is_final = count == rows_.size();
  return shown;
}

}  // namespace millrace::properties
