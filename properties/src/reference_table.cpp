#include "reference_table.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace millrace::properties {
namespace {

Reference::ExpectedRow row_of(const OwnedRow& cells, std::vector<ReadPoint> causes) {
  Reference::ExpectedRow row;
  row.cells = cells;
  row.causes = std::make_shared<const std::vector<ReadPoint>>(std::move(causes));
  row.needed = 1;
  return row;
}

/// The rows of one key of an upsert table, in the order of the input.
struct Versions {
  std::vector<const ReferenceRow*> rows;

  Reference::Family family() const {
    Reference::Family family;
    family.is_there = true;
    std::map<std::string, OwnedRow> last;  // Of each partition.
    for (const ReferenceRow* row : rows) {
      family.members.insert(row->cells);
      last[row->read.partition] = row->cells;
    }
    for (auto& [partition, cells] : last) family.last.push_back(std::move(cells));
    return family;
  }
  Reference::ExpectedRow expected() const {
    std::vector<ReadPoint> causes;
    for (const ReferenceRow* row : rows) causes.push_back(row->read);
    Reference::ExpectedRow expected = row_of(rows.back()->cells, std::move(causes));
    expected.is_certain = std::all_of(rows.begin(), rows.end(), [&](const ReferenceRow* row) {
      return row->cells == expected.cells;
    });
    return expected;
  }
};

ReferenceResults upserted(const TableSchema& schema, const std::vector<ReferenceRow>& rows) {
  ReferenceResults results;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const auto& key = schema.key;
    if (std::find(key.begin(), key.end(), schema.columns[i].name) == key.end()) continue;
    results.families.columns.push_back(i);
  }
  std::map<OwnedRow, Versions> keys;
  for (const ReferenceRow& row : rows) keys[results.families.of(row.cells)].rows.push_back(&row);
  for (const auto& [key, versions] : keys) {
    results.rows.push_back(versions.expected());
    if (!results.rows.back().is_certain) results.families.open.emplace(key, versions.family());
  }
  return results;
}

}  // namespace

ReferenceResults reference_table(const TableSchema& schema, const std::vector<ReferenceRow>& rows) {
  if (schema.mode == SinkMode::upsert) return upserted(schema, rows);
  ReferenceResults results;
  for (const ReferenceRow& row : rows) results.rows.push_back(row_of(row.cells, {row.read}));
  return results;
}

}  // namespace millrace::properties
