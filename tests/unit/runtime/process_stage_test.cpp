#include "millrace/runtime/operators/process_stage.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/runtime/operators/dedup.hpp"
#include "millrace/runtime/operators/reduce.hpp"

#include "damage.hpp"
#include "draws.hpp"
#include "keyed_drive.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Key = std::int64_t;

/// What a scripted function is to do for a row.
enum class Do : std::uint8_t {
  count,
  wake,
  sleep,
  forget,
  wake_at_wall,
  sleep_at_wall,
  emit_many,
  count_late,
  fail,
  fail_of_world,
};
struct Order {
  Do what = Do::count;
  std::int64_t when = 0;
};

/// Does what its rows say, and says what was done.
struct Obeying {
  struct State {
    std::int64_t rows = 0;
    std::map<std::string, std::int64_t> notes;
  };
  using Output = std::string;
  using Here = KeyContext<Key, State>;

  std::int64_t again = 0;  ///< Each event-time alarm sets another, so much later, up to 100.

  void on_record(const Order& order, Here& here, Emit<std::string>& out) const {
    ++here.state().rows;
    switch (order.what) {
      case Do::count: out(told("row", here)); break;
      case Do::wake: here.wake({order.when}); break;
      case Do::sleep: here.sleep(); break;
      case Do::forget: here.forget(); break;
      case Do::wake_at_wall: here.wake_at_wall({order.when}); break;
      case Do::sleep_at_wall: here.sleep_at_wall(); break;
      case Do::emit_many:
        for (std::int64_t i = 0; i < order.when; ++i) out(std::to_string(i));
        break;
      case Do::count_late: here.count_late(); break;
      case Do::fail: throw std::invalid_argument("no such thing");
      case Do::fail_of_world: throw IoError("the disk is gone");
    }
  }
  void on_alarm(Here& here, Emit<std::string>& out) const {
    out(told("alarm", here));
    if (again > 0 && here.time() < EventTime{100}) here.wake(here.time() + Duration{again});
  }
  void on_wall_alarm(Here& here, Emit<std::string>& out) const { out(told("wall", here)); }

  static std::string told(std::string what, const Here& here) {
    return what + " " + std::to_string(here.key()) + " at " + std::to_string(here.time().ms);
  }
};

using Stage1 = ProcessStage<Key, Order, Obeying>;
using Kept = ProcessStage<Key, Order, Obeying, KeepFor>;
using Drive = KeyedDrive<Stage1>;
using Texts = std::vector<std::string>;

Drive::Make obeying(std::int64_t again = 0) {
  return [again](const StageContext& context) {
    return std::make_unique<Stage1>(context, "operator", Obeying{again});
  };
}
KeyedDrive<Kept>::Make kept_for(Duration span) {
  return [span](const StageContext& context) {
    return std::make_unique<Kept>(context, "operator", Obeying{}, KeepFor{span});
  };
}

struct Failing {
  struct State {};
  using Output = int;
  template <class Context>
  void on_record(int, Context&, Emit<int>&) const {
    throw JobFailed("a sum does not fit");
  }
};
struct Pair {
  std::int32_t a, b;
  bool operator==(const Pair&) const = default;
};
struct Deaf {
  struct State {};
  using Output = int;
  bool by_wall = false;
  template <class Context>
  void on_record(int, Context& here, Emit<int>&) const {
    here.sleep();
    here.sleep_at_wall();
    if (by_wall) here.wake_at_wall({1});
    here.wake({1});
  }
};
/// Remembers what it must not.
struct Cheating {
  struct State {};
  using Output = std::int64_t;
  std::shared_ptr<std::int64_t> calls = std::make_shared<std::int64_t>(0);
  template <class Context>
  void on_record(std::int64_t, Context&, Emit<std::int64_t>& out) const {
    out(++*calls);
  }
};

struct Count {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

}  // namespace

TEST_CASE("an alarm rings once, when the watermark reaches it", "[runtime][process]") {
  FakeWorld world;
  Drive drive(world, 1, obeying());
  drive.take(0, 5, Key{1}, Order{Do::wake, 20});

  drive.advance(19);
  CHECK(drive.rows.empty());
  drive.advance(20);
  CHECK(drive.values() == Texts{"alarm 1 at 20"});
  CHECK(drive.rows[0].time == EventTime{20});
  drive.advance(21);
  drive.end();
  CHECK(drive.rows.size() == 1);
}

TEST_CASE("a key has one alarm: the one that was set last", "[runtime][process]") {
  struct Case {
    const char* what;
    std::vector<Order> orders;
    Texts rung;
  };
  const auto wake = [](std::int64_t when) { return Order{Do::wake, when}; };
  const Order sleep{Do::sleep, 0};
  const Order forget{Do::forget, 0};
  const std::vector<Case> cases{
      {"later", {wake(20), wake(30)}, {"alarm 1 at 30"}},
      {"much later", {wake(20), wake(5'000)}, {"alarm 1 at 5000"}},
      {"earlier", {wake(5'000), wake(20)}, {"alarm 1 at 20"}},
      {"later and back", {wake(20), wake(30), wake(20)}, {"alarm 1 at 20"}},
      {"earlier and back", {wake(30), wake(20), wake(30)}, {"alarm 1 at 30"}},
      {"asleep", {wake(20), sleep}, {}},
      {"asleep and again", {wake(20), sleep, wake(20)}, {"alarm 1 at 20"}},
      {"asleep and later", {wake(20), sleep, wake(25)}, {"alarm 1 at 25"}},
      {"asleep and earlier", {wake(20), sleep, wake(15)}, {"alarm 1 at 15"}},
      {"forgotten", {wake(20), forget}, {}},
      {"forgotten and again", {wake(20), forget, wake(20)}, {"alarm 1 at 20"}},
      {"forgotten and later", {wake(20), forget, wake(25)}, {"alarm 1 at 25"}},
      {"woken and forgotten at once", {forget, sleep}, {}},
  };
  for (const Case& one : cases) {
    for (const bool restored : {false, true}) {
      CAPTURE(one.what, restored);
      FakeWorld world;
      Drive first(world, 1, obeying());
      for (const Order& order : one.orders) first.take(0, 5, Key{1}, order);
      Drive second(world, 1, obeying());
      if (restored) second.restore(first.save());
      Drive& drive = restored ? second : first;
      for (std::int64_t time = 10; time < 6'000; ++time) drive.advance(time);
      CHECK(drive.values() == one.rung);
    }
  }
}

TEST_CASE("alarms ring by time and then by key, in however many steps the watermark comes",
          "[runtime][process]") {
  Texts expected;
  for (const std::int64_t step : {1, 7, 1'000}) {
    FakeWorld world;
    Drive drive(world, 1, obeying(30));
    Draws draws(3);
    std::vector<Key> keys(50);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(i);
    draws.shuffle(keys);
    for (const Key key : keys) drive.take(0, 0, key, Order{Do::wake, 10 + key % 5});
    for (std::int64_t time = step; time < 1'000; time += step) drive.advance(time);
    drive.end();

    CHECK(std::is_sorted(drive.rows.begin(), drive.rows.end(),
                         [](const auto& a, const auto& b) { return a.time < b.time; }));
    CHECK(drive.rows.size() == 50 * 4);
    if (expected.empty()) expected = drive.values();
    CHECK(drive.values() == expected);
  }
  CHECK(expected[0] == "alarm 0 at 10");
  CHECK(expected[1] == "alarm 5 at 10");
  CHECK(expected[10] == "alarm 1 at 11");
}

TEST_CASE("an alarm that is set for the past rings with the next watermark", "[runtime][process]") {
  FakeWorld world;
  Drive drive(world, 1, obeying());
  drive.advance(50);
  drive.take(0, 60, Key{1}, Order{Do::wake, 20});
  drive.take(0, 60, Key{2}, Order{Do::wake, 50});
  drive.advance(50);
  CHECK(drive.rows.empty());
  drive.advance(51);
  CHECK(drive.values() == Texts{"alarm 1 at 20", "alarm 2 at 50"});
}

TEST_CASE("the end of the input rings every alarm, and none that sleeps", "[runtime][process]") {
  FakeWorld world;
  Drive drive(world, 1, obeying());
  drive.take(0, 5, Key{1}, Order{Do::wake, latest_event_time.ms});
  drive.take(0, 5, Key{2}, Order{Do::wake, 7});
  drive.take(0, 5, Key{2}, Order{Do::sleep, 0});
  drive.take(0, 5, Key{3}, Order{Do::wake, EventTime::max().ms});
  drive.end();
  CHECK(drive.rows.size() == 1);
  CHECK(drive.rows[0].time == latest_event_time);
  CHECK(drive.watermarks() == std::vector<EventTime>{EventTime::max()});
}

TEST_CASE("what an alarm lets out goes before the watermark that rang it", "[runtime][process]") {
  FakeWorld world;
  Taking<std::string> out;
  Stage1 stage({world.env("operator.0"), {0, 1}, {}}, "operator", Obeying{});
  struct Following final : Consumer<std::string> {
    Texts seen;
    void take(Batch<std::string>& rows) override {
      for (auto& row : rows) seen.push_back(row.value);
    }
    void watermark(EventTime time) override { seen.push_back(std::to_string(time.ms)); }
    void set_idle(bool) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
  } following;
  stage.link({}, following);
  Batch<Keyed<Key, Order>> batch;
  batch.add(EventTime{1}, Keyed<Key, Order>{1, {Do::wake, 20}});
  stage.take(batch);
  stage.watermark({25});
  CHECK(following.seen == Texts{"alarm 1 at 20", "25"});
}

TEST_CASE("alarms of the wall clock ring whenever it has come so far, wherever it jumps",
          "[runtime][process]") {
  FakeWorld world;
  Drive drive(world, 1, obeying());
  CHECK(drive.next_alarm() == EventTime::max());
  drive.advance(50);
  drive.take(0, 60, Key{2}, Order{Do::wake_at_wall, 1'001});
  drive.take(0, 60, Key{1}, Order{Do::wake_at_wall, 2'000});
  CHECK(drive.next_alarm() == EventTime{1'001});

  drive.look_at_clock(1'000);
  CHECK(drive.rows.empty());
  drive.look_at_clock(500);  // Back, and far ahead.
  CHECK(drive.rows.empty());
  drive.look_at_clock(9'000);
  CHECK(drive.values() == Texts{"wall 2 at 51", "wall 1 at 51"});
  CHECK(drive.rows[0].time == EventTime{51});
  CHECK(drive.next_alarm() == EventTime::max());

  drive.take(0, 60, Key{1}, Order{Do::wake_at_wall, 700});
  CHECK(drive.next_alarm() == EventTime{700});
  drive.take(0, 60, Key{1}, Order{Do::sleep_at_wall, 0});
  drive.look_at_clock(600);
  drive.look_at_clock(800);
  CHECK(drive.rows.size() == 2);
  CHECK(drive.next_alarm() == EventTime::max());

  drive.end();
  drive.take(0, 60, Key{1}, Order{Do::wake_at_wall, 700});
  drive.look_at_clock(800);
  CHECK(drive.rows.back().time == EventTime::max());
}

TEST_CASE("an alarm of the wall clock that was missed rings right after a restart",
          "[runtime][process]") {
  for (const int after : {1, 2, 5}) {
    FakeWorld world;
    Drive first(world, 2, obeying());
    for (Key key = 0; key < 20; ++key) first.take(0, 5, key, Order{Do::wake_at_wall, 1'000 + key});
    Drive second(world, after, obeying());
    second.restore(first.save());
    CHECK(second.next_alarm() == EventTime{1'000});
    second.look_at_clock(1'000'000);
    CHECK(second.rows.size() == 20);
    second.look_at_clock(1'000'000);
    CHECK(second.rows.size() == 20);
  }
}

TEST_CASE("a function that lets out more than a batch holds lets it out whole and in order",
          "[runtime][process]") {
  FakeWorld world;
  Drive drive(world, 1, obeying());
  const std::int64_t many = 3 * Batch<std::string>::room() + 1;
  drive.take(0, 5, Key{1}, Order{Do::emit_many, many});
  REQUIRE(drive.rows.size() == static_cast<std::size_t>(many));
  for (std::int64_t i = 0; i < many; ++i) {
    REQUIRE(drive.rows[static_cast<std::size_t>(i)].value == std::to_string(i));
  }
}

TEST_CASE("a function that throws ends its task, and operator, key and time are named",
          "[runtime][process]") {
  FakeWorld world;
  Drive numbers(world, 1, obeying());
  CHECK(message_of<FunctionFailed>([&] {
          numbers.take(0, 5, Key{-7}, Order{Do::fail, 0});
        }) == "operator: the function failed at key -7, event time 5 ms: no such thing");
  CHECK(message_of<IoError>([&] {
          numbers.take(0, 5, Key{7}, Order{Do::fail_of_world, 0});
        }) == "the disk is gone");

  using Text = ProcessStage<std::string, int, Failing>;
  KeyedDrive<Text> texts(world, 1, [](const StageContext& context) {
    return std::make_unique<Text>(context, "operator", Failing{});
  });
  CHECK(message_of<JobFailed>([&] { texts.take(0, 5, std::string("x y"), 1); }) ==
        "operator: the function failed at key `x y`, event time 5 ms: a sum does not fit");
  using Structs = ProcessStage<Pair, int, Failing>;
  KeyedDrive<Structs> structs(world, 1, [](const StageContext& context) {
    return std::make_unique<Structs>(context, "operator", Failing{});
  });
  CHECK(message_of<JobFailed>([&] {
          structs.take(0, 5, Pair{1, 2}, 1);
        }).find("operator: the function failed at a key of hash ") == 0);
}

TEST_CASE("what fails behind a function is not blamed on it", "[runtime][process]") {
  struct Refusing final : Consumer<std::string> {
    void take(Batch<std::string>&) override { throw JobFailed("the table does not take that"); }
    void watermark(EventTime) override {}
    void set_idle(bool) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
  } refusing;
  FakeWorld world;
  for (const std::int64_t rows : {std::int64_t{1}, 2 * std::int64_t{Batch<std::string>::room()}}) {
    Stage1 stage({world.env("operator.0"), {0, 1}, {}}, "operator", Obeying{});
    stage.link({}, refusing);
    Batch<Keyed<Key, Order>> batch;
    batch.add(EventTime{1}, Keyed<Key, Order>{1, {Do::emit_many, rows}});
    CHECK(message_of<JobFailed>([&] { stage.take(batch); }) == "the table does not take that");
  }
}

TEST_CASE("an alarm without a function for it is the function's mistake", "[runtime][process]") {
  using Stage2 = ProcessStage<Key, int, Deaf>;
  FakeWorld world;
  for (const bool by_wall : {false, true}) {
    KeyedDrive<Stage2> drive(world, 1, [by_wall](const StageContext& context) {
      return std::make_unique<Stage2>(context, "operator", Deaf{by_wall});
    });
    const auto message = message_of<FunctionFailed>([&] { drive.take(0, 5, Key{1}, 1); });
    CHECK(message.find("the function has no on_") != message.npos);
  }
}

TEST_CASE("who watches a function sees what it makes of what, and whether that is always the same",
          "[runtime][process]") {
  const auto runs_of = [](auto first, auto make_stage) {
    FakeWorld world;
    world.user_code.watches = true;
    KeyedDrive<std::remove_cvref_t<decltype(*make_stage(StageContext{world.env(), {}, {}}))>> drive(
        world, 1, make_stage);
    first(drive);
    return world.user_code.runs;
  };
  const auto sums = [](const StageContext& context) {
    return std::make_unique<ProcessStage<Key, std::int64_t, Reduce<std::int64_t, Count>>>(
        context, "operator", Reduce<std::int64_t, Count>{});
  };
  const auto cheating = [](const StageContext& context) {
    return std::make_unique<ProcessStage<Key, std::int64_t, Cheating>>(context, "operator",
                                                                       Cheating{});
  };
  const auto rows = [](auto& drive) {
    for (const std::int64_t value : {0, 0, 5}) drive.take(0, 7, Key{1}, value);
    for (const std::int64_t value : {0, 0, 5}) drive.take(0, 7, Key{2}, value);
  };
  const auto honest = runs_of(rows, sums);
  REQUIRE(honest.size() == 6);
  CHECK(honest[0].given != honest[1].given);  // The state before is another,
  CHECK(honest[1].given != honest[2].given);  // or the row,
  CHECK(honest[0].given != honest[3].given);  // or the key.
  CHECK(runs_of(rows, sums)[2].result == honest[2].result);

  const auto cheated = runs_of(rows, cheating);
  CHECK(cheated[0].given == cheated[1].given);
  CHECK(cheated[0].result != cheated[1].result);

  const auto alarms = [](auto& drive) {
    drive.take(0, 5, Key{1}, Order{Do::wake, 20});
    drive.take(0, 5, Key{1}, Order{Do::wake_at_wall, 20});
    drive.take(0, 5, Key{1}, Order{Do::emit_many, 2'000});
    drive.end();
    drive.look_at_clock(50);
  };
  CHECK(runs_of(alarms, obeying()).size() == 4);  // Nothing compares what the wall clock says.
}

TEST_CASE("rows that a function counts as late are told, and stay counted", "[runtime][process]") {
  FakeWorld world;
  Drive first(world, 2, obeying());
  for (Key key = 0; key < 7; ++key) first.take(0, 5, key, Order{Do::count_late, 0});
  CHECK(world.landmarks.counted("rows_late") == 7);
  CHECK(first.late() == 7);
  Drive second(world, 3, obeying());
  second.restore(first.save());
  second.take(0, 5, Key{1}, Order{Do::count_late, 0});
  CHECK(second.late() == 8);
}

TEST_CASE("a key is forgotten when nothing has happened to it for so long", "[runtime][process]") {
  struct Case {
    std::int64_t watermark;
    Duration kept;
    std::int64_t rows;  ///< That the key counts, with the next.
  };
  for (const Case& one : {Case{109, 100ms, 3}, Case{110, 100ms, 1}, Case{111, 100ms, 1},
                          Case{109, 99ms, 1}, Case{108, 99ms, 3}}) {
    for (const bool restored : {false, true}) {
      CAPTURE(one.watermark, one.kept.count(), restored);
      FakeWorld world;
      KeyedDrive<Kept> first(world, 1, kept_for(restored ? 1'000'000ms : one.kept));
      first.take(0, 10, Key{1}, Order{});
      first.take(0, 4, Key{1}, Order{});
      KeyedDrive<Kept> second(world, 1, kept_for(one.kept));
      if (restored) second.restore(first.save());  // The span may change meanwhile.
      auto& drive = restored ? second : first;
      drive.advance(one.watermark);
      // A fresh key has one part more in its snapshot if it is new: told by what it remembers.
      drive.take(0, 200, Key{1}, Order{Do::wake, 205});
      Snapshot snapshot;
      drive.stage().save(snapshot);
      Encoder out;
      snapshot.parts[0].state->write(out);
      Decoder in(out.view());
      in.skip(8 + 8 + 4 + 8);
      CHECK(in.number<std::uint8_t>() == 5);  // An alarm, and when it was touched.
      CHECK(in.number<std::int64_t>() == 205);
      CHECK(in.number<std::int64_t>() == 200);
      CHECK(in.number<std::int64_t>() == one.rows);
    }
  }
}

TEST_CASE("alarms keep a key alive, and one that comes too late is forgotten with it",
          "[runtime][process]") {
  for (const std::int64_t step : {1, 1'000}) {
    CAPTURE(step);
    FakeWorld world;
    KeyedDrive<Kept> drive(world, 1, kept_for(100ms));
    drive.take(0, 10, Key{1}, Order{Do::wake, 110});
    drive.take(0, 10, Key{2}, Order{Do::wake, 111});
    for (std::int64_t time = 0; time <= 1'000; time += step) drive.advance(time);
    CHECK(drive.values() == Texts{"alarm 1 at 110"});
  }
}

TEST_CASE("state that was kept for ever gets a time to live, and the other way round",
          "[runtime][process]") {
  FakeWorld world;
  Drive for_ever(world, 2, obeying());
  for_ever.advance(50);
  for_ever.take(0, 60, Key{1}, Order{Do::wake, 1'000});
  KeyedDrive<Kept> kept(world, 3, kept_for(100ms));
  kept.restore(for_ever.save());
  kept.advance(149);
  Drive again(world, 1, obeying());
  again.restore(kept.save(2));
  again.end();
  CHECK(again.values() == Texts{"alarm 1 at 1000"});
  kept.end();
  CHECK(kept.rows.empty());  // Its life began with the watermark of the checkpoint: 50.
}

TEST_CASE("state of other types is refused by name", "[runtime][process]") {
  using Numbers = ProcessStage<Key, std::int64_t, Reduce<std::int64_t, Count>>;
  FakeWorld world;
  Drive first(world, 1, obeying());
  KeyedDrive<Numbers> second(world, 1, [](const StageContext& context) {
    return std::make_unique<Numbers>(context, "operator", Reduce<std::int64_t, Count>{});
  });
  const auto message = message_of<UsageError>([&] { second.restore(first.save()); });
  CHECK(message ==
        "operator: the state `keys` was written as `int64 to {int64, map of text to int64} with "
        "alarms`, and this job's is `int64 to {optional int64} with alarms`: its types have "
        "changed since");
}

TEST_CASE("whatever is ordered, and wherever it is cut, a function does the same",
          "[runtime][process]") {
  struct Event {
    std::int64_t time;
    Key key;
    Order order;
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Draws draws(seed);
    std::vector<Event> events;
    for (std::int64_t i = 0; i < 300; ++i) {
      constexpr Do kinds[] = {Do::count, Do::wake, Do::wake, Do::wake, Do::sleep, Do::forget};
      events.push_back({i,
                        static_cast<Key>(draws.below(12)),
                        {kinds[draws.below(6)], i + static_cast<std::int64_t>(draws.below(60))}});
    }
    // Row by row, with a map.
    Texts naive;
    std::map<Key, std::int64_t> alarms;
    const auto ring = [&](std::int64_t until) {
      std::vector<std::pair<std::int64_t, Key>> due;
      for (const auto& [key, at] : alarms) {
        if (at <= until) due.push_back({at, key});
      }
      std::sort(due.begin(), due.end());
      for (const auto& [at, key] : due) {
        naive.push_back("alarm " + std::to_string(key) + " at " + std::to_string(at));
        alarms.erase(key);
      }
    };
    for (const Event& event : events) {
      switch (event.order.what) {
        case Do::count:
          naive.push_back("row " + std::to_string(event.key) + " at " + std::to_string(event.time));
          break;
        case Do::wake: alarms[event.key] = event.order.when; break;
        default: alarms.erase(event.key);
      }
      if (event.time % 10 == 0) ring(event.time - 5);
    }
    ring(EventTime::max().ms);

    for (const int before : {1, 3}) {
      for (const int after : {1, 2, 7}) {
        CAPTURE(seed, before, after);
        FakeWorld world;
        Drive first(world, before, obeying());
        Drive second(world, after, obeying());
        const std::size_t stop = draws.below(events.size());
        for (std::size_t i = 0; i < events.size(); ++i) {
          if (i == stop) second.restore(first.save());
          Drive& drive = i < stop ? first : second;
          drive.take(0, events[i].time, events[i].key, events[i].order);
          if (events[i].time % 10 == 0) drive.advance(events[i].time - 5);
        }
        second.end();
        Texts all = first.values();
        for (const std::string& text : second.values()) all.push_back(text);
        if (before == 1 && after == 1) {
          CHECK(all == naive);
        }
        Texts expected = naive;
        std::sort(all.begin(), all.end());
        std::sort(expected.begin(), expected.end());
        CHECK(all == expected);
      }
    }
  }
}

TEST_CASE("keys, alarms and late rows are the same after going to more subtasks and back",
          "[runtime][process]") {
  const auto take = [](Drive& drive, std::int64_t from, std::int64_t to) {
    Draws draws(static_cast<std::uint64_t>(from) + 1);
    for (std::int64_t i = from; i < to; ++i) {
      const auto key = static_cast<Key>(draws.below(24));
      constexpr Do kinds[] = {Do::count, Do::wake, Do::sleep, Do::count_late};
      drive.take(0, i, key,
                 Order{kinds[draws.below(4)], i + static_cast<std::int64_t>(draws.below(90))});
      if (i % 10 == 0) drive.advance(i - 5);
    }
  };
  for (const int p : {1, 2, 3, 5}) {
    for (const int q : {1, 2, 4, 7, 128}) {
      CAPTURE(p, q);
      FakeWorld world;
      Drive whole(world, p, obeying());
      take(whole, 0, 60);
      take(whole, 60, 120);
      take(whole, 120, 180);
      whole.end();

      Drive first(world, p, obeying());
      take(first, 0, 60);
      Drive second(world, q, obeying());
      second.restore(first.save());
      take(second, 60, 120);
      Drive third(world, p, obeying());
      third.restore(second.save());
      take(third, 120, 180);
      third.end();

      Texts all;
      for (const Drive* const drive : {&first, &second, &third}) {
        const Texts texts = drive->values();
        all.insert(all.end(), texts.begin(), texts.end());
      }
      Texts expected = whole.values();
      std::sort(all.begin(), all.end());
      std::sort(expected.begin(), expected.end());
      CHECK(all == expected);
      CHECK(third.late() == whole.late());
      CHECK(whole.late() > 0);
    }
  }
}

TEST_CASE("keys are ordered by what they are", "[runtime][process]") {
  struct Plain2 {
    std::int32_t a = 0;
    std::string b;
  };
  enum class Color : std::uint8_t { red, green };
  CHECK(key_less<Key>(-1, 1));
  CHECK_FALSE(key_less<Key>(1, 1));
  CHECK(key_less(std::string("a"), std::string("b")));
  CHECK(key_less(Color::red, Color::green));
  CHECK(key_less(Plain2{1, "b"}, Plain2{2, "a"}));
  CHECK(key_less(Plain2{1, "a"}, Plain2{1, "b"}));
  CHECK_FALSE(key_less(Plain2{1, "b"}, Plain2{1, "a"}));
  CHECK_FALSE(key_less(Plain2{2, "a"}, Plain2{1, "b"}));
  CHECK_FALSE(key_less(Plain2{1, "a"}, Plain2{1, "a"}));
}

TEST_CASE("a reduction gives a running result for each key", "[runtime][process]") {
  using Sums = ProcessStage<Key, std::int64_t, Reduce<std::int64_t, Count>>;
  FakeWorld world;
  const KeyedDrive<Sums>::Make make = [](const StageContext& context) {
    return std::make_unique<Sums>(context, "operator", Reduce<std::int64_t, Count>{});
  };
  KeyedDrive<Sums> first(world, 1, make);
  for (std::int64_t i = 1; i <= 3; ++i) first.take(0, i, Key{1}, i);
  first.take(0, 9, Key{2}, std::int64_t{5});
  CHECK(first.values() == std::vector<std::int64_t>{1, 3, 6, 5});
  CHECK(first.rows[2].time == EventTime{3});
  KeyedDrive<Sums> second(world, 2, make);
  second.restore(first.save());
  second.take(0, 9, Key{1}, std::int64_t{4});
  CHECK(second.values() == std::vector<std::int64_t>{10});
}

TEST_CASE("of rows of a key within the horizon the first is let out", "[runtime][process]") {
  using Firsts = ProcessStage<Key, std::int64_t, Dedup<std::int64_t>>;
  struct Arrival {
    std::int64_t time;
    std::int64_t watermark;  ///< Before it.
    bool passes;
    std::uint64_t late = 0;
  };
  const std::vector<std::vector<Arrival>> stories{
      {{100, 0, true}, {100, 0, false}, {109, 0, false}, {110, 0, false}, {111, 0, true}},
      {{100, 0, true}, {95, 0, false}, {1, 0, false}, {110, 105, false}},
      {{100, 0, true}, {111, 0, true}, {108, 0, false}, {121, 0, false}, {122, 0, true}},
      {{100, 0, true}, {111, 110, true}},
      {{100, 0, true}, {105, 110, false, 1}, {110, 110, false, 2}, {111, 110, true, 2}},
      {{100, 100, false, 1}, {101, 100, true, 1}, {99, 100, false, 1}, {102, 200, false, 2}},
  };
  for (std::size_t i = 0; i < stories.size(); ++i) {
    for (const bool restored : {false, true}) {
      FakeWorld world;
      const KeyedDrive<Firsts>::Make make = [](const StageContext& context) {
        return std::make_unique<Firsts>(context, "operator", Dedup<std::int64_t>{10ms});
      };
      auto drive = std::make_unique<KeyedDrive<Firsts>>(world, 1, make);
      std::int64_t number = 0;
      for (const Arrival& arrival : stories[i]) {
        CAPTURE(i, restored, arrival.time, arrival.watermark);
        drive->advance(arrival.watermark);
        if (restored) {
          auto next = std::make_unique<KeyedDrive<Firsts>>(world, number % 2 == 0 ? 3 : 1, make);
          next->restore(drive->save(static_cast<std::uint64_t>(++number)));
          drive = std::move(next);
        }
        drive->rows.clear();
        drive->take(0, arrival.time, Key{1}, arrival.time);
        CHECK(drive->rows.size() == (arrival.passes ? 1 : 0));
        CHECK(drive->late() == arrival.late);
      }
    }
  }
}
