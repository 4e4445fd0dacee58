#include "millrace/properties/outcome.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace::properties {
namespace {

struct VerdictFacts {
  Verdict verdict;
  std::string_view text;
  int exit_code;
};
constexpr VerdictFacts facts[] = {
    {Verdict::held, "held", 0},
    {Verdict::breached, "breached", 1},
    {Verdict::no_progress, "no_progress", 3},
    {Verdict::nondeterministic, "nondeterministic", 4},
    {Verdict::violated, "violated", 5},
    {Verdict::stale, "stale", 6},
    {Verdict::refused, "refused", 7},
    {Verdict::failed, "failed", 8},
    {Verdict::crashed, "crashed", 10},
};

}  // namespace

std::string_view to_text(Verdict verdict) { return facts[static_cast<std::size_t>(verdict)].text; }

Verdict parse_verdict(std::string_view text) {
  for (const VerdictFacts& one : facts) {
    if (one.text == text) return one.verdict;
  }
  throw UsageError(fmt::format("`{}` is no verdict", text));
}

int exit_code_of(Verdict verdict) { return facts[static_cast<std::size_t>(verdict)].exit_code; }

std::size_t index_of(const Landmark& landmark) {
  for (std::size_t i = 0; i < landmark_count; ++i) {
    if (landmarks::all[i] == &landmark) return i;
  }
  violated("every landmark of the processor is listed", Where::here());
}

}  // namespace millrace::properties
