#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "millrace/runtime/job_spec.hpp"

namespace millrace {

/// Makes rows of other fields: copies some, and works out others.
class Projection {
 public:
  /// Of a step with `set` or `keep`, over rows of these fields.
  Projection(const SetSpec& set, const std::vector<Field>& fields);
  Projection(const KeepSpec& keep, const std::vector<Field>& fields);

  /// Throws JobFailed: a number does not fit into its type.
  Row operator()(const Row& row) const;

 private:
  struct Copied {
    std::uint32_t field;
    FieldType type;
  };
  std::vector<std::variant<Copied, Arithmetic>> columns_;
};

/// Filters, sets and keeps, one behind the other: what they make of a row, if none of them drops
/// it.
class RowSteps {
 public:
  RowSteps(const std::vector<StepWork>& steps, std::vector<Field> fields);
  std::optional<Row> operator()(const Row& row) const;

 private:
  std::vector<std::variant<Condition, Projection>> steps_;
};

}  // namespace millrace
