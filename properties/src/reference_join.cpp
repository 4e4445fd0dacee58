#include "reference_join.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace millrace::properties {
namespace {

using Rows = std::vector<const ReferenceRow*>;

/// The rows of each key without null.
std::map<OwnedRow, Rows> by_key(const ReferenceStream& stream,
                                const std::vector<std::uint32_t>& fields) {
  std::map<OwnedRow, Rows> keys;
  for (const ReferenceRow& row : stream.rows) {
    OwnedRow key;
    for (const std::uint32_t field : fields) key.push_back(row.cells[field]);
    if (std::find(key.begin(), key.end(), OwnedCell{}) == key.end()) keys[key].push_back(&row);
  }
  return keys;
}

class Joining {
 public:
  explicit Joining(const JoinSpec& join) : join_(join) {}

  ReferencePairs of(const ReferenceStream& left, const ReferenceStream& right) {
    const auto lefts = by_key(left, join_.left_key);
    const auto rights = by_key(right, join_.right_key);
    for (const auto& [key, rows] : lefts) {
      for (const ReferenceRow* one : rows) count_late(*one);
      const auto found = rights.find(key);
      if (found == rights.end()) continue;
      for (const ReferenceRow* one : rows) {
        for (const ReferenceRow* other : found->second) join(*one, *other);
      }
    }
    for (const auto& [key, rows] : rights) {
      for (const ReferenceRow* one : rows) count_late(*one);
    }
    describe(left, right);
    return std::move(pairs_);
  }

 private:
  std::int64_t slide() const {
    return join_.window->kind == WindowShape::Kind::tumbling ? join_.window->size.count()
                                                             : join_.window->slide.count();
  }
  /// The newest window that holds a time.
  std::int64_t last_start(std::int64_t time) const {
    std::int64_t into = (time - join_.window->offset.count()) % slide();
    if (into < 0) into += slide();
    return time - into;
  }

  void count_late(const ReferenceRow& row) {
    const std::int64_t last =
        join_.window ? last_start(row.time) + join_.window->size.count() - 1 : row.time;
    if (last <= row.watermark) ++pairs_.may_be_late;
  }

  void join(const ReferenceRow& left, const ReferenceRow& right) {
    if (!join_.window) return join_neighbours(left, right);
    const std::int64_t size = join_.window->size.count();
    for (std::int64_t start = last_start(left.time); start + size > left.time; start -= slide()) {
      if (right.time < start || right.time >= start + size) continue;
      const std::int64_t last = start + size - 1;
      ReferenceRow pair = row_of(left, right, start);
      pair.time = last;
      pair.is_certain = pair.is_certain && left.watermark < last && right.watermark < last;
      add(std::move(pair));
    }
  }
  void join_neighbours(const ReferenceRow& left, const ReferenceRow& right) {
    if (right.time < left.time - join_.before.count()) return;
    if (right.time > left.time + join_.after.count()) return;
    ReferenceRow pair = row_of(left, right, 0);
    pair.time = std::max(left.time, right.time);
    pair.is_certain = pair.is_certain && left.watermark < left.time && right.watermark < right.time;
    pair.causes = left.causes;
    pair.causes.insert(pair.causes.end(), right.causes.begin(), right.causes.end());
    are_mixed_ = are_mixed_ || left.causes.empty() != right.causes.empty();
    add(std::move(pair));
  }

  ReferenceRow row_of(const ReferenceRow& left, const ReferenceRow& right,
                      std::int64_t start) const {
    ReferenceRow row;
    for (const JoinColumn& column : join_.columns) {
      switch (column.from) {
        case JoinColumn::From::left: row.cells.push_back(left.cells[column.field]); break;
        case JoinColumn::From::right: row.cells.push_back(right.cells[column.field]); break;
        case JoinColumn::From::window_start: row.cells.emplace_back(start); break;
        case JoinColumn::From::window_end:
          row.cells.emplace_back(start + join_.window->size.count());
          break;
      }
    }
    row.is_certain = left.is_certain && right.is_certain;
    return row;
  }
  void add(ReferenceRow pair) {
    pair.watermark = pair.time - 1;
    pairs_.stream.rows.push_back(std::move(pair));
  }

  void describe(const ReferenceStream& left, const ReferenceStream& right) {
    ReferenceStream& made = pairs_.stream;
    made.is_certain = left.is_certain && right.is_certain;
    made.is_ordered = false;
    made.waits_for_all = left.waits_for_all && right.waits_for_all;
    made.sources = left.sources;
    made.sources.insert(right.sources.begin(), right.sources.end());
    if (join_.window) {
      made.clock = made.sources;
      return;
    }
    made.clock = left.clock;
    made.knows_progress =
        left.knows_progress && right.knows_progress && !are_mixed_ && left.clock == right.clock;
  }

  const JoinSpec& join_;
  ReferencePairs pairs_;
  bool are_mixed_ = false;
};

}  // namespace

ReferencePairs reference_join(const JoinSpec& join, const ReferenceStream& left,
                              const ReferenceStream& right) {
  return Joining(join).of(left, right);
}

}  // namespace millrace::properties
