#include "millrace/runtime/operators/row_aggregate.hpp"

#include <bit>
#include <limits>

#include "millrace/env/error.hpp"
#include "millrace/env/int128.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/operators/exact_sum.hpp"

namespace millrace {
namespace {

using Fold = AggregateColumn::Fold;

/// Every column begins with the number of values folded; then what the fold needs.
std::uint32_t words_of(Fold fold, FieldType type) {
  switch (fold) {
    case Fold::count:
    case Fold::count_distinct: return 1;
    case Fold::minimum:
    case Fold::maximum: return 2;
    case Fold::sum:
    case Fold::average: return 1 + (type == FieldType::real ? exact_sum::words : 2);
  }
  return 0;
}

Int128 read_int128(const std::uint64_t* words) {
  return static_cast<Int128>(static_cast<Uint128>(words[1]) << 64 | words[0]);
}
void write_int128(std::uint64_t* words, Int128 value) {
  words[0] = static_cast<std::uint64_t>(value);
  words[1] = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
}

/// Whether the value in `word` comes before the one in `other`.
bool is_less(std::uint64_t word, std::uint64_t other, FieldType type) {
  if (type == FieldType::real) return std::bit_cast<double>(word) < std::bit_cast<double>(other);
  return static_cast<std::int64_t>(word) < static_cast<std::int64_t>(other);
}

void fold_extreme(std::uint64_t* words, std::uint64_t value, std::uint64_t count, FieldType type,
                  Fold fold) {
  const bool replaces = words[0] == 0 || (fold == Fold::minimum ? is_less(value, words[1], type)
                                                                : is_less(words[1], value, type));
  if (replaces) words[1] = value;
  words[0] += count;
}

/// A value as a member of a set. All of a set are of one type, so that bytes tell them apart.
std::string bytes_of(const Row& row, std::uint32_t field, FieldType type) {
  if (type == FieldType::text) return std::string(row.text(field));
  const std::int64_t bits = row.integer(field);  // Of a number of either type.
  return std::string(reinterpret_cast<const char*>(&bits), sizeof bits);
}

}  // namespace

Field result_field(const AggregateColumn& column, const std::vector<Field>& input) {
  Field field;
  field.name = column.name;
  if (column.fold == Fold::count || column.fold == Fold::count_distinct) return field;
  field.type = column.fold == Fold::average ? FieldType::real : input[column.field].type;
  field.nullable = input[column.field].nullable;
  return field;
}

RowAggregate::RowAggregate(const std::vector<AggregateColumn>& columns,
                           const std::vector<Field>& input) {
  for (const AggregateColumn& from : columns) {
    Column column;
    column.fold = from.fold;
    column.of_rows = from.of_rows;
    column.source = from.field;
    column.picked = from.of_rows ? 0 : picked_fields_++;
    column.type = from.of_rows ? FieldType::integer : input[from.field].type;
    column.first = words_;
    column.words = words_of(from.fold, column.type);
    column.set = from.fold == Fold::count_distinct ? sets_++ : 0;
    column.text = describe(from, input);
    words_ += column.words;
    columns_.push_back(std::move(column));
  }
}

Row RowAggregate::pick(const Row& row) const {
  Row picked(picked_fields_);
  for (const Column& column : columns_) {
    if (!column.of_rows) picked.copy(column.picked, row, column.source, column.type);
  }
  return picked;
}

RowAggregate::State& RowAggregate::made(State& state) const {
  if (state.words.empty()) {
    state.words.resize(words_);
    state.values.resize(sets_);
  }
  return state;
}

void RowAggregate::add(State& state, const Row& picked) const {
  made(state);
  for (const Column& column : columns_) {
    std::uint64_t* const words = state.words.data() + column.first;
    if (column.of_rows) {
      ++words[0];
      continue;
    }
    if (!picked.has(column.picked)) continue;
    switch (column.fold) {
      case Fold::count: ++words[0]; break;
      case Fold::count_distinct:
        state.values[column.set].insert(bytes_of(picked, column.picked, column.type));
        words[0] = state.values[column.set].size();
        break;
      case Fold::minimum:
      case Fold::maximum:
        fold_extreme(words, static_cast<std::uint64_t>(picked.integer(column.picked)), 1,
                     column.type, column.fold);
        break;
      case Fold::sum:
      case Fold::average:
        ++words[0];
        if (column.type == FieldType::real) {
          exact_sum::add(exact_sum::Words(words + 1, exact_sum::words), picked.real(column.picked));
        } else {
          write_int128(words + 1, read_int128(words + 1) + picked.integer(column.picked));
        }
        break;
    }
  }
}

void RowAggregate::merge(State& state, const State& other) const {
  if (other.words.empty()) return;
  made(state);
  for (const Column& column : columns_) {
    std::uint64_t* const words = state.words.data() + column.first;
    const std::uint64_t* const others = other.words.data() + column.first;
    if (others[0] == 0) continue;
    switch (column.fold) {
      case Fold::count: words[0] += others[0]; break;
      case Fold::count_distinct: {
        auto& values = state.values[column.set];
        values.insert(other.values[column.set].begin(), other.values[column.set].end());
        words[0] = values.size();
        break;
      }
      case Fold::minimum:
      case Fold::maximum:
        fold_extreme(words, others[1], others[0], column.type, column.fold);
        break;
      case Fold::sum:
      case Fold::average:
        words[0] += others[0];
        if (column.type == FieldType::real) {
          exact_sum::merge(exact_sum::Words(words + 1, exact_sum::words),
                           exact_sum::ConstWords(others + 1, exact_sum::words));
        } else {
          write_int128(words + 1, read_int128(words + 1) + read_int128(others + 1));
        }
        break;
    }
  }
}

Row RowAggregate::result(const State& state) const {
  Row result(static_cast<std::uint32_t>(columns_.size()));
  for (std::uint32_t i = 0; i < columns_.size(); ++i) {
    set_result(result, i, columns_[i], state.words.data() + columns_[i].first);
  }
  return result;
}

void RowAggregate::set_result(Row& result, std::uint32_t field, const Column& column,
                              const std::uint64_t* words) const {
  const std::uint64_t count = words[0];
  if (column.fold == Fold::count || column.fold == Fold::count_distinct) {
    result.set_integer(field, static_cast<std::int64_t>(count));
    return;
  }
  if (count == 0) return;  // Null.
  if (column.fold == Fold::minimum || column.fold == Fold::maximum) {
    result.set_integer(field, static_cast<std::int64_t>(words[1]));  // The bits of either type.
    return;
  }
  if (column.type == FieldType::real) {
    const exact_sum::ConstWords sum(words + 1, exact_sum::words);
    const auto value =
        column.fold == Fold::sum ? exact_sum::rounded(sum) : exact_sum::rounded_mean(sum, count);
    if (!value) throw JobFailed(column.text + " is larger than the largest float64");
    result.set_real(field, *value);
    return;
  }
  const Int128 sum = read_int128(words + 1);
  if (column.fold == Fold::average) {
    result.set_real(field, rounded_mean(sum, count));
  } else if (sum < std::numeric_limits<std::int64_t>::min() ||
             sum > std::numeric_limits<std::int64_t>::max()) {
    throw JobFailed(column.text + " does not fit into int64");
  } else {
    result.set_integer(field, static_cast<std::int64_t>(sum));
  }
}

}  // namespace millrace
