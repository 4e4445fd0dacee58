#pragma once

#include <string_view>

namespace millrace {

/// A place in the source. `std::source_location` is not usable with every compiler we build with.
struct Where {
  const char* file;
  int line;
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// What happens when an invariant does not hold. Must not return.
///
/// By default the process prints the claim and aborts. The simulator installs its own for the time
/// of a run, which ends the simulated world and keeps its trace instead.
using ViolationHandler = void (*)(std::string_view claim, Where where);
ViolationHandler set_violation_handler(ViolationHandler handler);

[[noreturn]] void violated(std::string_view claim, Where where);

/// States something that is true unless this program has a bug.
///
/// `claim` is a sentence about the design, not about the expression. Checked in every build: a
/// wrong answer costs more than a comparison.
constexpr void invariant(bool holds, std::string_view claim, Where where = Where::here()) {
  if (!holds) [[unlikely]] {
    violated(claim, where);
  }
}

}  // namespace millrace
