#include "reference_window.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reference_fold.hpp"

namespace millrace::properties {
namespace {

using Rows = std::vector<const ReferenceRow*>;

struct Span {
  std::int64_t start;
  std::int64_t end;
  std::int64_t last_instant() const { return end - 1; }
  friend auto operator<=>(const Span&, const Span&) = default;
};

/// The largest multiple of `step` that is not above `time`.
std::int64_t floor_to(std::int64_t time, std::int64_t step) {
  std::int64_t quotient = time / step;
  if (time % step < 0) --quotient;
  return quotient * step;
}

class Evaluation {
 public:
  Evaluation(const WindowSpec& window, const std::vector<Field>& fields)
      : window_(window), fields_(fields), lateness_(window.allowed_lateness.count()) {
    const std::size_t key = window.key.size();
    if (window.top) {
      describe_ranked();
      return;
    }
    for (std::size_t i = 0; i < key; ++i) results_.families.columns.push_back(i);
    if (window.has_panes()) results_.families.pane_column = key + (window.has_bounds() ? 2 : 0);
    // A session is not known by its ends, if it is not certain which rows are in it.
    if (window.shape.kind != WindowShape::Kind::sessions) {
      results_.families.columns.push_back(key);
      if (window.has_bounds()) results_.families.columns.push_back(key + 1);
    }
  }

  ReferenceResults of(const ReferenceStream& stream) {
    const std::vector<ReferenceRow>& rows = stream.rows;
    is_ordered_ = stream.is_ordered;
    switch (window_.shape.kind) {
      case WindowShape::Kind::tumbling: by_span(rows, window_.shape.size.count()); break;
      case WindowShape::Kind::sliding: by_span(rows, window_.shape.slide.count()); break;
      case WindowShape::Kind::sessions:
        for (const auto& [key, of_key] : by_key(rows)) add_sessions(key, of_key);
        break;
      case WindowShape::Kind::global:
        for (const auto& [key, of_key] : by_key(rows)) add_counted(key, of_key);
        break;
    }
    return std::move(results_);
  }

 private:
  OwnedRow key_of(const ReferenceRow& row) const {
    OwnedRow key;
    for (const std::uint32_t field : window_.key) key.push_back(row.cells[field]);
    return key;
  }
  std::map<OwnedRow, Rows> by_key(const std::vector<ReferenceRow>& rows) const {
    std::map<OwnedRow, Rows> keys;
    for (const ReferenceRow& row : rows) keys[key_of(row)].push_back(&row);
    return keys;
  }

  // Tumbling and sliding windows.

  void by_span(const std::vector<ReferenceRow>& rows, std::int64_t slide) {
    const std::int64_t size = window_.shape.size.count();
    const std::int64_t offset = window_.shape.offset.count();
    std::map<std::pair<Span, OwnedRow>, Rows> groups;
    for (const ReferenceRow& row : rows) {
      const std::int64_t last = floor_to(row.time - offset, slide) + offset;
      for (std::int64_t start = last; start + size > row.time; start -= slide) {
        groups[{{start, start + size}, key_of(row)}].push_back(&row);
      }
      if (last + size - 1 + lateness_ <= row.watermark) note_late(row);
    }
    for (const auto& [group, of_group] : groups) add_span(group.first, group.second, of_group);
  }

  void add_span(Span span, const OwnedRow& key, const Rows& rows) {
    const auto before = [&](std::int64_t instant) {
      return static_cast<std::size_t>(
          std::count_if(rows.begin(), rows.end(),
                        [&](const ReferenceRow* row) { return row->watermark < instant; }));
    };
    const std::size_t on_time = before(span.last_instant());
    const std::size_t counted = before(span.last_instant() + lateness_);
    if (window_.top) return add_ranked(span, rows, on_time == rows.size());
    Reference::ExpectedRow result = row_of(key, span, rows);
    result.is_certain = on_time == rows.size();
    if (!result.is_certain) {
      // Every row that comes when the window has ended may let out a result of its own.
      Reference::Family family;
      family.most = 1 + (lateness_ == 0 ? 0 : rows.size() - on_time);
      if (lateness_ != 0 && counted == rows.size()) family.last = {result.cells};
      results_.families.open.emplace(results_.families.of(result.cells), std::move(family));
    }
    results_.rows.push_back(std::move(result));
  }

  // Sessions.

  void add_sessions(const OwnedRow& key, Rows rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->time < b->time; });
    const std::int64_t gap = window_.shape.size.count();
    const bool is_certain = are_sessions_certain(rows, gap);
    for (auto begin = rows.begin(); begin != rows.end();) {
      auto end = begin + 1;
      while (end != rows.end() && (*end)->time <= (*(end - 1))->time + gap) ++end;
      const Rows session(begin, end);
      const Span span{session.front()->time, session.back()->time + gap};
      if (window_.top) {
        add_ranked(span, session, is_certain);
      } else {
        results_.rows.push_back(row_of(key, span, session));
        results_.rows.back().is_certain = is_certain;
      }
      begin = end;
    }
    for (const ReferenceRow* row : rows) {
      if (row->time + gap - 1 + lateness_ <= row->watermark) note_late(*row);
    }
    if (is_certain) return;
    Reference::Family family;
    family.most = (lateness_ == 0 ? 1 : 2) * rows.size() * (window_.top ? window_.top->most : 1);
    family.is_due_any_time = true;
    results_.families.open.emplace(key, family);
  }

  /// Whether no session can have ended that a later row would have been part of. One that ends at
  /// the time of a row takes it in, and has its last instant just before.
  static bool are_sessions_certain(const Rows& rows, std::int64_t gap) {
    std::set<std::int64_t> times;
    for (const ReferenceRow* row : rows) times.insert(row->time);
    return std::all_of(rows.begin(), rows.end(), [&](const ReferenceRow* row) {
      if (row->watermark >= row->time) return false;
      return row->watermark < row->time - 1 || !times.contains(row->time - gap);
    });
  }

  // The largest rows.

  void describe_ranked() {
    // A session is not known by its ends, if it is not certain which rows are in it.
    if (window_.shape.kind != WindowShape::Kind::sessions) results_.families.columns = {0, 1};
    for (const std::uint32_t field : window_.key) results_.families.columns.push_back(3 + field);
  }
  void add_ranked(Span span, Rows rows, bool is_certain) {
    const std::uint32_t by = window_.top->by;
    std::erase_if(rows, [&](const ReferenceRow* row) { return row->cells[by] == OwnedCell{}; });
    std::sort(rows.begin(), rows.end(), [&](const ReferenceRow* a, const ReferenceRow* b) {
      if (a->cells[by] != b->cells[by]) return b->cells[by] < a->cells[by];
      return a->cells < b->cells;
    });
    rows.resize(std::min<std::size_t>(rows.size(), window_.top->most));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Reference::ExpectedRow row;
      row.cells = {span.start, span.end, static_cast<std::int64_t>(i + 1)};
      row.cells.insert(row.cells.end(), rows[i]->cells.begin(), rows[i]->cells.end());
      row.last_instant = span.last_instant();
      row.is_certain = is_certain;
      results_.rows.push_back(std::move(row));
    }
    if (is_certain || rows.empty() || window_.shape.kind == WindowShape::Kind::sessions) return;
    Reference::Family family;
    family.most = window_.top->most;
    results_.families.open.emplace(results_.families.of(results_.rows.back().cells),
                                   std::move(family));
  }

  // The global window, which lets a result out at every n-th row of a key.

  void add_counted(const OwnedRow& key, const Rows& rows) {
    const auto every = static_cast<std::uint64_t>(window_.shape.every);
    auto causes = std::make_shared<std::vector<ReadPoint>>();
    for (const ReferenceRow* row : rows) {
      causes->insert(causes->end(), row->causes.begin(), row->causes.end());
    }
    // In which order rows of several partitions come is not certain, and so not which are first.
    const bool is_certain = counts_only() || (is_ordered_ && are_of_one_partition(rows));
    for (std::uint64_t pane = 0; (pane + 1) * every <= rows.size(); ++pane) {
      Reference::ExpectedRow result = folded(
          key, {static_cast<std::int64_t>(pane)},
          Rows(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>((pane + 1) * every)));
      result.is_certain = is_certain;
      result.causes = causes;
      result.needed = (pane + 1) * every;
      if (!is_certain) {
        Reference::Family family;
        family.is_there = true;
        results_.families.open.emplace(results_.families.of(result.cells), family);
      }
      results_.rows.push_back(std::move(result));
    }
  }
  static bool are_of_one_partition(const Rows& rows) {
    return std::all_of(rows.begin(), rows.end(), [&](const ReferenceRow* row) {
      return row->causes.size() == 1 && rows.front()->causes.size() == 1 &&
             row->causes.front().partition == rows.front()->causes.front().partition;
    });
  }
  bool counts_only() const {
    return std::all_of(window_.aggregates.begin(), window_.aggregates.end(),
                       [](const AggregateColumn& column) { return column.of_rows; });
  }

  // Rows.

  Reference::ExpectedRow row_of(const OwnedRow& key, Span span, const Rows& rows) const {
    std::vector<std::int64_t> window{span.start, span.end};
    if (window_.has_panes()) window.push_back(0);
    Reference::ExpectedRow row = folded(key, window, rows);
    row.last_instant = span.last_instant();
    return row;
  }
  Reference::ExpectedRow folded(const OwnedRow& key, const std::vector<std::int64_t>& window,
                                const Rows& rows) const {
    Reference::ExpectedRow row;
    row.cells = key;
    for (const std::int64_t cell : window) row.cells.emplace_back(cell);
    for (const AggregateColumn& column : window_.aggregates) {
      const auto type = column.of_rows ? FieldType::integer : fields_[column.field].type;
      const auto fold = make_reference_fold(column, type);
      for (const ReferenceRow* one : rows) fold->add(one->cells);
      row.cells.push_back(fold->result());
    }
    return row;
  }
  void note_late(const ReferenceRow& row) { results_.may_be_late.push_back(row.cells); }

  const WindowSpec& window_;
  const std::vector<Field>& fields_;
  std::int64_t lateness_;
  bool is_ordered_ = true;
  ReferenceResults results_;
};

}  // namespace

ReferenceResults reference_window(const WindowSpec& window, const std::vector<Field>& fields,
                                  const ReferenceStream& stream) {
  return Evaluation(window, fields).of(stream);
}

}  // namespace millrace::properties
