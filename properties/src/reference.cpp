#include "millrace/properties/reference.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "reference_graph.hpp"

namespace millrace::properties {

OwnedRow Reference::Families::of(const OwnedRow& row) const {
  OwnedRow family;
  for (const std::size_t column : columns) {
    if (column < row.size()) family.push_back(row[column]);
  }
  return family;
}

Reference::Reference(const JobSpec& spec, const Input& input)
    : Reference(spec, ReferenceGraph(spec, input), tables_of(spec).front()) {}

Reference::Reference(const JobSpec& spec, const ReferenceGraph& graph, const JobTable& table)
    : records_(graph.records()),
      may_be_late_(graph.may_be_late().value_or(std::numeric_limits<std::uint64_t>::max())) {
  ReferenceGraph::Table made = graph.table(table);
  kept_records_ = made.rows;
  for (const std::size_t source : made.sources) {
    for (const auto& [partition, records] : graph.progress(source)) {
      auto& own = progress_[partition];  // Also of one without records: it holds the others back.
      for (const auto& [offset, watermark] : records) own.push_back({offset, watermark});
    }
  }
  families_ = std::move(made.results.families);
  is_ordered_ = made.results.is_ordered;
  knows_progress_ = made.results.knows_progress;
  take(std::move(made.results.rows));
  if (!made.is_certain) forget_values();
  name_columns(table.schema);
  find_count(spec, table);
}

/// Nobody can say what is in the table.
void Reference::forget_values() {
  for (ExpectedRow& row : rows_) row.is_certain = false;
  is_exact_ = false;
  knows_progress_ = false;
  families_ = {};
  Family anything;
  anything.is_anything = true;
  families_.open.emplace(OwnedRow{}, std::move(anything));
}

bool Reference::counts_once(const WindowSpec& window, SinkMode mode) const {
  using Kind = WindowShape::Kind;
  if (window.has_panes()) return false;
  if (window.shape.kind == Kind::tumbling) return true;
  // Of sessions that are not certain an upsert sink may show what a replay does not make again.
  return window.shape.kind == Kind::sessions && (is_exact_ || mode == SinkMode::staged);
}

/// Where only one step can drop rows, and its results go into the table as they are.
void Reference::find_count(const JobSpec& spec, const JobTable& table) {
  const auto keeps_state = [](const StepSpec& step) { return !is_row_step(step.work); };
  if (table.late_of || table.sink.inputs.size() != 1 ||
      std::count_if(spec.steps.begin(), spec.steps.end(), keeps_state) != 1) {
    return;
  }
  const StepSpec* const step = spec.step_at(table.sink.inputs.front());
  const auto* const window = step == nullptr ? nullptr : std::get_if<WindowSpec>(&step->work);
  if (window == nullptr || !counts_once(*window, table.sink.mode)) return;
  const std::size_t first = columns_.size() - window->aggregates.size();
  for (std::size_t i = 0; i < window->aggregates.size(); ++i) {
    if (window->aggregates[i].of_rows) count_column_ = first + i;
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
  const ReferenceGraph graph(spec, input);
  std::vector<Reference> references;
  for (const JobTable& table : tables_of(spec)) {
    references.push_back(Reference(spec, graph, table));
  }
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
    const std::int64_t own = (behind - 1)->watermark;
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
