#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/paired_flow.hpp"
#include "millrace/runtime/processed.hpp"

namespace millrace {
namespace {

constexpr Duration longest = std::chrono::hours(24) * 100'000;

}  // namespace

KeepFor keep_for(Duration span) {
  if (span <= Duration::zero() || span > longest) {
    throw UsageError(fmt::format(
        "keys kept for {} ms: a span that is positive and at most 100,000 days is expected",
        span.count()));
  }
  return {span};
}

void check_interval(Duration before, Duration after) {
  const auto is_too_long = [](Duration span) { return span > longest || span < -longest; };
  if (!is_too_long(before) && !is_too_long(after) && before + after >= Duration::zero()) return;
  throw UsageError(
      fmt::format("a join from {} ms before to {} ms behind the left row: a span of "
                  "time is expected, with ends that are at most 100,000 days away",
                  before.count(), after.count()));
}

}  // namespace millrace
