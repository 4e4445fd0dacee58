#include "millrace/runtime/operators/window_stage.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "fake_world.hpp"
#include "stored_state.hpp"

using namespace millrace;

namespace {

/// Adds the numbers of rows that are numbers.
struct Itself {
  std::int64_t operator()(std::int64_t value) const { return value; }
};
using Sum = aggregates::Sum<Itself>;
using Windows = WindowStage<std::int64_t, std::int64_t, Sum>;
using Input = Keyed<std::int64_t, std::int64_t>;

constexpr Duration window_size{10};

struct Arrival {
  std::int64_t time;
  std::int64_t key;
  std::int64_t value;
};

/// A result, or a watermark between results.
struct Seen {
  std::int64_t start = 0;
  std::int64_t key = 0;
  std::int64_t sum = 0;
  bool is_watermark = false;
  friend auto operator<=>(const Seen&, const Seen&) = default;
};
using SeenList = std::vector<Seen>;
Seen result(std::int64_t start, std::int64_t key, std::int64_t sum) {
  return {start, key, sum, false};
}
Seen watermark(std::int64_t time) { return {time, 0, 0, true}; }

/// What follows the windows.
class Collecting final : public Consumer<Windows::Out> {
 public:
  SeenList seen;
  int flushed = 0;

  void take(Batch<Windows::Out>& rows) override {
    for (const auto& row : rows) {
      CHECK(row.time.ms == row.value.window.end.ms - 1);
      CHECK(row.value.window.end - row.value.window.start == window_size);
      seen.push_back(result(row.value.window.start.ms, row.value.key, row.value.value));
    }
  }
  void watermark(EventTime time) override { seen.push_back(::watermark(time.ms)); }
  void flush() override { ++flushed; }
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}
};

/// One subtask of a window operator, and what it lets out.
struct Driven {
  explicit Driven(FakeWorld& world, Subtask at = {})
      : stage({world.env("window." + std::to_string(at.index)), at, {}}, "window", Sum{},
              tumbling(window_size)) {
    stage.link({}, out);
  }

  void take(const std::vector<Arrival>& rows) {
    Batch<Input> batch;
    for (const Arrival& row : rows) {
      batch.add(EventTime{row.time}, Input{row.key, row.value});
      if (!batch.full()) continue;
      stage.take(batch);
      batch.clear();
    }
    stage.take(batch);
  }
  /// What is let out by a watermark.
  SeenList advance(std::int64_t time) {
    stage.watermark({time});
    return std::exchange(out.seen, {});
  }
  void save(Snapshot& snapshot) { stage.save(snapshot); }

  Collecting out;
  Windows stage;
};

/// All subtasks of a window operator at some parallelism.
class Operator {
 public:
  Operator(FakeWorld& world, int parallelism) : world_(world) {
    for (int i = 0; i < parallelism; ++i) {
      subtasks_.push_back(std::make_unique<Driven>(world, Subtask{i, parallelism}));
    }
  }

  void take(const Arrival& row) {
    const auto group = group_of(hash_key(row.key));
    const int owner = owner_of(group, static_cast<int>(subtasks_.size()));
    subtasks_[static_cast<std::size_t>(owner)]->take({row});
  }
  void advance(std::int64_t time) {
    for (auto& subtask : subtasks_) {
      for (const Seen& seen : subtask->advance(time)) {
        if (!seen.is_watermark) results.push_back(seen);
      }
    }
  }
  Manifest save(CheckpointId id) { return checkpoint(world_, id, "window", subtasks_); }
  void restore(const Manifest& manifest) {
    Env env = world_.env();
    for (std::size_t i = 0; i < subtasks_.size(); ++i) {
      Restored restored;
      restored.sections = load_sections(env, manifest, "window",
                                        {static_cast<int>(i), static_cast<int>(subtasks_.size())});
      subtasks_[i]->stage.restore(restored);
    }
  }
  std::uint64_t late() { return save({{99}, 1}).records_late; }

  SeenList results;

 private:
  FakeWorld& world_;
  std::vector<std::unique_ptr<Driven>> subtasks_;
};

/// What windows are to give, worked out row by row.
struct Naive {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> open;  ///< By start and key.
  std::int64_t watermark = EventTime::min().ms;
  std::uint64_t late = 0;
  SeenList results;

  void take(const Arrival& row) {
    std::int64_t start = row.time / window_size.count() * window_size.count();
    if (start > row.time) start -= window_size.count();
    if (start + window_size.count() - 1 <= watermark) {
      ++late;
    } else {
      open[{start, row.key}] += row.value;
    }
  }
  void advance(std::int64_t time) {
    watermark = std::max(watermark, time);
    std::erase_if(open, [&](const auto& entry) {
      const auto [start, key] = entry.first;
      if (start + window_size.count() - 1 > watermark) return false;
      results.push_back(result(start, key, entry.second));
      return true;
    });
  }
};

SeenList sorted(SeenList list) {
  std::sort(list.begin(), list.end());
  return list;
}

/// Rows in some disorder, each with the watermark that follows it, if one does.
struct Event {
  Arrival row;
  std::optional<std::int64_t> watermark;
};
std::vector<Event> some_events(std::uint64_t seed, int count) {
  Draws draws(seed);
  std::vector<Event> events;
  std::int64_t now = -60;
  for (int i = 0; i < count; ++i) {
    now += static_cast<std::int64_t>(draws.below(4));
    Event event{
        {now - static_cast<std::int64_t>(draws.below(25)),
         static_cast<std::int64_t>(draws.below(12)), static_cast<std::int64_t>(draws.below(1'000))},
        std::nullopt};
    if (draws.one_in(4)) event.watermark = now - 15 + static_cast<std::int64_t>(draws.below(3));
    events.push_back(event);
  }
  return events;
}

constexpr std::int64_t end_of_input = EventTime::max().ms;

}  // namespace

TEST_CASE("a row belongs to the window whose start is at or before it and whose end is behind it",
          "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{9, 1, 1}, {10, 1, 10}, {11, 1, 100}, {19, 1, 1'000}, {20, 1, 10'000}});

  CHECK(windows.advance(end_of_input) == SeenList{result(0, 1, 1), result(10, 1, 1'110),
                                                  result(20, 1, 10'000), watermark(end_of_input)});
}

TEST_CASE("windows before 1970 are as long as others", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{-1, 1, 1}, {-10, 1, 10}, {-11, 1, 100}, {0, 1, 1'000}, {-20, 1, 10'000}});

  CHECK(windows.advance(end_of_input) == SeenList{result(-20, 1, 10'100), result(-10, 1, 11),
                                                  result(0, 1, 1'000), watermark(end_of_input)});
}

TEST_CASE("the window of a time begins at a multiple of its size", "[runtime][window]") {
  for (const std::int64_t size : {1, 7, 10, 3'600'000}) {
    for (const std::int64_t base :
         {std::int64_t{0}, earliest_event_time.ms, latest_event_time.ms}) {
      for (std::int64_t more = -30; more <= 0; ++more) {
        const EventTime time{base + more + (base == earliest_event_time.ms ? 30 : 0)};
        const Window window = tumbling(Duration{size}).first_window(time);
        REQUIRE(window == tumbling(Duration{size}).last_window(time));
        REQUIRE(window.start.ms % size == 0);
        REQUIRE(window.start <= time);
        REQUIRE(time < window.end);
        REQUIRE(window.end - window.start == Duration{size});
      }
    }
  }
}

TEST_CASE("a window is let out when the watermark reaches its last instant, and once",
          "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{10, 1, 5}});

  CHECK(windows.advance(18) == SeenList{watermark(18)});
  CHECK(windows.advance(19) == SeenList{result(10, 1, 5), watermark(19)});
  CHECK(windows.advance(20) == SeenList{watermark(20)});
  CHECK(windows.advance(end_of_input) == SeenList{watermark(end_of_input)});
  CHECK(world.landmarks.times("window_fired") == 1);
  CHECK(world.landmarks.counted("window_fired") == 1);
}

TEST_CASE("a watermark that does not rise does nothing", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{10, 1, 5}});
  windows.advance(15);

  CHECK(windows.advance(15).empty());
  CHECK(windows.advance(14).empty());
  CHECK(windows.advance(EventTime::min().ms).empty());
}

TEST_CASE("a row is late if its window has ended, and not if it is only old", "[runtime][window]") {
  FakeWorld world;
  Operator windows(world, 1);
  windows.advance(18);
  windows.take({10, 1, 1});  // Its window ends with 19.
  CHECK(windows.late() == 0);
  windows.advance(19);
  windows.take({10, 1, 10});
  windows.take({19, 1, 100});
  CHECK(windows.late() == 2);
  windows.take({20, 1, 1'000});
  windows.advance(25);
  windows.take({21, 1, 10'000});  // Older than the watermark, in a window that is open.
  CHECK(windows.late() == 2);
  windows.advance(end_of_input);
  windows.take({30, 1, 1});
  CHECK(windows.late() == 3);

  CHECK(windows.results == SeenList{result(10, 1, 1), result(20, 1, 11'000)});
}

TEST_CASE("windows are let out by their start, and keys of a window as they came",
          "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{25, 7, 1}, {5, 3, 1}, {5, 9, 1}, {15, 2, 1}, {5, 1, 1}, {5, 3, 1}, {25, 4, 1}});

  CHECK(windows.advance(29) == SeenList{result(0, 3, 2), result(0, 9, 1), result(0, 1, 1),
                                        result(10, 2, 1), result(25 / 10 * 10, 7, 1),
                                        result(20, 4, 1), watermark(29)});
}

TEST_CASE("windows without rows do not exist", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{5, 1, 1}, {95, 1, 1}});

  CHECK(windows.advance(1'000) == SeenList{result(0, 1, 1), result(90, 1, 1), watermark(1'000)});
  Driven empty(world);
  CHECK(empty.advance(end_of_input) == SeenList{watermark(end_of_input)});
}

TEST_CASE("a window of more keys than a batch has room for is let out whole, before its watermark",
          "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  const std::int64_t keys = 3 * Batch<Windows::Out>::room() + 1;
  for (std::int64_t key = 0; key < keys; ++key) windows.take({{5, key, key}});

  const SeenList seen = windows.advance(9);

  REQUIRE(seen.size() == static_cast<std::size_t>(keys) + 1);
  for (std::int64_t key = 0; key < keys; ++key) {
    REQUIRE(seen[static_cast<std::size_t>(key)] == result(0, key, key));
  }
  CHECK(seen.back() == watermark(9));
  CHECK(world.landmarks.counted("window_fired") == static_cast<std::uint64_t>(keys));
}

TEST_CASE("a flush is handed on, and lets out no window", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{5, 1, 1}});
  windows.stage.flush();

  CHECK(windows.out.flushed == 1);
  CHECK(windows.out.seen.empty());
}

TEST_CASE("whatever comes, windows give what is worked out row by row", "[runtime][window]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeWorld world;
    Operator windows(world, 1);
    Naive naive;
    for (const Event& event : some_events(seed, 400)) {
      windows.take(event.row);
      naive.take(event.row);
      if (!event.watermark) continue;
      windows.advance(*event.watermark);
      naive.advance(*event.watermark);
    }
    windows.advance(end_of_input);
    naive.advance(end_of_input);

    CAPTURE(seed);
    CHECK(sorted(windows.results) == sorted(naive.results));
    CHECK(windows.late() == naive.late);
    CHECK(naive.late > 0);
    CHECK(naive.results.size() > 100);
  }
}

TEST_CASE("a restored window operator goes on as if nothing had been, in the same order",
          "[runtime][window]") {
  const auto events = some_events(77, 120);
  FakeWorld world;
  Operator whole(world, 1);
  for (const Event& event : events) {
    whole.take(event.row);
    if (event.watermark) whole.advance(*event.watermark);
  }
  whole.advance(end_of_input);

  for (std::size_t stop = 0; stop <= events.size(); stop += 7) {
    CAPTURE(stop);
    Operator first(world, 1);
    Operator second(world, 1);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == stop) second.restore(first.save({{1}, i + 1}));
      Operator& windows = i < stop ? first : second;
      windows.take(events[i].row);
      if (events[i].watermark) windows.advance(*events[i].watermark);
    }
    if (stop >= events.size()) second.restore(first.save({{1}, 1'000}));
    second.advance(end_of_input);

    SeenList results = first.results;
    results.insert(results.end(), second.results.begin(), second.results.end());
    CHECK(results == whole.results);
    CHECK(second.late() == whole.late());
  }
}

TEST_CASE("a window operator that was cut or put together gives the same results",
          "[runtime][window]") {
  const auto events = some_events(78, 150);
  FakeWorld world;
  Operator whole(world, 1);
  for (const Event& event : events) {
    whole.take(event.row);
    if (event.watermark) whole.advance(*event.watermark);
  }
  whole.advance(end_of_input);

  for (const int before : {1, 2, 3, 4, 7}) {
    for (const int after : {1, 2, 3, 4, 7}) {
      CAPTURE(before, after);
      Operator first(world, before);
      Operator second(world, after);
      const std::size_t stop = events.size() / 2;
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (i == stop) second.restore(first.save({{static_cast<std::uint64_t>(before)}, 1}));
        Operator& windows = i < stop ? first : second;
        windows.take(events[i].row);
        if (events[i].watermark) windows.advance(*events[i].watermark);
      }
      second.advance(end_of_input);

      SeenList results = first.results;
      results.insert(results.end(), second.results.begin(), second.results.end());
      CHECK(sorted(results) == sorted(whole.results));
    }
  }
}

TEST_CASE("windows and late rows are the same after going to other subtasks and back",
          "[runtime][window]") {
  const auto events = some_events(79, 150);
  FakeWorld world;
  Operator whole(world, 1);
  for (const Event& event : events) {
    whole.take(event.row);
    if (event.watermark) whole.advance(*event.watermark);
  }
  whole.advance(end_of_input);

  for (const int p : {1, 2, 5}) {
    for (const int q : {1, 3, 7, 128}) {
      CAPTURE(p, q);
      Operator first(world, p);
      Operator second(world, q);
      Operator third(world, p);
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (i == 50) second.restore(first.save({{1}, 1}));
        if (i == 100) third.restore(second.save({{2}, 1}));
        Operator& windows = i < 50 ? first : i < 100 ? second : third;
        windows.take(events[i].row);
        if (events[i].watermark) windows.advance(*events[i].watermark);
      }
      third.advance(end_of_input);
      SeenList results;
      for (const Operator* const part : {&first, &second, &third}) {
        results.insert(results.end(), part->results.begin(), part->results.end());
      }
      CHECK(sorted(results) == sorted(whole.results));
      CHECK(third.late() == whole.late());
      CHECK(whole.late() > 0);
    }
  }
}

TEST_CASE("rows that were late before a change of parallelism stay counted", "[runtime][window]") {
  FakeWorld world;
  for (const int before : {1, 2, 3, 4, 7}) {
    for (const int after : {1, 2, 3, 4, 7}) {
      Operator first(world, before);
      first.advance(100);
      for (std::int64_t key = 0; key < 40; ++key) first.take({5, key, 1});
      REQUIRE(first.late() == 40);
      REQUIRE(world.landmarks.counted("rows_late") >= 40);

      Operator second(world, after);
      second.restore(first.save({{1}, 1}));

      CAPTURE(before, after);
      CHECK(second.late() == 40);
    }
  }
}

TEST_CASE("a restored watermark lets out nothing twice, and what was late stays late",
          "[runtime][window]") {
  FakeWorld world;
  Operator first(world, 2);
  first.take({15, 1, 5});
  first.take({25, 1, 6});
  first.advance(19);
  REQUIRE(first.results == SeenList{result(10, 1, 5)});

  for (const int parallelism : {1, 2, 3}) {
    Operator second(world, parallelism);
    second.restore(first.save({{1}, 1}));
    second.advance(19);
    CHECK(second.results.empty());
    second.take({15, 1, 100});
    second.advance(28);
    CHECK(second.results.empty());
    second.advance(29);
    CHECK(second.results == SeenList{result(20, 1, 6)});
  }
}

TEST_CASE("a saved view does not change while the operator goes on", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{5, 1, 1}, {15, 2, 2}});
  windows.advance(4);
  Snapshot snapshot;
  windows.stage.save(snapshot);

  // Written late, as by an uploader that is slow.
  windows.take({{5, 1, 100}, {5, 3, 100}, {25, 1, 100}});
  windows.advance(12);
  Encoder out;
  REQUIRE(snapshot.parts.size() == 1);
  snapshot.parts[0].state->write(out);

  Driven restored(world);
  Restored state;
  state.sections.push_back({groups_of(0, 1), "windows", snapshot.parts[0].shape,
                            Bytes(out.view().begin(), out.view().end())});
  restored.stage.restore(state);
  CHECK(restored.advance(end_of_input) ==
        SeenList{result(0, 1, 1), result(10, 2, 2), watermark(end_of_input)});
}

TEST_CASE("a snapshot tells the operator's watermark and its late rows", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.advance(19);
  windows.take({{5, 1, 1}, {6, 1, 1}});
  Snapshot snapshot;
  windows.stage.save(snapshot);

  CHECK(snapshot.acknowledgement.watermarks ==
        std::vector<OperatorWatermark>{{"window", EventTime{19}}});
  CHECK(snapshot.acknowledgement.records_late == 2);
  CHECK(snapshot.parts[0].operator_name == "window");
  CHECK(snapshot.parts[0].name == "windows");
}

TEST_CASE("state of other types, or that is no state, is refused", "[runtime][window]") {
  FakeWorld world;
  Driven windows(world);
  windows.take({{5, 1, 1}});
  Snapshot snapshot;
  windows.stage.save(snapshot);
  Encoder out;
  snapshot.parts[0].state->write(out);
  const auto restore = [&](const std::string& shape, std::span<const std::byte> bytes) {
    Driven other(world);
    Restored state;
    state.sections.push_back(
        {groups_of(0, 1), "windows", shape, Bytes(bytes.begin(), bytes.end())});
    other.stage.restore(state);
  };
  const std::string shape = snapshot.parts[0].shape;

  CHECK_NOTHROW(restore(shape, out.view()));
  for (std::size_t size = 0; size < out.size(); ++size) {
    CHECK_THROWS_AS(restore(shape, out.view().first(size)), CorruptBytes);
  }
  Bytes longer(out.view().begin(), out.view().end());
  longer.push_back(std::byte{0});
  CHECK_THROWS_AS(restore(shape, longer), CorruptBytes);
  CHECK_THROWS_AS(restore(shape + "?", out.view()), UsageError);
}

TEST_CASE("a window has a length, and not more than a hundred thousand days", "[runtime][window]") {
  constexpr std::int64_t most = std::int64_t{100'000} * 86'400'000;
  CHECK_THROWS_AS(tumbling(Duration{-1}), UsageError);
  CHECK_THROWS_AS(tumbling(Duration{0}), UsageError);
  CHECK(tumbling(Duration{1}).size == Duration{1});
  CHECK(tumbling(Duration{most}).size == Duration{most});
  CHECK_THROWS_AS(tumbling(Duration{most + 1}), UsageError);
}
