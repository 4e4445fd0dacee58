#pragma once

#include <cstdint>
#include <vector>

#include "millrace/runtime/job_spec.hpp"
#include "millrace/runtime/row.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

// What the operators of a job file's job call for each row.

/// Whether a row passes all filters.
struct KeepRow {
  std::vector<Condition> conditions;
  bool operator()(const Row& row) const {
    for (const Condition& condition : conditions) {
      if (!condition(row)) return false;
    }
    return true;
  }
};

/// The fields of a row that are its key.
struct KeyOfRow {
  KeyOfRow(const std::vector<std::uint32_t>& key, const std::vector<Field>& rows);
  std::vector<std::uint32_t> fields;
  std::vector<FieldType> types;
  Row operator()(const Row& row) const {
    Row key(static_cast<std::uint32_t>(fields.size()));
    for (std::uint32_t i = 0; i < fields.size(); ++i) key.copy(i, row, fields[i], types[i]);
    return key;
  }
};

/// Whether none of a row's key is null: a join has no others.
struct HasKey {
  std::vector<std::uint32_t> key;
  bool operator()(const Row& row) const;
};

/// A window's result as a row (fields_of_result).
class RowOfResult {
 public:
  RowOfResult(const WindowSpec& window, const std::vector<Field>& rows);
  Row operator()(const Windowed<Row, Row>& result) const;

 private:
  std::vector<FieldType> key_;
  std::vector<FieldType> values_;
  bool has_bounds_;
  bool has_panes_;
};

/// The largest rows of a window, each with its bounds and its rank.
struct RankedRows {
  std::vector<FieldType> types;
  std::vector<Row> operator()(const Windowed<Row, std::vector<Row>>& result) const;
};

/// The row that a join makes of a pair that lies in a window.
struct RowOfPair {
  std::vector<JoinColumn> columns;
  Row operator()(const Row& left, const Row& right, Window window) const;
};
/// The same of a pair that lies close together.
struct RowOfNeighbours {
  RowOfPair pair;
  Row operator()(const Row& left, const Row& right) const { return pair(left, right, {}); }
};

}  // namespace millrace
