#include "reference_fold.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "millrace/env/error.hpp"

#include "exact_number.hpp"

namespace millrace::properties {
namespace {

/// All values of a field that are not null.
class FieldFold : public ReferenceFold {
 public:
  explicit FieldFold(const AggregateColumn& column) : column_(column) {}
  void add(const OwnedRow& record) override {
    const OwnedCell& cell = record[column_.field];
    if (!std::holds_alternative<std::monostate>(cell)) values_.push_back(cell);
  }

 protected:
  const AggregateColumn& column_;
  std::vector<OwnedCell> values_;
};

class CountFold final : public ReferenceFold {
 public:
  explicit CountFold(const AggregateColumn& column) : column_(column) {}
  void add(const OwnedRow& record) override {
    if (column_.of_rows || !std::holds_alternative<std::monostate>(record[column_.field])) ++count_;
  }
  OwnedCell result() const override { return count_; }

 private:
  const AggregateColumn& column_;
  std::int64_t count_ = 0;
};

class DistinctFold final : public FieldFold {
 public:
  using FieldFold::FieldFold;
  OwnedCell result() const override {
    const std::set<OwnedCell> distinct(values_.begin(), values_.end());
    return static_cast<std::int64_t>(distinct.size());
  }
};

class ExtremeFold final : public FieldFold {
 public:
  using FieldFold::FieldFold;
  OwnedCell result() const override {
    if (values_.empty()) return {};
    // Alternatives of one type compare as their values do.
    return column_.fold == AggregateColumn::Fold::minimum
               ? *std::min_element(values_.begin(), values_.end())
               : *std::max_element(values_.begin(), values_.end());
  }
};

class SumFold final : public FieldFold {
 public:
  SumFold(const AggregateColumn& column, FieldType type) : FieldFold(column), type_(type) {}
  OwnedCell result() const override {
    if (values_.empty()) return {};
    Fraction sum = 0;
    for (const OwnedCell& value : values_) {
      if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        sum += *integer;
      } else {
        sum += exact(std::get<double>(value));
      }
    }
    if (column_.fold == AggregateColumn::Fold::average) {
      return nearest_double(sum / static_cast<std::int64_t>(values_.size()));
    }
    if (type_ == FieldType::real) return nearest_double(sum);
    if (sum < std::numeric_limits<std::int64_t>::min() ||
        sum > std::numeric_limits<std::int64_t>::max()) {
      throw UsageError("a sum of this input does not fit into int64");
    }
    return static_cast<std::int64_t>(numerator(sum));
  }

 private:
  FieldType type_;
};

}  // namespace

std::unique_ptr<ReferenceFold> make_reference_fold(const AggregateColumn& column, FieldType type) {
  using Fold = AggregateColumn::Fold;
  if (column.fold == Fold::count) return std::make_unique<CountFold>(column);
  if (column.fold == Fold::count_distinct) return std::make_unique<DistinctFold>(column);
  if (column.fold == Fold::minimum || column.fold == Fold::maximum) {
    return std::make_unique<ExtremeFold>(column);
  }
  return std::make_unique<SumFold>(column, type);
}

}  // namespace millrace::properties
