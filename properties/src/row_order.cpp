#include "row_order.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace millrace::properties {
namespace {

bool is_of_one_record(const Reference::ExpectedRow& row) {
  return row.causes != nullptr && row.causes->size() == 1;
}

}  // namespace

bool knows_order(const Reference& reference) {
  return reference.is_ordered() &&
         std::any_of(reference.rows().begin(), reference.rows().end(), is_of_one_record);
}

std::optional<Breach> judge_order(const Reference& reference, const std::vector<OwnedRow>& rows) {
  std::map<OwnedRow, const ReadPoint*> records;  // Null: of several, and nobody can tell which.
  for (const Reference::ExpectedRow& row : reference.rows()) {
    if (!is_of_one_record(row)) continue;
    const auto [known, is_new] = records.try_emplace(row.cells, &row.causes->front());
    if (!is_new) known->second = nullptr;
  }
  struct Last {
    std::int64_t offset;
    const OwnedRow* row;
  };
  std::map<std::pair<OwnedRow, std::string>, Last> last;  // By key and partition.
  for (const OwnedRow& row : rows) {
    const auto record = records.find(row);
    if (record == records.end() || record->second == nullptr) continue;
    OwnedRow key;
    for (const std::size_t column : reference.key_columns()) key.push_back(row.at(column));
    const ReadPoint& read = *record->second;
    const auto [before, is_first] =
        last.try_emplace({std::move(key), read.partition}, Last{read.offset, &row});
    if (is_first) continue;
    if (read.offset < before->second.offset) {
      return Breach{
          "order", fmt::format("of one key and partition {}, a row stands before one that was read "
                               "earlier: {}; then {}",
                               read.partition, to_text(*before->second.row, reference.columns()),
                               to_text(row, reference.columns()))};
    }
    before->second = {read.offset, &row};
  }
  return std::nullopt;
}

}  // namespace millrace::properties
