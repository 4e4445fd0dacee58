#include "millrace/runtime/trigger.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {

triggers::EveryRows every_rows(std::int64_t rows) {
  if (rows < 1) {
    throw UsageError(
        fmt::format("a trigger every {} rows: the number is expected to be at least 1", rows));
  }
  return {rows};
}

triggers::EarlyRows early_rows(std::int64_t rows) { return {every_rows(rows)}; }

triggers::EveryWall every_wall(Duration span) {
  if (span <= Duration::zero()) {
    throw UsageError(
        fmt::format("a trigger every {} ms: the span is expected to be positive", span.count()));
  }
  return {span};
}

}  // namespace millrace
