#include "millrace/faults/injector.hpp"

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/sim/store_server.hpp"

#include "conversation.hpp"
#include "stage.hpp"

using namespace millrace;
using namespace millrace::faults;
using namespace std::chrono_literals;
using sim::at_ms;
using sim::LandmarkEvent;
using sim::NodeId;
using sim::NodeState;
using sim::one_hour;
using sim::Stage;
using sim::wait_for_ever;

namespace {

constexpr Landmark staged{"sink_staged", "rows are durable"};
constexpr Landmark swapped{"head_swapped", "the head names it"};

constexpr std::size_t kill_kind = 0;
constexpr std::size_t power_loss_kind = 1;
constexpr std::size_t pause_kind = 2;
constexpr std::size_t cut_kind = 3;
constexpr std::size_t reset_kind = 4;
constexpr std::size_t slow_kind = 5;
constexpr std::size_t lose_kind = 6;
constexpr std::size_t late_kind = 7;
constexpr std::size_t error_kind = 8;
constexpr std::size_t full_kind = 9;
constexpr std::size_t frames_kind = 10;

Plan plan_of(const std::vector<std::string>& faults) {
  Plan plan;
  for (const std::string& fault : faults) plan.faults.push_back(parse_fault(fault));
  return plan;
}

/// What a task reaches, and as whom.
struct Step {
  std::string role;
  const Landmark* landmark = &staged;
  CheckpointId id{{1}, 1};
  std::int32_t subtask = 0;
  std::uint32_t retry = 0;
};

/// Reaches one step every 10 ms, from 10 ms of the life on, then waits.
sim::World::Boot reach(std::vector<Step> steps) {
  return [steps = std::move(steps)](Env& env) {
    for (const Step& step : steps) {
      env.sleep(10ms);
      LandmarkFields fields;
      fields.id = step.id;
      fields.subtask = step.subtask;
      fields.retry = step.retry;
      env.as(step.role).landmark(*step.landmark, fields);
    }
    wait_for_ever(env);
  };
}

/// Where the node is while time goes on, a word for every 10 ms: just before each.
std::vector<NodeState> states_every_10_ms(Stage& stage, NodeId node, int count) {
  std::vector<NodeState> states;
  for (int i = 1; i <= count; ++i) {
    stage.run(at_ms(i * 10 - 1));
    states.push_back(stage.world.state_of(node));
  }
  return states;
}

std::uint64_t all_firings(const Injector& injector) {
  return std::accumulate(injector.firings().begin(), injector.firings().end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("a fault of each kind happens at its instant, not before, and heals after its time",
          "[faults][injector]") {
  struct Expectation {
    std::string fault;
    std::size_t kind;
    NodeState during;
    std::uint32_t life_after;
  };
  for (const Expectation& expected : std::vector<Expectation>{
           {"kill node=worker1 at=10ms down=5ms", kill_kind, NodeState::killed, 2},
           {"power_loss node=worker1 at=10ms down=5ms", power_loss_kind, NodeState::dark, 2},
           {"pause node=worker1 at=10ms lasts=5ms", pause_kind, NodeState::paused, 1}}) {
    CAPTURE(expected.fault);
    Stage stage;
    const NodeId node = stage.add("worker1", wait_for_ever);
    const NodeId other = stage.add("worker2", wait_for_ever);
    const Injector injector(stage.world, plan_of({expected.fault}));

    stage.run({9'999'999});
    CHECK(stage.world.state_of(node) == NodeState::up);
    CHECK(all_firings(injector) == 0);
    CHECK_FALSE(injector.is_over());
    CHECK(injector.is_calm());

    stage.run(at_ms(10));
    CHECK(stage.world.state_of(node) == expected.during);
    CHECK(stage.world.state_of(other) == NodeState::up);
    CHECK(injector.firings()[expected.kind] == 1);
    CHECK(all_firings(injector) == 1);
    CHECK_FALSE(injector.is_over());
    CHECK_FALSE(injector.is_calm());

    stage.run({14'999'999});
    CHECK(stage.world.state_of(node) == expected.during);

    stage.run(at_ms(15));
    CHECK(stage.world.state_of(node) == NodeState::up);
    CHECK(stage.world.life_of(node) == expected.life_after);
    CHECK(stage.world.life_of(other) == 1);
    CHECK(injector.is_over());
    CHECK(injector.is_calm());
    CHECK(injector.unfired().empty());
  }
}

TEST_CASE("a fault at the first moment of a run happens before anybody runs",
          "[faults][injector]") {
  bool ran = false;
  Stage stage;
  const NodeId node = stage.add("worker1", [&](Env& env) {
    env.sleep(1ms);
    ran = true;
    wait_for_ever(env);
  });
  const Injector injector(stage.world, plan_of({"kill node=worker1 at=0s down=1s"}));

  stage.run(at_ms(500));
  CHECK(stage.world.state_of(node) == NodeState::killed);
  CHECK_FALSE(ran);
  stage.run(at_ms(1500));
  CHECK(ran);
}

TEST_CASE("a task never comes back from the landmark at which its node dies",
          "[faults][injector]") {
  std::vector<std::string> log;
  Stage stage;
  const NodeId node = stage.add("worker1", [&](Env& env) {
    for (int i = 0; i < 3; ++i) {
      env.sleep(10ms);
      log.emplace_back("before");
      env.landmark(staged);
      log.emplace_back("behind");
    }
    wait_for_ever(env);
  });
  const Injector injector(stage.world,
                          plan_of({"kill node=worker1 at='sink_staged nth=2' down=1s"}));
  stage.run(at_ms(500));

  CHECK(stage.world.state_of(node) == NodeState::killed);
  CHECK(log == std::vector<std::string>{"before", "behind", "before"});
  CHECK(injector.firings()[kill_kind] == 1);
}

TEST_CASE("a task goes on from the landmark at which its node was paused, later",
          "[faults][injector]") {
  std::vector<Instant> behind;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    env.sleep(10ms);
    env.landmark(staged);
    behind.push_back(env.now());
    wait_for_ever(env);
  });
  const Injector injector(stage.world, plan_of({"pause node=worker1 at=sink_staged lasts=25ms"}));
  stage.run(at_ms(500));

  CHECK(behind == std::vector<Instant>{at_ms(35)});
  CHECK(injector.is_over());
}

TEST_CASE("an anchor is reached when all of its conditions hold", "[faults][injector]") {
  const std::vector<Step> steps{
      {"window.0", &staged, {{1}, 1}, 0, 0}, {"sink.0", &staged, {{1}, 1}, 0, 0},
      {"sink.1", &staged, {{1}, 1}, 1, 0},   {"sink.0", &swapped, {{1}, 2}, 0, 0},
      {"sink.0", &staged, {{1}, 2}, 0, 1},   {"sink.1", &staged, {{2}, 1}, 1, 2},
      {"sink", &staged, {{2}, 3}, 7, 0},
  };
  // The anchor, and the number of the step that reaches it; 0: none does.
  const std::vector<std::pair<std::string, int>> anchors{
      {"sink_staged", 1},
      {"head_swapped", 4},
      {"published", 0},
      {"sink_staged nth=3", 3},
      {"sink_staged nth=6", 7},
      {"sink_staged nth=7", 0},
      {"sink_staged role=sink.0", 2},
      {"sink_staged role=sink.0 nth=2", 5},
      {"sink_staged role=sink.0 nth=3", 0},
      {"sink_staged role=sink.*", 2},
      {"sink_staged role=sink.* nth=4", 6},
      {"sink_staged role=sink* nth=5", 7},
      {"sink_staged role=sink", 7},
      {"sink_staged role=* nth=1", 1},
      {"sink_staged role=worker1", 0},
      {"sink_staged term=2", 6},
      {"sink_staged term=0", 0},
      {"sink_staged n=2", 5},
      {"sink_staged n=1 nth=4", 6},
      {"sink_staged subtask=1", 3},
      {"sink_staged subtask=7", 7},
      {"sink_staged subtask=2", 0},
      {"sink_staged retry=1", 5},
      {"sink_staged retry=0 nth=4", 7},
      {"sink_staged life=1 nth=2", 2},
      {"sink_staged life=2", 0},
      {"sink_staged role=sink.* term=2 n=1 subtask=1 retry=2 life=1", 6},
      {"sink_staged role=sink.* term=2 n=1 subtask=1 retry=1", 0},
  };
  for (const auto& [anchor, step] : anchors) {
    CAPTURE(anchor);
    Stage stage({7, true}, sim::even_timings());
    stage.add("worker1", reach(steps));
    const NodeId victim = stage.add("worker2", wait_for_ever);
    const Plan plan{{Kill{"worker2", parse_anchor(anchor), std::chrono::hours(1)}}};
    const Injector injector(stage.world, plan);
    int reached = 0;
    stage.world.on_landmark([&](const LandmarkEvent&) {
      ++reached;  // Told after the injector, so the victim of the present step is dead already.
      if (stage.world.state_of(victim) == NodeState::killed) stage.world.stop();
    });
    stage.world.run_until(at_ms(500));

    CHECK((stage.world.state_of(victim) == NodeState::killed) == (step != 0));
    CHECK(reached == (step == 0 ? static_cast<int>(steps.size()) : step));
    CHECK(injector.unfired().size() == (step == 0 ? 1U : 0U));
  }
}

TEST_CASE("the world counts for an anchor, over all nodes and lives", "[faults][injector]") {
  Stage stage;
  const NodeId first = stage.add("worker1", reach({{"sink.0"}, {"sink.0"}}));
  const NodeId second = stage.add("worker2", [](Env& env) {
    env.sleep(5ms);
    reach({{"sink.1"}, {"sink.1"}})(env);
  });

  SECTION("the third that anybody reaches is the first node's second") {
    const Injector injector(stage.world,
                            plan_of({"kill node=worker1 at='sink_staged nth=3' down=1s"}));
    CHECK(states_every_10_ms(stage, first, 3) ==
          std::vector{NodeState::up, NodeState::up, NodeState::killed});
  }
  SECTION("what was reached in an earlier life counts in the next") {
    // It dies at its first; its new life begins 5 ms later, so its second comes at 25 ms.
    const Injector injector(stage.world,
                            plan_of({"kill node=worker1 at='sink_staged role=sink.0' down=5ms",
                                     "pause node=worker2 at='sink_staged role=sink.0 nth=2' "
                                     "lasts=1s"}));
    stage.run({24'999'999});
    CHECK(stage.world.state_of(second) == NodeState::up);
    stage.run(at_ms(26));
    CHECK(stage.world.life_of(first) == 2);
    CHECK(stage.world.state_of(second) == NodeState::paused);
  }
  SECTION("a life can be asked for") {
    const Injector injector(stage.world,
                            plan_of({"kill node=worker1 at='sink_staged role=sink.0' down=5ms",
                                     "kill node=worker1 at='sink_staged life=2' down=1s"}));
    stage.run(at_ms(500));
    CHECK(stage.world.life_of(first) == 2);
    CHECK(stage.world.state_of(first) == NodeState::killed);
    CHECK(injector.firings()[kill_kind] == 2);
  }
}

TEST_CASE("every fault counts for itself, whatever the others did", "[faults][injector]") {
  Stage stage;
  stage.add("worker1", reach({{"sink.0"}, {"sink.0"}, {"sink.0"}}));
  const NodeId second = stage.add("worker2", wait_for_ever);
  const NodeId third = stage.add("worker3", wait_for_ever);
  const Injector injector(stage.world, plan_of({"pause node=worker2 at='sink_staged' lasts=1s",
                                                "pause node=worker3 at='sink_staged' lasts=1s",
                                                "kill node=worker3 at='sink_staged nth=2' "
                                                "down=1s"}));

  stage.run(at_ms(15));
  CHECK(stage.world.state_of(second) == NodeState::paused);
  CHECK(stage.world.state_of(third) == NodeState::paused);
  stage.run(at_ms(25));
  CHECK(stage.world.state_of(second) == NodeState::paused);
  CHECK(stage.world.state_of(third) == NodeState::killed);
  CHECK(injector.firings() == Firings{1, 0, 2});
}

TEST_CASE("a fault happens once, however often its moment comes", "[faults][injector]") {
  Stage stage;
  const NodeId node = stage.add("worker1", reach({{"sink.0"}, {"sink.0"}, {"sink.0"}}));
  const Injector injector(stage.world, plan_of({"kill node=worker1 at=sink_staged down=5ms"}));
  stage.run(at_ms(500));

  CHECK(stage.world.state_of(node) == NodeState::up);
  CHECK(stage.world.life_of(node) == 2);
  CHECK(injector.firings() == Firings{1, 0, 0});
}

TEST_CASE("a fault that finds its node in no state for it does not count as having happened",
          "[faults][injector]") {
  struct Meeting {
    std::string earlier;
    std::string fault;
    bool happens;
    NodeState then;
  };
  const std::string kill = "kill node=worker1 at=10ms down=100ms";
  const std::string loss = "power_loss node=worker1 at=10ms down=100ms";
  const std::string pause = "pause node=worker1 at=10ms lasts=100ms";
  const std::string later_kill = "kill node=worker1 at=20ms down=200ms";
  const std::string later_loss = "power_loss node=worker1 at=20ms down=200ms";
  const std::string later_pause = "pause node=worker1 at=20ms lasts=200ms";
  for (const Meeting& meeting : std::vector<Meeting>{{pause, later_kill, true, NodeState::killed},
                                                     {pause, later_loss, true, NodeState::dark},
                                                     {pause, later_pause, false, NodeState::paused},
                                                     {kill, later_kill, false, NodeState::killed},
                                                     {kill, later_loss, true, NodeState::dark},
                                                     {kill, later_pause, false, NodeState::killed},
                                                     {loss, later_kill, false, NodeState::dark},
                                                     {loss, later_loss, false, NodeState::dark},
                                                     {loss, later_pause, false, NodeState::dark}}) {
    CAPTURE(meeting.earlier, meeting.fault);
    Stage stage;
    const NodeId node = stage.add("worker1", wait_for_ever);
    const Injector injector(stage.world, plan_of({meeting.earlier, meeting.fault}));

    stage.run(at_ms(25));
    CHECK(stage.world.state_of(node) == meeting.then);
    CHECK(all_firings(injector) == (meeting.happens ? 2 : 1));
    const std::vector<std::string> unfired{meeting.fault};
    CHECK(injector.unfired() == (meeting.happens ? std::vector<std::string>{} : unfired));

    // Whatever became of it, its moment has come, and in the end the node is up.
    stage.run(at_ms(500));
    CHECK(injector.is_over());
    CHECK(stage.world.state_of(node) == NodeState::up);
  }
}

TEST_CASE("a fault whose moment never came is told as it stands in the plan",
          "[faults][injector]") {
  Stage stage;
  stage.add("worker1", reach({{"sink.0"}, {"sink.0"}}));
  const Injector injector(stage.world,
                          plan_of({"kill node=worker1 at=sink_staged down=1ms",
                                   "kill node=worker1 at='sink_staged nth=100' down=1ms",
                                   "pause node=worker1 at=100s lasts=2ms"}));
  stage.run(at_ms(500));

  CHECK(injector.unfired() ==
        std::vector<std::string>{"kill node=worker1 at='sink_staged nth=100' down=1ms",
                                 "pause node=worker1 at=100s lasts=2ms"});
  CHECK_FALSE(injector.is_over());
  CHECK(injector.is_calm());
}

TEST_CASE("after the storm nothing more happens, and what has happened heals",
          "[faults][injector]") {
  Stage stage;
  const NodeId node = stage.add("worker1", reach({{"sink.0"}, {"sink.0"}, {"sink.0"}}));
  Injector injector(stage.world, plan_of({"kill node=worker1 at=12ms down=20ms",
                                          "kill node=worker1 at='sink_staged nth=2' down=1s",
                                          "pause node=worker1 at=40ms lasts=1s"}));
  stage.at(at_ms(15), [&] { injector.disarm(); });

  stage.run(at_ms(20));
  CHECK(stage.world.state_of(node) == NodeState::killed);
  CHECK_FALSE(injector.is_calm());
  stage.run(at_ms(500));
  CHECK(stage.world.state_of(node) == NodeState::up);
  CHECK(injector.is_calm());
  CHECK_FALSE(injector.is_over());
  CHECK(injector.firings() == Firings{1, 0, 0});
  CHECK(injector.unfired().size() == 2);
}

TEST_CASE("a plan without faults is over before it begins", "[faults][injector]") {
  Stage stage;
  const Injector injector(stage.world, Plan{});

  CHECK(injector.is_over());
  CHECK(injector.is_calm());
  CHECK(injector.unfired().empty());
}

TEST_CASE("a plan for a node that the world does not have is refused", "[faults][injector]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);
  std::string complaint;
  try {
    const Injector injector(stage.world, plan_of({"kill node=worker1 at=1s down=1s",
                                                  "pause node=worker9 at=took_over lasts=1s"}));
  } catch (const UsageError& error) {
    complaint = error.what();
  }

  CHECK(complaint ==
        "fault `pause node=worker9 at='took_over' lasts=1s`: there is no node `worker9`");
}

TEST_CASE("a fault that is here strikes whoever reaches its anchor", "[faults][injector]") {
  Stage stage;
  const NodeId first = stage.add("worker1", reach({{"sink.0", &swapped}, {"sink.0", &staged}}));
  const NodeId second = stage.add("worker2", reach({{"sink.1", &staged}, {"sink.1", &swapped}}));
  const Injector injector(stage.world, plan_of({"kill node=here at='head_swapped nth=2' down=5ms",
                                                "pause node=here at=sink_staged lasts=1ms"}));

  stage.run(at_ms(10));
  CHECK(stage.world.state_of(first) == NodeState::up);
  CHECK(stage.world.state_of(second) == NodeState::paused);

  stage.run(at_ms(24));
  CHECK(stage.world.state_of(first) == NodeState::up);
  CHECK(stage.world.state_of(second) == NodeState::killed);
  CHECK(injector.unfired().empty());
}

TEST_CASE("a fault that is here without an anchor is refused", "[faults][injector]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);
  for (const std::string wrong :
       {"kill node=here at=1s down=1s", "kill node=here after=1 delay=1s down=1s"}) {
    std::string complaint;
    try {
      const Injector injector(stage.world, plan_of({"kill node=worker1 at=1s down=1s", wrong}));
    } catch (const UsageError& error) {
      complaint = error.what();
    }
    CHECK(complaint == "fault `" + wrong +
                           "`: `node=here` is the node of whoever reaches an anchor; `at=` with "
                           "one is expected");
  }
}

TEST_CASE("what has happened stands in the trace, and what has not does not",
          "[faults][injector]") {
  struct Seen {
    std::uint64_t kind;
    std::uint64_t node;
    Instant at;
  };
  std::vector<Seen> seen;
  Stage stage;
  stage.add("worker1", wait_for_ever);
  stage.add("worker2", wait_for_ever);
  stage.world.trace().listen([&](const sim::TraceEvent& event) {
    constexpr std::uint64_t kind_bits = std::uint64_t{0xFF} << 56;
    if (event.kind_and_a >> 56 != static_cast<std::uint64_t>(sim::EventKind::fault)) return;
    seen.push_back(
        {event.kind_and_a & ~kind_bits, event.b, Instant{static_cast<std::int64_t>(event.at)}});
  });
  const Injector injector(stage.world, plan_of({"pause node=worker2 at=10ms lasts=30ms",
                                                "pause node=worker2 at=20ms lasts=30ms",
                                                "power_loss node=worker1 at=30ms down=1ms"}));
  stage.run(at_ms(500));
  stage.world.trace().hash();  // Tells the listener what is left.

  REQUIRE(seen.size() == 2);
  CHECK(seen[0].kind == pause_kind);
  CHECK(seen[0].node == 1);
  CHECK(seen[0].at == at_ms(10));
  CHECK(seen[1].kind == power_loss_kind);
  CHECK(seen[1].node == 0);
  CHECK(seen[1].at == at_ms(30));
}

namespace {

/// Two nodes that talk, on a control lane, a word every 10 ms from 10 ms on.
struct Talk {
  explicit Talk(const std::vector<std::string>& faults) : stage({7}, sim::even_timings()) {
    stage.add("worker1", [this](Env& env) {
      env.sleep(1ms);
      auto connection = sim::connect_to(env, "worker2", Lane::control);
      for (int i = 1; i <= 6; ++i) {
        sim::sleep_until(env, at_ms(10 * i));
        try {
          connection->write(as_bytes(std::to_string(i)), env.in(1s));
        } catch (const ConnectionLost&) {
          lost = true;
        }
      }
      wait_for_ever(env);
    });
    stage.add("worker2", [this](Env& env) {
      const auto connection = sim::accept_one(env);
      heard = sim::read_until(env, *connection, at_ms(2'000)).text;
      wait_for_ever(env);
    });
    stage.add("worker3", wait_for_ever);
    injector.emplace(stage.world, plan_of(faults));
  }

  bool lost = false;
  std::string heard;
  Stage stage;
  std::optional<Injector> injector;
};

/// A store, and a client that puts an object every 10 ms from 10 ms on.
struct Puts {
  explicit Puts(const std::vector<std::string>& faults)
      : stage({7}, sim::even_timings()),
        server(stage.world.add_node(sim::store_node, "store", sim::run_store_server)) {
    stage.world.start(server);
    stage.add("worker1", [this](Env& env) {
      for (int i = 1; i <= 6; ++i) {
        sim::sleep_until(env, at_ms(20 * i));
        try {
          const auto outcome =
              put(env.store, "object" + std::to_string(i), as_bytes("text"), env.in(8ms));
          told += outcome == PutOutcome::stored ? 's' : 'u';
        } catch (const WorldError&) {
          told += 'e';
        }
      }
      env.sleep(1s);
      for (int i = 1; i <= 6; ++i) {
        const bool is_there =
            read_whole(env.store, "object" + std::to_string(i), env.in(1s)).has_value();
        found += is_there ? 's' : '-';
      }
      wait_for_ever(env);
    });
    injector.emplace(stage.world, plan_of(faults));
  }

  std::string told;   ///< Per put: stored, unknown, error.
  std::string found;  ///< In the end: stored or not.
  Stage stage;
  NodeId server;
  std::optional<Injector> injector;
};

}  // namespace

TEST_CASE("a fault between two nodes does what it says, heals, and counts once",
          "[faults][injector]") {
  struct Expectation {
    std::string fault;
    std::size_t kind;
    std::string heard;
    Instant healed;
  };
  for (const Expectation& expected : std::vector<Expectation>{
           {"cut node=worker1 peer=worker2 way=both at=15ms lasts=30ms", cut_kind, "123456",
            at_ms(45)},
           {"cut node=worker2 peer=* way=in at=15ms lasts=30ms", cut_kind, "123456", at_ms(45)},
           {"reset node=worker2 peer=worker1 at=35ms", reset_kind, "123", at_ms(35)},
           {"slow node=worker1 peer=* at=15ms lasts=30ms by=5ms", slow_kind, "123456", at_ms(45)},
           {"frames node=worker1 peer=worker2 at=15ms lasts=30ms lose=1/1 repeat=0/1 hold=0/1",
            frames_kind, "156", at_ms(45)}}) {
    CAPTURE(expected.fault);
    Talk talk({expected.fault});
    Stage& stage = talk.stage;
    stage.run(at_ms(14));
    CHECK(all_firings(*talk.injector) == 0);
    CHECK_FALSE(talk.injector->is_over());
    stage.run({expected.healed.ns - 1});
    if (expected.kind != reset_kind) CHECK_FALSE(talk.injector->is_calm());
    stage.run(expected.healed);
    CHECK(talk.injector->is_calm());
    CHECK(talk.injector->is_over());
    stage.run();
    CHECK(talk.heard == expected.heard);
    CHECK(talk.lost == (expected.kind == reset_kind));
    CHECK(talk.injector->firings()[expected.kind] == 1);
    CHECK(all_firings(*talk.injector) == 1);
    CHECK(talk.injector->unfired().empty());
  }
}

TEST_CASE("a fault between nodes that say nothing has not happened", "[faults][injector]") {
  for (const std::string fault :
       {"cut node=worker1 peer=worker3 way=both at=15ms lasts=30ms",
        "cut node=worker1 peer=worker2 way=in at=15ms lasts=30ms",  // Nobody answers.
        "cut node=worker1 peer=worker2 way=both at=11ms lasts=5ms",
        "reset node=worker3 peer=* at=15ms", "slow node=worker3 peer=* at=15ms lasts=30ms by=5ms",
        "frames node=worker1 peer=worker2 at=15ms lasts=30ms lose=0/1 repeat=0/1 hold=0/1"}) {
    CAPTURE(fault);
    Talk talk({fault});
    talk.stage.run();
    CHECK(talk.heard == "123456");
    CHECK(all_firings(*talk.injector) == 0);
    CHECK(talk.injector->unfired() == std::vector<std::string>{fault});
    CHECK(talk.injector->is_over());
  }
}

TEST_CASE("a fault of a device does what it says, once, and its trouble ends",
          "[faults][injector]") {
  struct Expectation {
    std::string fault;
    std::size_t kind;
    std::string told;
    std::string found;
  };
  for (const Expectation& expected : std::vector<Expectation>{
           {"lose_answer node=store op=put at=30ms", lose_kind, "sussss", "ssssss"},
           {"late_answer node=store op=put at=30ms by=500ms", late_kind, "sussss", "ssssss"},
           {"disk_error node=store at=30ms lasts=40ms", error_kind, "seesss", "s--sss"},
           {"disk_full node=store at=30ms lasts=40ms", full_kind, "seesss", "s--sss"}}) {
    CAPTURE(expected.fault);
    Puts puts({expected.fault});
    puts.stage.run();
    CHECK(puts.told == expected.told);
    CHECK(puts.found == expected.found);
    CHECK(puts.injector->firings()[expected.kind] == 1);
    CHECK(all_firings(*puts.injector) == 1);
    CHECK(puts.injector->is_over());
    CHECK(puts.injector->unfired().empty());
  }
  Puts calm({});
  calm.stage.run();
  CHECK(calm.told == "ssssss");
}

TEST_CASE("a late answer is not over before it has happened", "[faults][injector]") {
  Puts puts({"late_answer node=store op=put at=30ms by=500ms"});
  Stage& stage = puts.stage;
  stage.run(at_ms(39));
  CHECK(puts.injector->is_calm());
  CHECK_FALSE(puts.injector->is_over());  // It lurks.
  stage.run(at_ms(200));
  CHECK_FALSE(puts.injector->is_calm());
  CHECK(stage.world.disk_of(puts.server).find("objects/object2") == nullptr);
  stage.run(at_ms(600));
  CHECK(puts.injector->is_calm());
  CHECK(stage.world.disk_of(puts.server).find("objects/object2") != nullptr);
}

TEST_CASE("what lurks when the storm is over does not happen any more", "[faults][injector]") {
  for (const std::string fault :
       {"lose_answer node=store op=put at=30ms", "late_answer node=store op=put at=30ms by=500ms",
        "kill node=store at=30ms io=1 down=1s"}) {
    CAPTURE(fault);
    Puts puts({fault});
    puts.stage.at(at_ms(35), [&] { puts.injector->disarm(); });
    puts.stage.run();
    CHECK(puts.told == "ssssss");
    CHECK(puts.injector->unfired() == std::vector<std::string>{fault});
    CHECK(puts.injector->is_over());
  }
}

TEST_CASE("a fault waits for the operation of a disk that it names", "[faults][injector]") {
  Puts puts({"kill node=store at=30ms io=2 down=30ms"});
  Stage& stage = puts.stage;
  stage.run(at_ms(39));
  CHECK(stage.world.state_of(puts.server) == NodeState::up);
  CHECK_FALSE(puts.injector->is_over());
  CHECK(all_firings(*puts.injector) == 0);
  stage.run(at_ms(50));
  CHECK(stage.world.state_of(puts.server) == NodeState::killed);
  CHECK(puts.injector->firings()[kill_kind] == 1);
  stage.run(at_ms(100));
  CHECK(stage.world.state_of(puts.server) == NodeState::up);
  CHECK(puts.injector->is_over());

  // A temporary file had been made, and nothing been written to it.
  Puts never({"pause node=worker1 at=30ms io=1 lasts=30ms"});
  never.stage.run();
  CHECK(never.injector->unfired().size() == 1);
}

TEST_CASE("a fault comes after another, when that has done something", "[faults][injector]") {
  Puts puts({"lose_answer node=store op=put at=30ms", "kill node=store after=1 delay=3ms down=10ms",
             "pause node=worker1 after=2 delay=0s lasts=1ms"});
  Stage& stage = puts.stage;
  Instant lost;
  while (all_firings(*puts.injector) == 0) {
    stage.run(stage.world.now() + 100us);
    lost = stage.world.now();
  }
  CHECK(lost > at_ms(40));
  stage.run(lost + 2'800us);
  CHECK(stage.world.state_of(puts.server) == NodeState::up);
  stage.run(lost + 3'000us);
  CHECK(stage.world.state_of(puts.server) == NodeState::killed);
  CHECK(puts.injector->firings()[pause_kind] == 1);
  stage.run();
  CHECK(puts.injector->is_over());
  CHECK(all_firings(*puts.injector) == 3);
}

TEST_CASE("what comes after a fault that never did anything does not come", "[faults][injector]") {
  Puts puts(
      {"lose_answer node=store op=fence at=30ms", "kill node=store after=1 delay=0s down=1s"});
  puts.stage.run();

  CHECK(puts.told == "ssssss");
  CHECK(puts.injector->unfired().size() == 2);
}

TEST_CASE("a plan in which a fault comes after a later one, or after none, is refused",
          "[faults][injector]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);
  for (const std::size_t ordinal : {2U, 3U}) {
    std::string complaint;
    const std::string wrong =
        "kill node=worker1 after=" + std::to_string(ordinal) + " delay=1s down=1s";
    try {
      const Injector injector(stage.world, plan_of({"kill node=worker1 at=1s down=1s", wrong}));
    } catch (const UsageError& error) {
      complaint = error.what();
    }
    CHECK(complaint == "fault `" + wrong +
                           "`: `after=` is the number of an earlier fault of the plan, counted "
                           "from 1; there are 1 in front of it");
  }
}

TEST_CASE("a plan with a peer that the world does not have is refused", "[faults][injector]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);
  std::string complaint;
  try {
    const Injector injector(stage.world, plan_of({"reset node=worker1 peer=worker9 at=1s"}));
  } catch (const UsageError& error) {
    complaint = error.what();
  }
  CHECK(complaint == "fault `reset node=worker1 peer=worker9 at=1s`: there is no node `worker9`");
}
