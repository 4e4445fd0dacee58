#include "millrace/properties/first_difference.hpp"

#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Runs children in this process; what the second says can be changed before it is heard.
class TwoRuns final : public Workers {
 public:
  void run(int, const Child& child, const OnLine& on_line, const OnEnd&, const OnTick&) override {
    ++runs;
    std::size_t events = 0;
    child(0, [&](std::string_view said) {
      std::string line(said);
      if (line[0] == '*') ++events;
      if (runs == 2 && change && !change(events, line)) return;
      on_line(0, line);
    });
    counts.push_back(events);
  }

  /// Of an event's number and line; false: it is not heard at all.
  std::function<bool(std::size_t event, std::string& line)> change;
  std::vector<std::size_t> counts;
  int runs = 0;
};

const Subject& subject() {
  static const Subject small(spec_of(SmallJob{}), input_of({record("a", 0), record("b", 1500)}));
  return small;
}

std::optional<FirstDifference> difference(TwoRuns& workers) {
  return find_first_difference(case_of(subject()), subject(), workers);
}

}  // namespace

TEST_CASE("two runs of a case have no first difference", "[properties][determinism]") {
  TwoRuns workers;
  CHECK_FALSE(difference(workers));
  REQUIRE(workers.counts.size() == 2);
  CHECK(workers.counts[0] > 100);
  CHECK(workers.counts[0] == workers.counts[1]);
}

TEST_CASE("the first event that differs is named, with what was reached before it",
          "[properties][determinism]") {
  TwoRuns workers;
  workers.change = [](std::size_t event, std::string& line) {
    if (event >= 2000 && line[0] == '*') line = "*100000000000011 0 0 7a120";
    return true;
  };
  const auto found = difference(workers);
  REQUIRE(found);
  CHECK(found->event == 2000);
  CHECK(found->other == "0.500000 ms: task 17 resumed");
  CHECK(found->one != found->other);
  CHECK(to_text(*found).find("the first event that differs is number 2000") == 0);
}

TEST_CASE("a run that ends sooner differs where the other goes on", "[properties][determinism]") {
  TwoRuns workers;
  workers.change = [](std::size_t event, std::string&) { return event < 2000; };
  const auto found = difference(workers);
  REQUIRE(found);
  CHECK(found->event == 2000);
  CHECK(found->other.empty());
  CHECK(!found->one.empty());
  CHECK(!found->landmark.empty());
  CHECK(to_text(*found).ends_with("and in a process that has run it before, nothing more"));
}
