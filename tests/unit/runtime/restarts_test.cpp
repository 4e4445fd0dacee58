#include "millrace/runtime/coordinator/restarts.hpp"

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Pauses = std::vector<std::chrono::nanoseconds>;

Instant at(std::chrono::nanoseconds span) { return Instant{} + span; }

RestartOptions attempts(std::uint32_t most) {
  RestartOptions options;
  options.attempts = most;
  return options;
}

/// What is waited, one failure after the other, until there is no attempt left.
Pauses all_of(Restarts& restarts) {
  Pauses pauses;
  while (const auto pause = restarts.next(at(1s))) pauses.push_back(*pause);
  return pauses;
}

}  // namespace

TEST_CASE("pauses before restarts double up to five seconds, and after ten there is none",
          "[runtime][restarts]") {
  Restarts restarts;

  CHECK(all_of(restarts) == Pauses{100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5s, 5s, 5s, 5s});
  CHECK_FALSE(restarts.next(at(1h)).has_value());
}

TEST_CASE("pauses double up to the longest, whatever the first is", "[runtime][restarts]") {
  RestartOptions options = attempts(3);
  options.delay = 300ms;
  for (const auto& [longest, expected] : std::vector<std::pair<std::chrono::nanoseconds, Pauses>>{
           {300ms, {300ms, 300ms, 300ms}},
           {599ms, {300ms, 599ms, 599ms}},
           {600ms, {300ms, 600ms, 600ms}},
           {601ms, {300ms, 600ms, 601ms}},
           {std::chrono::nanoseconds::max(), {300ms, 600ms, 1200ms}}}) {
    options.max_delay = longest;
    Restarts restarts(options);
    CHECK(all_of(restarts) == expected);
  }
}

TEST_CASE("a pause of nothing stays one", "[runtime][restarts]") {
  RestartOptions options = attempts(2);
  options.delay = 0s;
  Restarts restarts(options);

  CHECK(all_of(restarts) == Pauses{0s, 0s});
}

TEST_CASE("the pauses of a fixed strategy are all the same", "[runtime][restarts]") {
  RestartOptions options = attempts(4);
  options.strategy = RestartOptions::Strategy::fixed;
  options.delay = 7s;  // Above the longest of those that double.
  Restarts restarts(options);

  CHECK(all_of(restarts) == Pauses{7s, 7s, 7s, 7s});
}

TEST_CASE("there are as many restarts as there are attempts", "[runtime][restarts]") {
  for (const std::uint32_t most : {0U, 1U, 9U, 10U, 11U}) {
    Restarts restarts(attempts(most));
    CHECK(all_of(restarts).size() == most);
  }
}

TEST_CASE("a completed checkpoint makes restarts begin anew", "[runtime][restarts]") {
  Restarts restarts;
  REQUIRE(all_of(restarts).size() == 10);

  restarts.reset();

  CHECK(restarts.next(at(1s)) == 100ms);
  CHECK(restarts.next(at(1s)) == 200ms);
  restarts.reset();
  CHECK(all_of(restarts).size() == 10);
}

TEST_CASE("attempts that are counted within a span come back when it is over",
          "[runtime][restarts]") {
  RestartOptions options = attempts(2);
  options.within = 10s;
  for (const auto& [later, has_one] : std::vector<std::pair<std::chrono::nanoseconds, bool>>{
           {-1ns, false}, {0ns, true}, {1ns, true}}) {
    Restarts restarts(options);
    REQUIRE(restarts.next(at(5s)).has_value());
    REQUIRE(restarts.next(at(9s)).has_value());

    CHECK(restarts.next(at(15s + later)).has_value() == has_one);
    // The second still counts, and so does the one just made.
    CHECK(restarts.next(at(19s - 1ns)).has_value() != has_one);
  }
}

TEST_CASE("a completed checkpoint gives no attempt back that is counted within a span",
          "[runtime][restarts]") {
  RestartOptions options = attempts(3);
  options.within = 10s;
  Restarts restarts(options);
  REQUIRE(restarts.next(at(1s)) == 100ms);
  REQUIRE(restarts.next(at(2s)) == 200ms);

  restarts.reset();

  CHECK(restarts.next(at(3s)) == 100ms);  // The pause is a first one again.
  CHECK_FALSE(restarts.next(at(4s)).has_value());
}

TEST_CASE("giving up says how many restarts were no use", "[runtime][restarts]") {
  CHECK(Restarts().gave_up() == "gave up after 10 restarts without a completed checkpoint");
  CHECK(Restarts(attempts(1)).gave_up() ==
        "gave up after 1 restart without a completed checkpoint");
  RestartOptions options = attempts(5);
  options.within = 600s;
  CHECK(Restarts(options).gave_up() == "gave up after 5 restarts within 10min");
}

TEST_CASE("the same error of a function at the same place is poison when it comes the third time",
          "[runtime][restarts]") {
  Restarts restarts;
  CHECK_FALSE(restarts.is_poison("f: key 7, event time 1 ms: no"));
  CHECK_FALSE(restarts.is_poison("f: key 7, event time 2 ms: no"));  // Another place.
  CHECK_FALSE(restarts.is_poison("f: key 7, event time 1 ms: no"));
  restarts.reset();  // Progress says nothing: the restart is from before the record.
  CHECK(restarts.is_poison("f: key 7, event time 1 ms: no"));
  CHECK_FALSE(restarts.is_poison("f: key 7, event time 2 ms: no"));
}
