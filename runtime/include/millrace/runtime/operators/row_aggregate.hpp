#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "millrace/runtime/row.hpp"

namespace millrace {

/// One column of an aggregate, as a job file names it: `max(magnitude)`.
struct AggregateColumn {
  enum class Fold : std::uint8_t { count, sum, minimum, maximum, average, count_distinct };
  std::string name;  ///< Of the result.
  Fold fold = Fold::count;
  bool of_rows = false;     ///< `count()`: of rows, whatever they hold.
  std::uint32_t field = 0;  ///< Of the input rows; unless `of_rows`.
  friend bool operator==(const AggregateColumn&, const AggregateColumn&) = default;
};

/// The type of a column's result.
Field result_field(const AggregateColumn& column, const std::vector<Field>& input);

/// Folds of the fields of dynamic rows, side by side.
///
/// Nulls are skipped as in SQL; a fold of nothing but nulls is null, a count 0. Every result is
/// exact or rounded once, so neither order nor grouping shows (DECISIONS "Results").
class RowAggregate {
 public:
  RowAggregate(const std::vector<AggregateColumn>& columns, const std::vector<Field>& input);

  /// Of every column, one behind the other. Empty: the fold of no rows.
  struct State {
    std::vector<std::uint64_t> words;
    std::vector<std::set<std::string>> values;  ///< For each column that counts different ones.
  };

  /// The fields that are folded, and no others.
  Row pick(const Row& row) const;
  void add(State& state, const Row& picked) const;
  void merge(State& state, const State& other) const;
  /// One field a column. Throws JobFailed: a sum does not fit into its type.
  Row result(const State& state) const;

 private:
  struct Column {
    AggregateColumn::Fold fold;
    bool of_rows;
    std::uint32_t source;  ///< Field of the input row.
    std::uint32_t picked;  ///< Field of the picked row.
    FieldType type;        ///< Of the folded field.
    std::uint32_t first;   ///< Word of the state.
    std::uint32_t words;
    std::uint32_t set;  ///< Of the state, if it counts different values.
    std::string text;   ///< For people: `sum(price)`.
  };
  State& made(State& state) const;
  void set_result(Row& result, std::uint32_t field, const Column& column,
                  const std::uint64_t* words) const;

  std::vector<Column> columns_;
  std::uint32_t picked_fields_ = 0;
  std::uint32_t words_ = 0;
  std::uint32_t sets_ = 0;
};

}  // namespace millrace
