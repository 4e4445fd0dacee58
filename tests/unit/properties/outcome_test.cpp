#include "millrace/properties/outcome.hpp"

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

TEST_CASE("every verdict has a name and an exit code of its own", "[properties][outcome]") {
  const std::vector<std::tuple<Verdict, std::string, int>> verdicts{
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
  std::set<int> codes;
  for (const auto& [verdict, name, code] : verdicts) {
    CHECK(to_text(verdict) == name);
    CHECK(parse_verdict(name) == verdict);
    CHECK(exit_code_of(verdict) == code);
    codes.insert(code);
  }
  CHECK(codes.size() == verdicts.size());
}

TEST_CASE("what is no verdict is refused", "[properties][outcome]") {
  CHECK(complaint_of([] { parse_verdict("fine"); }) == "`fine` is no verdict");
  CHECK(complaint_of([] { parse_verdict(""); }) == "`` is no verdict");
  CHECK(complaint_of([] { parse_verdict("Held"); }) == "`Held` is no verdict");
}

TEST_CASE("rows that are wrong are those that are lost, doubled, altered or unexpected",
          "[properties][outcome]") {
  CHECK(RowCounts{}.wrong() == 0);
  CHECK(RowCounts{1, 20, 300, 4000, 50'000}.wrong() == 4321);
}
