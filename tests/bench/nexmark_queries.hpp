#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "millrace/nexmark/event.hpp"
#include "millrace/runtime/source.hpp"

#include "nexmark_tally.hpp"

namespace millrace::bench {

/// A query as the processor runs it, beside the floor of its name.
struct Query {
  std::string_view name;  ///< Of a floor.
  /// Runs it for real on one core, and returns the rows that came out.
  std::function<Tally(const Source<nexmark::Event>&)> run;
  /// What of the floor's tally is the query's, too. Both, unless the floor says otherwise.
  bool has_rows = true;
  bool has_check = true;
  double required = 0;  ///< Of the floor's speed.
  double goal = 0;
};

std::span<const Query> queries();

}  // namespace millrace::bench
