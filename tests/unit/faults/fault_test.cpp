#include "millrace/faults/fault.hpp"

#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

using namespace millrace;
using namespace millrace::faults;
using namespace std::chrono_literals;

namespace {

template <class Act>
std::string complaint_of(Act act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string complaint_about_fault(std::string_view text) {
  return complaint_of([&] { parse_fault(text); });
}
std::string complaint_about_span(std::string_view text) {
  return complaint_of([&] { parse_span(text); });
}

struct WrittenFault {
  Fault fault;
  std::string text;
};

/// One of every kind, in the order of the variant.
const std::vector<WrittenFault> one_of_each{
    {Kill{"worker1", Instant{1'500'000'000}, 200ms}, "kill node=worker1 at=1500ms down=200ms"},
    {PowerLoss{"store", parse_anchor("sink_staged n=3"), 3s},
     "power_loss node=store at='sink_staged n=3' down=3s"},
    {Pause{"coordinator2", Instant{}, 17ns}, "pause node=coordinator2 at=0s lasts=17ns"},
    {Cut{"worker1", "worker2", sim::Way::out, Instant{1'000'000}, 2s},
     "cut node=worker1 peer=worker2 way=out at=1ms lasts=2s"},
    {Reset{"worker1", "*", parse_anchor("took_over nth=2")},
     "reset node=worker1 peer=* at='took_over nth=2'"},
    {Slow{"worker1", "store", Instant{}, 1s, 30ms},
     "slow node=worker1 peer=store at=0s lasts=1s by=30ms"},
    {LoseAnswer{"store", "swap", parse_anchor("head_swap_begun")},
     "lose_answer node=store op=swap at='head_swap_begun'"},
    {LateAnswer{"database", "publish", Instant{}, 8s},
     "late_answer node=database op=publish at=0s by=8s"},
    {DiskError{"store", After{1, 50ms}, 5ms}, "disk_error node=store after=1 delay=50ms lasts=5ms"},
    {DiskFull{"database", Instant{}, 3s}, "disk_full node=database at=0s lasts=3s"},
    {Frames{"coordinator1", "worker1", Instant{}, 1s, {{1, 4}, {0, 1}, {1, 2}}},
     "frames node=coordinator1 peer=worker1 at=0s lasts=1s lose=1/4 repeat=0/1 hold=1/2"},
};

const std::string all_kinds =
    "kill, power_loss, pause, cut, reset, slow, lose_answer, late_answer, disk_error, disk_full or "
    "frames is expected, not ";

}  // namespace

TEST_CASE("a fault of every kind survives being written down and read back", "[faults][text]") {
  REQUIRE(one_of_each.size() == std::variant_size_v<Fault>);
  REQUIRE(std::size(kinds) == std::variant_size_v<Fault>);
  for (std::size_t kind = 0; kind < one_of_each.size(); ++kind) {
    const auto& [fault, text] = one_of_each[kind];
    CAPTURE(text);
    REQUIRE(fault.index() == kind);
    CHECK(to_text(fault) == text);
    CHECK(parse_fault(text) == fault);
    CHECK(kind_of(fault) == kinds[kind]);
    CHECK(text.starts_with(kind_of(fault)));
  }
  CHECK(node_of(one_of_each[1].fault) == "store");
  CHECK(peer_of(one_of_each[1].fault) == nullptr);
  CHECK(*peer_of(one_of_each[4].fault) == everybody);
  CHECK(moment_of(one_of_each[8].fault) == Moment{After{1, 50ms}});
  CHECK(moment_of(one_of_each[0].fault) == Moment{Instant{1'500'000'000}});
  CHECK(moment_of(one_of_each[1].fault) == Moment{parse_anchor("sink_staged n=3")});
}

TEST_CASE("every condition of an anchor survives inside a fault", "[faults][text]") {
  for (const char* anchor :
       {"took_over", "sink_staged role=sink.0", "sink_staged role=sink.*", "head_swapped term=2",
        "head_swapped n=0", "uploaded subtask=0", "uploaded subtask=-1", "publish_begun retry=3",
        "took_over life=2", "swept nth=12",
        "sink_staged role=sink.* term=1 n=3 subtask=0 retry=2 life=4 nth=5"}) {
    CAPTURE(anchor);
    for (const Fault& fault : {Fault(Kill{"worker1", parse_anchor(anchor), 1ms}),
                               Fault(PowerLoss{"worker1", parse_anchor(anchor), 1ms}),
                               Fault(Pause{"worker1", parse_anchor(anchor), 1ms})}) {
      CHECK(to_text(fault).find("at='" + std::string(anchor) + "'") != std::string::npos);
      CHECK(parse_fault(to_text(fault)) == fault);
    }
  }
}

TEST_CASE("what follows a fault's kind may stand in any order, with any spaces", "[faults][text]") {
  const Fault expected = Kill{"worker1", parse_anchor("sink_staged n=3"), 200ms};

  CHECK(parse_fault("kill down=200ms at='sink_staged n=3' node=worker1") == expected);
  CHECK(parse_fault("  kill   node=worker1  at='  sink_staged   n=3 '   down=200000us ") ==
        expected);
  CHECK(parse_fault("kill node='worker1' at='sink_staged n=3' down='200ms'") == expected);
  CHECK(parse_fault("kill node=worker1 at=took_over down=200ms") ==
        Fault(Kill{"worker1", parse_anchor("took_over"), 200ms}));
}

TEST_CASE("a word that does not belong into a fault is named", "[faults][text]") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", all_kinds + "``"},
      {"crash node=worker1 at=1s down=1s", all_kinds + "`crash`"},
      {"Kill node=worker1 at=1s down=1s", all_kinds + "`Kill`"},
      {"kill at=1s down=1s", "`node=` is missing"},
      {"kill node=worker1 down=1s", "`at=` is missing"},
      {"kill node=worker1 at=1s", "`down=` is missing"},
      {"kill node=worker1 at=1s lasts=1s", "`down=` is missing"},
      {"power_loss node=worker1 at=1s lasts=1s", "`down=` is missing"},
      {"pause node=worker1 at=1s down=1s", "`lasts=` is missing"},
      {"kill node=worker1 at=1s down=1s lasts=1s", "`lasts=` does not belong to `kill`"},
      {"pause node=worker1 at=1s lasts=1s down=1s", "`down=` does not belong to `pause`"},
      {"power_loss node=worker1 at=1s down=1s why=fun", "`why=` does not belong to `power_loss`"},
      {"kill node=worker1 node=worker2 at=1s down=1s", "`node` stands there twice"},
      {"kill worker1", "name=value is expected"},
      {"kill node=worker1 at='took_over down=1s", "a quote does not end"},
      {"kill node=worker1 at=1s down=3601s", "`down=` is longer than an hour"},
      {"pause node=worker1 at=1s lasts=9223372036s", "`lasts=` is longer than an hour"},
      {"cut node=worker1 way=both at=1s lasts=1s", "`peer=` is missing"},
      {"cut node=worker1 peer=store at=1s lasts=1s", "`way=` is missing"},
      {"cut node=worker1 peer=store way=up at=1s lasts=1s",
       "`way=up`: both, out or in is expected"},
      {"cut node=worker1 peer=worker1 way=in at=1s lasts=1s", "a node is no peer of its own"},
      {"cut node=worker1 peer=store way=in at=1s lasts=3601s", "`lasts=` is longer than an hour"},
      {"reset node=worker1 peer=store at=1s lasts=1s", "`lasts=` does not belong to `reset`"},
      {"slow node=worker1 peer=store at=1s lasts=1s", "`by=` is missing"},
      {"slow node=worker1 peer=store at=1s lasts=1s by=2h",
       "`2h` is no span; one such as 200ms is expected, with ns, us, ms or s"},
      {"lose_answer node=store at=1s", "`op=` is missing"},
      {"lose_answer node=store op=get at=1s",
       "`op=get`: one of *, put, read, read_register, swap, remove, list, open, ensure, fence, "
       "publish, partitions is expected"},
      {"late_answer node=store op=put at=1s", "`by=` is missing"},
      {"disk_error node=store at=1s lasts=1s by=1s", "`by=` does not belong to `disk_error`"},
      {"disk_error node=store at=1s lasts=1s io=1", "`io=` does not belong to `disk_error`"},
      {"disk_full node=store lasts=1s", "`at=` is missing"},
      {"frames node=worker1 peer=* at=1s lasts=1s lose=1/4 repeat=1/4", "`hold=` is missing"},
      {"kill node=store at=1s io=0 down=1s", "`io=0`: a whole number from 1 is expected"},
      {"kill node=store at=1s io=+3 down=1s", "`io=+3`: a whole number from 1 is expected"},
      {"kill node=store after=1 down=1s", "`delay=` is missing"},
      {"kill node=store after=0 delay=1s down=1s", "`after=0`: a whole number from 1 is expected"},
      {"kill node=store after=1 delay=3601s down=1s", "`delay=` is longer than an hour"},
      {"kill node=store at=1s delay=1s down=1s", "`delay=` does not belong to `kill`"},
      {"kill node=store at=1s after=1 delay=1s down=1s",
       "`at=` and `after=` are two moments; one is expected"},
  };
  for (const auto& [text, why] : wrong) {
    // What is wrong with a span says which, and not in what.
    const bool names_fault = !why.starts_with("`2h`");
    CHECK(complaint_about_fault(text) == (names_fault ? "fault `" + text + "`: " + why : why));
  }
}

TEST_CASE("a chance is a part of a whole, and nothing else", "[faults][text]") {
  const auto with = [](const std::string& chance) {
    return "frames node=worker1 peer=* at=1s lasts=1s lose=" + chance + " repeat=0/1 hold=0/1";
  };
  for (const std::string chance :
       {"", "1", "1/", "/4", "1/0", "5/4", "-1/4", "1/4/2", "0.25", "1/4x", "1 /4"}) {
    CAPTURE(chance);
    CHECK(complaint_about_fault(with("'" + chance + "'")) ==
          "fault `" + with("'" + chance + "'") + "`: `lose=" + chance +
              "`: a chance such as 1/4 is expected");
  }
  for (const std::string chance : {"0/1", "1/1", "1/4", "3/1000"}) {
    CHECK(to_text(parse_fault(with(chance))) == with(chance));
  }
}

TEST_CASE("faults that end lives may wait for an operation of a disk", "[faults][text]") {
  for (const std::string text :
       {"kill node=store at='took_over' io=3 down=1ms", "power_loss node=store at=1s io=1 down=1ms",
        "pause node=store after=2 delay=0s io=12 lasts=1ms"}) {
    CAPTURE(text);
    CHECK(to_text(parse_fault(text)) == text);
    CHECK(io_of(parse_fault(text)) >= 1);
  }
  CHECK(io_of(parse_fault("kill node=store at=1s down=1ms")) == 0);
  CHECK(io_of(parse_fault("disk_full node=store at=1s lasts=1ms")) == 0);
}

TEST_CASE("a fault that goes takes along what was to come after it", "[faults][text]") {
  Plan plan;
  for (const char* text :
       {"kill node=a at=1s down=1s", "kill node=b at=1s down=1s",
        "kill node=c after=2 delay=5ms down=1s", "kill node=d after=3 delay=6ms down=1s",
        "kill node=e after=1 delay=7ms down=1s"}) {
    plan.faults.push_back(parse_fault(text));
  }
  const auto left_without = [&](const std::string& node) {
    std::vector<std::string> texts;
    const Plan left = without(plan, [&](std::size_t i) { return node_of(plan.faults[i]) == node; });
    for (const Fault& fault : left.faults) texts.push_back(to_text(fault));
    return texts;
  };
  CHECK(left_without("nobody").size() == 5);
  CHECK(left_without("a") == std::vector<std::string>{"kill node=b at=1s down=1s",
                                                      "kill node=c after=1 delay=5ms down=1s",
                                                      "kill node=d after=2 delay=6ms down=1s"});
  CHECK(left_without("b") == std::vector<std::string>{"kill node=a at=1s down=1s",
                                                      "kill node=e after=1 delay=7ms down=1s"});
  CHECK(left_without("c") == std::vector<std::string>{"kill node=a at=1s down=1s",
                                                      "kill node=b at=1s down=1s",
                                                      "kill node=e after=1 delay=7ms down=1s"});
}

TEST_CASE("a moment that is none is told by what it looks like", "[faults][text]") {
  // A span begins with a digit, an anchor does not.
  CHECK(complaint_about_fault("kill node=worker1 at=12 down=1s") ==
        "`12` is no span; one such as 200ms is expected, with ns, us, ms or s");
  CHECK(complaint_about_fault("kill node=worker1 at='' down=1s") ==
        "an anchor begins with the name of a landmark; `millrace landmarks` lists them");
  CHECK(complaint_about_fault("kill node=worker1 at='took_over phase=2' down=1s") ==
        "`phase=2` in an anchor: expected role=, term=, n=, subtask=, retry=, life= or nth=");
  CHECK(complaint_about_fault("kill node=worker1 at='took_over nth=0' down=1s") ==
        "`nth=0` in an anchor: counting begins at 1");
  CHECK(complaint_about_fault("kill node=worker1 at=1s down=soon") ==
        "`soon` is no span; one such as 200ms is expected, with ns, us, ms or s");
}

TEST_CASE("a span is written in the largest unit that divides it", "[faults][text]") {
  const std::vector<std::pair<std::chrono::nanoseconds, std::string>> spans{
      {0ns, "0s"},
      {1ns, "1ns"},
      {999ns, "999ns"},
      {1us, "1us"},
      {1500ns, "1500ns"},
      {1ms, "1ms"},
      {1500us, "1500us"},
      {200ms, "200ms"},
      {1s, "1s"},
      {1500ms, "1500ms"},
      {60s, "60s"},
      {3600s, "3600s"},
      {1s + 1ns, "1000000001ns"},
      {std::chrono::nanoseconds::max(), "9223372036854775807ns"},
      {9223372036s, "9223372036s"},
  };
  for (const auto& [span, text] : spans) {
    CAPTURE(text);
    CHECK(to_text(span) == text);
    CHECK(parse_span(text) == span);
  }
}

TEST_CASE("a span is read in every unit, up to the longest that there is", "[faults][text]") {
  CHECK(parse_span("0ns") == 0ns);
  CHECK(parse_span("0ms") == 0ns);
  CHECK(parse_span("007us") == 7us);
  CHECK(parse_span("9223372036854775us") == 9223372036854775us);
  CHECK(parse_span("9223372036854ms") == 9223372036854ms);
  CHECK(complaint_about_span("9223372036854776us") != "");
  CHECK(complaint_about_span("9223372036855ms") != "");
  CHECK(complaint_about_span("9223372037s") != "");
  CHECK(complaint_about_span("9223372036854775808ns") != "");
}

TEST_CASE("what is no span is refused", "[faults][text]") {
  for (const std::string text : {"", "5", "ms", "-5ms", "+5ms", "5 ms", " 5ms", "5ms ", "1.5s",
                                 "5MS", "5min", "5h", "5msx", "five seconds", "0x5ms"}) {
    CHECK(complaint_about_span(text) ==
          "`" + text + "` is no span; one such as 200ms is expected, with ns, us, ms or s");
  }
}

TEST_CASE("faults are equal when everything about them is", "[faults][text]") {
  const Fault fault = Kill{"worker1", parse_anchor("took_over"), 1ms};

  CHECK(fault == Fault(Kill{"worker1", parse_anchor("took_over"), 1ms}));
  CHECK_FALSE(fault == Fault(Kill{"worker2", parse_anchor("took_over"), 1ms}));
  CHECK_FALSE(fault == Fault(Kill{"worker1", parse_anchor("took_over nth=2"), 1ms}));
  CHECK_FALSE(fault == Fault(Kill{"worker1", Instant{}, 1ms}));
  CHECK_FALSE(fault == Fault(Kill{"worker1", parse_anchor("took_over"), 2ms}));
  CHECK_FALSE(fault == Fault(PowerLoss{"worker1", parse_anchor("took_over"), 1ms}));
}
