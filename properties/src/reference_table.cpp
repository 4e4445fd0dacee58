#include "reference_table.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace millrace::properties {
namespace {

Reference::ExpectedRow row_of(const ReferenceRow& made) {
  Reference::ExpectedRow row;
  row.cells = made.cells;
  row.last_instant = made.time;
  row.is_certain = made.is_certain;
  if (made.causes.empty()) return row;
  row.causes = std::make_shared<const std::vector<ReadPoint>>(made.causes);
  row.needed = made.causes.size();
  return row;
}

/// The rows of one key of an upsert table, in the order of the input.
struct Versions {
  std::vector<const ReferenceRow*> rows;

  Reference::Family family(bool is_ordered) const {
    Reference::Family family;
    family.is_there = is_any_certain();
    std::map<std::string, OwnedRow> last;  // Of each partition.
    for (const ReferenceRow* row : rows) {
      family.members.insert(row->cells);
      if (are_read(is_ordered)) last[row->causes.front().partition] = row->cells;
    }
    for (auto& [partition, cells] : last) family.last.push_back(std::move(cells));
    if (family.last.empty() && family.is_there) {
      family.last.assign(family.members.begin(), family.members.end());
    }
    return family;
  }
  /// The first that comes, of whatever value, lets the row be there.
  Reference::ExpectedRow expected() const {
    Reference::ExpectedRow expected = row_of(*rows.back());
    if (rows.back()->causes.empty()) {
      for (const ReferenceRow* row : rows) {
        expected.last_instant = std::min(expected.last_instant, row->time);
      }
    } else if (rows.size() > 1) {
      std::vector<ReadPoint> causes;
      for (const ReferenceRow* row : rows) {
        causes.insert(causes.end(), row->causes.begin(), row->causes.end());
      }
      expected.causes = std::make_shared<const std::vector<ReadPoint>>(std::move(causes));
      expected.needed = 1;
    }
    expected.is_certain =
        is_any_certain() && std::all_of(rows.begin(), rows.end(), [&](const ReferenceRow* row) {
          return row->cells == expected.cells;
        });
    return expected;
  }
  /// Whether each comes from one record, and so `expected` knows when the first of them comes.
  bool are_of_one_kind() const {
    return rows.size() == 1 || std::all_of(rows.begin(), rows.end(), [&](const ReferenceRow* row) {
             return row->is_certain && row->causes.size() < 2 &&
                    row->causes.size() == rows.front()->causes.size();
           });
  }

 private:
  bool is_any_certain() const {
    return std::any_of(rows.begin(), rows.end(),
                       [](const ReferenceRow* row) { return row->is_certain; });
  }
  bool are_read(bool is_ordered) const {
    return is_ordered && std::all_of(rows.begin(), rows.end(), [](const ReferenceRow* row) {
             return row->is_certain && row->causes.size() == 1;
           });
  }
};

ReferenceResults upserted(const TableSchema& schema, const ReferenceStream& stream) {
  ReferenceResults results;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const auto& key = schema.key;
    if (std::find(key.begin(), key.end(), schema.columns[i].name) == key.end()) continue;
    results.families.columns.push_back(i);
  }
  std::map<OwnedRow, Versions> keys;
  for (const ReferenceRow& row : stream.rows) {
    keys[results.families.of(row.cells)].rows.push_back(&row);
  }
  for (const auto& [key, versions] : keys) {
    results.rows.push_back(versions.expected());
    results.knows_progress = results.knows_progress && versions.are_of_one_kind();
    if (!results.rows.back().is_certain) {
      results.families.open.emplace(key, versions.family(stream.is_ordered));
    }
  }
  return results;
}

}  // namespace

ReferenceResults reference_table(const TableSchema& schema, const ReferenceStream& stream) {
  if (schema.mode == SinkMode::upsert) return upserted(schema, stream);
  ReferenceResults results;
  for (const ReferenceRow& row : stream.rows) results.rows.push_back(row_of(row));
  return results;
}

}  // namespace millrace::properties
