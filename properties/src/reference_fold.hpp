#pragma once

#include <memory>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/operators/row_aggregate.hpp"

namespace millrace::properties {

/// One column's fold over the rows of a group, as the reference does it: it keeps every value and
/// computes at the end, with rational numbers.
class ReferenceFold {
 public:
  virtual ~ReferenceFold() = default;
  virtual void add(const OwnedRow& record) = 0;
  virtual OwnedCell result() const = 0;
};

std::unique_ptr<ReferenceFold> make_reference_fold(const AggregateColumn& column, FieldType type);

}  // namespace millrace::properties
