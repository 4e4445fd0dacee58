#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/runtime/operators/broadcast_process_stage.hpp"

#include "damage.hpp"
#include "keyed_drive.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Key = std::int64_t;

/// Sets one limit, by name.
struct Limit {
  std::string name;
  std::int64_t most = 0;
};

/// Counts rows up to a limit, and tells at an alarm how far it came.
struct UpToLimit {
  struct State {
    std::int64_t rows = 0;
  };
  using Broadcast = std::map<std::string, std::int64_t>;
  using Output = std::string;
  using Here = KeyContext<Key, State>;

  void on_broadcast(const Limit& limit, Broadcast& limits) const {
    if (limit.most < 0) throw std::invalid_argument("a limit is positive");
    limits[limit.name] = limit.most;
  }
  void on_record(const std::string& name, Here& here, const Broadcast& limits,
                 Emit<std::string>& out) const {
    const auto found = limits.find(name);
    if (found == limits.end() || here.state().rows >= found->second) return;
    out(name + " " + std::to_string(++here.state().rows));
    here.wake(here.time() + 10ms);
  }
  void on_alarm(Here& here, const Broadcast& limits, Emit<std::string>& out) const {
    out(std::to_string(here.state().rows) + " of " + std::to_string(limits.size()) + " limits");
  }
};

/// What comes last wins: not what a broadcast may be.
struct Last {
  struct State {};
  struct Broadcast {
    std::int64_t last = 0;
  };
  using Output = std::int64_t;
  void on_broadcast(std::int64_t value, Broadcast& broadcast) const { broadcast.last = value; }
  void on_record(std::int64_t, KeyContext<Key, State>&, const Broadcast& broadcast,
                 Emit<std::int64_t>& out) const {
    out(broadcast.last);
  }
};

using Limiting = BroadcastProcessStage<Key, std::string, Limit, UpToLimit>;
using Drive = KeyedDrive<Limiting>;
using Texts = std::vector<std::string>;

std::unique_ptr<Limiting> make(const StageContext& context) {
  return std::make_unique<Limiting>(context, "operator", UpToLimit{});
}

}  // namespace

TEST_CASE("every subtask knows every row of a control stream", "[runtime][broadcast]") {
  FakeWorld world;
  Drive drive(world, 3, make);
  for (Key key = 0; key < 9; ++key) drive.take(0, 5, key, std::string("a"));
  CHECK(drive.rows.empty());
  drive.deliver_to_all(1, 5, Limit{"a", 1});
  drive.deliver_to_all(1, 5, Limit{"b", 1});
  for (Key key = 0; key < 9; ++key) {
    drive.take(0, 5, key, std::string("a"));
    drive.take(0, 5, key, std::string("a"));
  }
  CHECK(drive.values() == Texts(9, "a 1"));
  drive.rows.clear();
  drive.advance(15);
  CHECK(drive.values() == Texts(9, "1 of 2 limits"));
}

TEST_CASE("a broadcast value is there again at any parallelism", "[runtime][broadcast]") {
  for (const int before : {1, 2, 5}) {
    for (const int after : {1, 3, 7}) {
      FakeWorld world;
      Drive first(world, before, make);
      first.deliver_to_all(1, 5, Limit{"a", 2});
      for (Key key = 0; key < 9; ++key) first.take(0, 5, key, std::string("a"));
      Drive second(world, after, make);
      second.restore(first.save());
      for (Key key = 0; key < 9; ++key) {
        second.take(0, 5, key, std::string("a"));
        second.take(0, 5, key, std::string("a"));
      }
      CHECK(second.values() == Texts(9, "a 2"));
      second.rows.clear();
      second.end();
      CHECK(second.values() == Texts(9, "2 of 1 limits"));
    }
  }
}

TEST_CASE("broadcast values that differ end the job", "[runtime][broadcast]") {
  using Stage3 = BroadcastProcessStage<Key, std::int64_t, std::int64_t, Last>;
  FakeWorld world;
  const KeyedDrive<Stage3>::Make make_last = [](const StageContext& context) {
    return std::make_unique<Stage3>(context, "operator", Last{});
  };
  KeyedDrive<Stage3> first(world, 2, make_last);
  const auto deliver = [&](int subtask, std::int64_t value) {
    Batch<std::int64_t> batch;
    batch.add(EventTime{1}, value);
    Parcel<std::int64_t> parcel(std::move(batch));
    first.stage(subtask).deliver(1, parcel);
  };
  for (const std::int64_t value : {1, 2}) deliver(0, value);
  for (const std::int64_t value : {2, 1}) deliver(1, value);
  KeyedDrive<Stage3> second(world, 1, make_last);
  CHECK(message_of<UsageError>([&] {
          second.restore(first.save());
        }).find("operator: on_broadcast made different values") == 0);
}

TEST_CASE("a control row that a function throws at is told", "[runtime][broadcast]") {
  FakeWorld world;
  Drive drive(world, 1, make);
  CHECK(message_of<FunctionFailed>([&] {
          drive.deliver_to_all(1, 7, Limit{"a", -1});
        }) ==
        "operator: the function failed at a row of the control stream, event time 7 ms: a limit is "
        "positive");
}
