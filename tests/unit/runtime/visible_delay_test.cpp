#include "millrace/runtime/coordinator/visible_delay.hpp"

#include <catch2/catch.hpp>

using namespace millrace;
using namespace std::chrono_literals;

namespace {

Instant at(std::chrono::nanoseconds span) { return Instant{} + span; }

constexpr CheckpointId one{{1}, 1};
constexpr CheckpointId two{{1}, 2};
constexpr CheckpointId three{{1}, 3};

}  // namespace

TEST_CASE("a record waits from behind one checkpoint until the next is published",
          "[runtime][visible_delay]") {
  VisibleDelay delay;
  CHECK(delay.longest() == 0ns);

  delay.running(at(10s));
  delay.triggered(at(11s));
  delay.decided(one);
  CHECK(delay.longest() == 0ns);
  delay.published(one, at(11s + 300ms));
  CHECK(delay.longest() == 1300ms);

  delay.triggered(at(12s));
  delay.decided(two);
  delay.published(two, at(12s + 299ms));
  CHECK(delay.longest() == 1300ms);  // The longest stays.

  delay.triggered(at(13s));
  delay.decided(three);
  delay.published(three, at(13s + 301ms));
  CHECK(delay.longest() == 1301ms);
}

TEST_CASE("what a checkpoint that was given up would have shown waits for the next",
          "[runtime][visible_delay]") {
  VisibleDelay delay;
  delay.running(at(0s));
  delay.triggered(at(1s));
  delay.triggered(at(5s));
  delay.decided(two);
  delay.published(two, at(6s));
  CHECK(delay.longest() == 6s);
}

TEST_CASE("a publish that comes late shows all before it", "[runtime][visible_delay]") {
  VisibleDelay delay;
  delay.running(at(0s));
  delay.triggered(at(1s));
  delay.decided(one);
  delay.triggered(at(2s));
  delay.decided(two);
  delay.published(one, at(4s));
  CHECK(delay.longest() == 4s);
  delay.published(two, at(6s));
  CHECK(delay.longest() == 5s);
}
