#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Site work_site{"test.work"};
constexpr Landmark arrived{"test_arrived", "somebody got there"};

using Log = std::vector<std::string>;

/// Writes its name down when it goes away.
class Guard {
 public:
  Guard(Log& log, std::string name) : log_(log), name_(std::move(name)) {}
  ~Guard() { log_.push_back(name_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Log& log_;
  std::string name_;
};

/// A node with two tasks besides its first, each of which holds a guard.
World::Boot three_guarded_tasks(Log& log) {
  return [&log](Env& env) {
    const Guard guard(log, "first");
    const auto second = env.tasks.start("second", [&log](Env& own) {
      const Guard own_guard(log, own.role);
      wait_for_ever(own);
    });
    const auto third = env.tasks.start("third", [&log](Env& own) {
      const Guard own_guard(log, own.role);
      while (true) own.step(work_site);
    });
    second->join(Instant::never());
  };
}

bool throws_killed(const std::function<void()>& call) {
  try {
    call();
  } catch (const Killed&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the death of a node unwinds its tasks, the newest first", "[sim][lives]") {
  Log log;
  Stage stage;
  const NodeId node = stage.add("worker1", three_guarded_tasks(log));
  stage.run(at_ms(1));
  REQUIRE(log.empty());

  SECTION("of a process") { stage.world.kill(node); }
  SECTION("of a machine") { stage.world.lose_power(node); }
  stage.run(at_ms(2));

  CHECK(log == Log{"third", "second", "first"});
}

TEST_CASE("the dead are unwound before anything else runs", "[sim][lives]") {
  Log log;
  Stage stage;
  const NodeId node = stage.add("worker1", three_guarded_tasks(log));
  stage.at(at_ms(1), [&] { stage.world.kill(node); });
  stage.at(at_ms(1), [&] { log.emplace_back("somebody else"); });
  stage.run();

  CHECK(log == Log{"third", "second", "first", "somebody else"});
}

TEST_CASE("a task that never ran is dropped without running", "[sim][lives]") {
  bool ran = false;
  Stage stage;
  const NodeId node = stage.add("worker1", [&](Env&) { ran = true; });
  stage.world.kill(node);

  CHECK(stage.run() == World::Ended::idle);
  CHECK_FALSE(ran);
}

TEST_CASE("a world that is shut down, or goes away, unwinds all its tasks", "[sim][lives]") {
  Log log;
  {
    Stage stage;
    stage.add("worker1", three_guarded_tasks(log));
    stage.run(at_ms(1));
    SECTION("when it is told to") {
      stage.world.shut_down();
      CHECK(log == Log{"third", "second", "first"});
    }
    SECTION("at its end") {}
  }
  CHECK(log == Log{"third", "second", "first"});
}

TEST_CASE("every call of a dead task throws Killed and does nothing", "[sim][lives]") {
  Log outlived;
  bool body_ran = false;
  Stage stage;
  World& world = stage.world;
  int landmarks = 0;
  world.on_landmark([&](const LandmarkEvent&) { ++landmarks; });
  stage.add("peer", [](Env& env) {
    const auto listener = env.network.listen("test");
    wait_for_ever(env);
  });
  const NodeId node = stage.add("worker1", [&](Env& env) {
    env.disk.make_directory("d");
    const auto file = env.disk.open("d/file", Disk::Open::create);
    file->write_at(0, as_bytes("before"));
    const auto listener = env.network.listen("test");
    const auto connection = env.network.connect({"peer", "test"}, Lane::data, env.in(1s));
    const auto task = env.tasks.start("other", wait_for_ever);
    const auto writer = env.store.create("object");
    try {
      wait_for_ever(env);
    } catch (const Killed&) {
      const std::vector<std::pair<std::string, std::function<void()>>> calls = {
          {"now", [&] { env.now(); }},
          {"park", [&] { env.parker.park_until(Instant::never()); }},
          {"step", [&] { env.step(work_site); }},
          {"chance", [&] { env.chance.below(work_site, 2); }},
          {"landmark", [&] { env.landmark(arrived); }},
          {"start", [&] { env.tasks.start("late", [&](Env&) { body_ran = true; }); }},
          {"join", [&] { task->join(Instant::never()); }},
          {"listen", [&] { env.network.listen("late"); }},
          {"accept", [&] { listener->try_accept(); }},
          {"connect",
           [&] {
             env.network.connect({"peer", "test"}, Lane::data, Instant{1});
           }},
          {"write", [&] { connection->write(as_bytes("late"), Instant::never()); }},
          {"read", [&] { connection->try_read({}); }},
          {"open", [&] { env.disk.open("d/file", Disk::Open::read); }},
          {"create", [&] { env.disk.open("d/late", Disk::Open::create); }},
          {"rename", [&] { env.disk.rename("d/file", "d/late"); }},
          {"remove", [&] { env.disk.remove("d/file"); }},
          {"list", [&] { env.disk.list("d"); }},
          {"make directory", [&] { env.disk.make_directory("late"); }},
          {"sync directory", [&] { env.disk.sync_directory("d"); }},
          {"lock", [&] { env.disk.try_lock("d/lock"); }},
          {"write file", [&] { file->write_at(0, as_bytes("after!")); }},
          {"read file", [&] { file->read_at(0, {}); }},
          {"sync file", [&] { file->sync(); }},
          {"size of file", [&] { file->size_bytes(); }},
          {"commit object", [&] { writer->commit(Instant::never()); }},
          {"read object", [&] { env.store.read("object", 0, 1, Instant::never()); }},
          {"read register", [&] { env.store.read_register("head", Instant::never()); }},
          {"swap", [&] { env.store.put_if_version("head", 0, {}, Instant::never()); }},
          {"partitions", [&] { env.log.partitions("log/*", Instant::never()); }},
          {"ensure table", [&] { env.sinks.open("d.db", {})->ensure(Instant::never()); }},
      };
      for (const auto& [name, call] : calls) {
        if (!throws_killed(call)) outlived.push_back(name);
      }
      throw;
    }
  });
  stage.at(at_ms(50), [&] { world.kill(node); });
  stage.run();

  CHECK(outlived == Log{});
  CHECK_FALSE(body_ran);
  CHECK(landmarks == 0);
  CHECK(world.disk_of(node).list("") == Log{"d/"});
  CHECK(world.disk_of(node).list("d") == Log{"file"});
  const auto file = world.disk_of(node).find("d/file");
  Bytes bytes(file->size());
  file->read(0, bytes);
  CHECK(as_text(bytes) == "before");
}

TEST_CASE("a task that dies while it writes has written nothing", "[sim][lives]") {
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);  // 10 us.
    file->write_at(0, as_bytes("one"));                           // 20 us.
    file->write_at(3, as_bytes("two"));                           // 30 us.
  });
  stage.at(at_us(25), [&] { stage.world.kill(node); });
  stage.run();

  CHECK(stage.world.disk_of(node).find("file")->size() == 3);
}

TEST_CASE("a restart is another life with chances of its own", "[sim][lives]") {
  std::vector<std::uint64_t> drawn;
  Stage stage;
  World& world = stage.world;
  const NodeId node = world.add_node("worker1", "worker", [&](Env& env) {
    drawn.push_back(env.chance.below(work_site, 1'000'000));
    wait_for_ever(env);
  });
  CHECK(world.life_of(node) == 0);
  CHECK(world.state_of(node) == NodeState::killed);

  world.start(node);
  stage.run();
  CHECK(world.life_of(node) == 1);
  CHECK(world.state_of(node) == NodeState::up);
  world.start(node);  // It is up already.
  stage.run();
  CHECK(world.life_of(node) == 1);
  CHECK(drawn.size() == 1);

  world.kill(node);
  CHECK(world.state_of(node) == NodeState::killed);
  CHECK(world.life_of(node) == 1);
  world.start(node);
  stage.run();
  CHECK(world.life_of(node) == 2);

  world.lose_power(node);
  CHECK(world.state_of(node) == NodeState::dark);
  world.kill(node);  // There is no process.
  CHECK(world.state_of(node) == NodeState::dark);
  world.start(node);
  stage.run();
  CHECK(world.life_of(node) == 3);

  REQUIRE(drawn.size() == 3);
  CHECK(drawn[0] != drawn[1]);
  CHECK(drawn[1] != drawn[2]);
}

TEST_CASE("a node that dies and starts at one instant runs its next life only", "[sim][lives]") {
  Log log;
  Stage stage;
  World& world = stage.world;
  const NodeId node = world.add_node("worker1", "worker", [&](Env& env) {
    const std::string life = std::to_string(world.life_of({0}));
    const Guard guard(log, "end of " + life);
    log.push_back("start of " + life);
    wait_for_ever(env);
  });
  world.start(node);
  stage.at(at_ms(1), [&] {
    world.kill(node);
    world.start(node);
  });
  stage.run();

  CHECK(log == Log{"start of 1", "end of 1", "start of 2"});
}

TEST_CASE("a task that reaches the landmark at which its node dies gets no further",
          "[sim][lives]") {
  for (const bool with_its_machine : {false, true}) {
    Log log;
    Stage stage;
    World& world = stage.world;
    stage.add("worker1", [&](Env& env) {
      const auto other = env.tasks.start("other", [&](Env& own) {
        const Guard guard(log, "other unwound");
        wait_for_ever(own);
      });
      env.sleep(1ms);
      const Guard guard(log, "first unwound");
      try {
        env.landmark(arrived);
      } catch (const Killed&) {
        log.emplace_back("killed");
        throw;
      }
      log.emplace_back("went on");
    });
    world.on_landmark([&](const LandmarkEvent& event) {
      log.push_back(std::string(event.role) + " reached " + std::string(event.landmark.name));
      if (with_its_machine) {
        world.lose_power(event.node);
      } else {
        world.kill(event.node);
      }
    });
    stage.run();

    CAPTURE(with_its_machine);
    CHECK(log == Log{"worker1 reached test_arrived", "killed", "first unwound", "other unwound"});
  }
}

TEST_CASE("a task at a landmark goes on when another node dies of it", "[sim][lives]") {
  Log log;
  Stage stage;
  World& world = stage.world;
  const NodeId victim = stage.add("worker1", [&](Env& env) {
    const Guard guard(log, "victim unwound");
    wait_for_ever(env);
  });
  stage.add("worker2", [&](Env& env) {
    env.sleep(1ms);
    env.landmark(arrived);
    log.emplace_back("went on");
    env.step(work_site);
    log.emplace_back("and on");
  });
  world.on_landmark([&](const LandmarkEvent&) { world.kill(victim); });
  stage.run();

  CHECK(log == Log{"went on", "victim unwound", "and on"});
}

TEST_CASE("a landmark tells who reached it, in which life, and what it is about", "[sim][lives]") {
  struct Heard {
    NodeId node;
    std::uint32_t life;
    const Landmark* landmark;
    std::string role;
    CheckpointId id;
  };
  std::vector<Heard> heard;
  Stage stage;
  World& world = stage.world;
  world.on_landmark([&](const LandmarkEvent& event) {
    heard.push_back(
        {event.node, event.life, &event.landmark, std::string(event.role), event.fields.id});
  });
  stage.add("worker1", wait_for_ever);
  const NodeId node = stage.add("worker2", [](Env& env) {
    LandmarkFields fields;
    fields.id = {{3}, 4};
    env.as("sink.1").landmark(arrived, fields);
    wait_for_ever(env);
  });
  stage.run();
  world.kill(node);
  world.start(node);
  stage.run();

  REQUIRE(heard.size() == 2);
  CHECK(heard[0].node == node);
  CHECK(heard[0].life == 1);
  CHECK(heard[0].landmark == &arrived);
  CHECK(heard[0].role == "sink.1");
  CHECK(heard[0].id == CheckpointId{{3}, 4});
  CHECK(heard[1].life == 2);
}

TEST_CASE("locks of files go with the process that held them", "[sim][lives]") {
  std::vector<bool> got;
  Stage stage;
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto lock = env.disk.try_lock("owner.lock");
    got.push_back(lock != nullptr);
    wait_for_ever(env);
  });
  stage.run();
  stage.world.kill(node);
  stage.world.start(node);
  stage.run();

  CHECK(got == std::vector<bool>{true, true});
}

TEST_CASE("nodes find their peers by kind, in the order in which they were added", "[sim][lives]") {
  Log workers;
  Log stores;
  Stage stage;
  World& world = stage.world;
  stage.add("b", [&](Env& env) {
    workers = env.host.peers("worker");
    stores = env.host.peers("store");
  });
  stage.add("a", [](Env&) {});
  world.add_node("s", "store", [](Env&) {});
  stage.run();

  CHECK(workers == Log{"b", "a"});
  CHECK(stores == Log{"s"});
  CHECK(world.find_node("a") == NodeId{1});
  CHECK(world.find_node("c") == std::nullopt);
  CHECK(world.name_of({2}) == "s");
}
