#include "millrace/runtime/coordinator/checkpoint_schedule.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "violations.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::nanoseconds;

Instant at(Span span) { return Instant{} + span; }

enum class Event : std::uint8_t { starts, asked, triggered, completed, failed, no_more };

struct Step {
  Span at;
  Event event;
};

CheckpointOptions options(Span interval, Span min_pause, Span timeout) {
  CheckpointOptions options;
  options.interval = interval;
  options.min_pause = min_pause;
  options.timeout = timeout;
  return options;
}

void happens(CheckpointSchedule& schedule, const Step& step) {
  switch (step.event) {
    case Event::starts: return schedule.start(at(step.at));
    case Event::asked: return schedule.ask(at(step.at));
    case Event::triggered: return schedule.triggered(at(step.at));
    case Event::completed: return schedule.completed(at(step.at));
    case Event::failed: return schedule.failed(at(step.at));
    case Event::no_more: return schedule.no_more();
  }
}

constexpr Span never = Span::max();

struct Script {
  std::string name;
  CheckpointOptions options;
  std::vector<Step> steps;
  Span next;  ///< When one is due after them.
};

/// 3 s from one to the next, 10 s for each.
CheckpointOptions plain() { return options(3s, 0s, 10s); }
CheckpointOptions with_pause() { return options(3s, 2s, 10s); }

const std::vector<Script>& scripts() {
  using enum Event;
  static const std::vector<Script> list{
      {"nothing is due before all tasks run", plain(), {}, never},
      {"also if it was asked for", plain(), {{1s, asked}}, never},
      {"the first comes an interval later", plain(), {{5s, starts}}, 8s},
      {"or at once, if it was asked for before", plain(), {{1s, asked}, {5s, starts}}, 1s},
      {"none is due while one is pending", plain(), {{0s, starts}, {3s, triggered}}, never},
      {"nor when another is asked for",
       plain(),
       {{0s, starts}, {3s, triggered}, {4s, asked}},
       never},
      {"the next comes an interval after the last was triggered",
       plain(),
       {{0s, starts}, {3s, triggered}, {5s, completed}},
       6s},
      {"or at once, if that is over by then",
       plain(),
       {{0s, starts}, {3s, triggered}, {9s, completed}},
       9s},
      {"a pause that ends first changes nothing",
       with_pause(),
       {{0s, starts}, {3s, triggered}, {4s - 1ns, completed}},
       6s},
      {"a pause that ends with the interval changes nothing",
       with_pause(),
       {{0s, starts}, {3s, triggered}, {4s, completed}},
       6s},
      {"a pause that ends later is kept",
       with_pause(),
       {{0s, starts}, {3s, triggered}, {4s + 1ns, completed}},
       6s + 1ns},
      {"there is no pause before the first", options(3s, 7s, 10s), {{0s, starts}}, 3s},
      {"a failed one makes no pause",
       with_pause(),
       {{0s, starts}, {3s, triggered}, {13s, failed}},
       13s},
      {"what was asked for does not wait for the interval",
       plain(),
       {{0s, starts}, {1s, asked}},
       1s},
      {"nor for the pause",
       options(3s, 7s, 10s),
       {{0s, starts}, {3s, triggered}, {4s, completed}, {5s, asked}},
       5s},
      {"asked for twice it is one",
       plain(),
       {{0s, starts}, {1s, asked}, {2s, asked}, {2s, triggered}, {4s, completed}},
       5s},
      {"what is pending already is not what was asked for",
       plain(),
       {{0s, starts}, {3s, triggered}, {4s, asked}, {5s, completed}},
       4s},
      {"one that expires is followed at once",
       plain(),
       {{0s, starts}, {3s, triggered}, {13s, failed}},
       13s},
      {"one that fails early is followed an interval after its trigger",
       plain(),
       {{0s, starts}, {3s, triggered}, {4s, failed}},
       6s},
      {"with the end of the interval it is followed at once",
       plain(),
       {{0s, starts}, {3s, triggered}, {6s, failed}},
       6s},
      {"and behind that, too",
       plain(),
       {{0s, starts}, {3s, triggered}, {6s + 1ns, failed}},
       6s + 1ns},
      {"a retry does not wait for a long interval",
       options(1h, 0s, 10s),
       {{0s, starts}, {1h, triggered}, {1h + 1s, failed}},
       1h + 10s},
      {"what was asked for and failed stays asked for",
       options(3s, 7s, 10s),
       {{0s, starts}, {3s, triggered}, {4s, completed}, {5s, asked}, {5s, triggered}, {6s, failed}},
       8s},
      {"what was asked for while another failed waits as long as that",
       plain(),
       {{0s, starts}, {3s, triggered}, {4s, asked}, {5s, failed}},
       6s},
      {"and so does what is asked for later",
       plain(),
       {{0s, starts}, {3s, triggered}, {4s, failed}, {5s, asked}},
       6s},
      {"what was asked for is done when it is completed at the second attempt",
       plain(),
       {{0s, starts}, {1s, asked}, {1s, triggered}, {2s, failed}, {4s, triggered}, {5s, completed}},
       7s},
      {"behind the last there is none", plain(), {{0s, starts}, {3s, no_more}}, never},
      {"whatever is asked for", plain(), {{0s, starts}, {3s, no_more}, {4s, asked}}, never},
      {"an interval beyond all time is never over",
       options(Span::max(), 0s, 10s),
       {{1s, starts}},
       never},
  };
  return list;
}

}  // namespace

TEST_CASE("scripts of what happens to checkpoints tell when the next is due",
          "[runtime][checkpoint_schedule]") {
  for (const Script& script : scripts()) {
    INFO(script.name);
    CheckpointSchedule schedule(script.options);
    for (const Step& step : script.steps) happens(schedule, step);

    CHECK(schedule.next().ns == at(script.next).ns);
    if (script.next == never) {
      CHECK_FALSE(schedule.is_due(Instant::never()));
    } else {
      CHECK_FALSE(schedule.is_due(at(script.next - 1ns)));
      CHECK(schedule.is_due(at(script.next)));
      CHECK(schedule.is_due(at(script.next + 1ns)));
    }
  }
}

TEST_CASE("two pending checkpoints break an invariant", "[runtime][checkpoint_schedule]") {
  CheckpointSchedule schedule(plain());
  schedule.start(at(0s));
  schedule.triggered(at(3s));

  CHECK(broken_invariant([&] { schedule.triggered(at(4s)); }) ==
        "one checkpoint is pending at a time");
}

TEST_CASE("whatever happens, a checkpoint is pending or the next is due some time",
          "[runtime][checkpoint_schedule]") {
  std::size_t asked = 0;
  std::size_t failed = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draws draws(seed);
    const auto span = [&](std::uint64_t most) { return Span{draws.below(most)}; };
    const CheckpointOptions drawn = options(1ns + span(20), span(20), 1ns + span(30));
    CheckpointSchedule schedule(drawn);
    Span now{0};
    schedule.start(at(now));
    bool is_pending = false;
    Span last_completed = -drawn.min_pause;
    bool is_wanted = false;
    bool is_wanted_pending = false;
    for (int i = 0; i < 40; ++i) {
      now += span(10);
      if (draws.one_in(4)) {
        schedule.ask(at(now));
        is_wanted = true;
        ++asked;
      } else if (is_pending) {
        is_pending = false;
        if (draws.one_in(2)) {
          schedule.failed(at(now));
          is_wanted = is_wanted || is_wanted_pending;
          ++failed;
        } else {
          schedule.completed(at(now));
          last_completed = now;
        }
      } else if (schedule.is_due(at(now))) {
        REQUIRE((is_wanted || now >= last_completed + drawn.min_pause));
        schedule.triggered(at(now));
        is_pending = true;
        is_wanted_pending = std::exchange(is_wanted, false);
      }
      // Nothing waits for longer than what the options say.
      const Instant latest = at(now + drawn.interval + drawn.min_pause);
      REQUIRE((is_pending ? schedule.next() == Instant::never() : schedule.next() <= latest));
    }
  }
  CHECK(asked > 1000);
  CHECK(failed > 1000);
}
