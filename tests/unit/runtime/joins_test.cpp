#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <catch2/catch.hpp>

#include "millrace/runtime/operators/interval_join.hpp"
#include "millrace/runtime/operators/pair_process_stage.hpp"
#include "millrace/runtime/operators/window_join.hpp"
#include "millrace/runtime/paired_flow.hpp"

#include "damage.hpp"
#include "draws.hpp"
#include "keyed_drive.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Key = std::int64_t;
/// Rows are numbers; those on the right are texts.
using Left = std::int64_t;
using Right = std::string;

struct Joined {
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t end = 0;  ///< Of the window, if there is one.
  friend auto operator<=>(const Joined&, const Joined&) = default;
};
struct Join {
  Joined operator()(Left left, const Right& right) const { return {left, std::stoll(right), 0}; }
};
struct JoinInWindow {
  Joined operator()(Left left, const Right& right, Window window) const {
    return {left, std::stoll(right), window.end.ms};
  }
};

using Within = IntervalJoin<Left, Right, Join>;
using InWindow = WindowJoin<Left, Right, JoinInWindow>;
template <class P>
using StageOf = PairProcessStage<Key, Left, Right, P>;
template <class P>
using Drive = KeyedDrive<StageOf<P>>;

template <class P>
typename Drive<P>::Make make(P join) {
  return [join](const StageContext& context) {
    return std::make_unique<StageOf<P>>(context, "operator", join);
  };
}
Within within(Duration before, Duration after) { return {before, after, {}}; }
InWindow in_windows(Duration size, Duration slide) { return {{size, slide}, {}}; }

/// One thing that happens to an operator.
struct Event {
  enum class Kind : std::uint8_t { left, right, watermark } kind;
  std::int64_t time = 0;
  Key key = 1;
  std::int64_t number = 0;
};
using Kind = Event::Kind;

template <class P>
void happen(Drive<P>& drive, const Event& event) {
  switch (event.kind) {
    case Kind::left: drive.take(0, event.time, event.key, Left{event.number}); break;
    case Kind::right: drive.take(1, event.time, event.key, std::to_string(event.number)); break;
    case Kind::watermark: drive.advance(event.time);
  }
}
/// The same in batches of up to `most` rows of one side.
template <class P>
void happen(Drive<P>& drive, const std::vector<Event>& events, std::size_t most) {
  std::vector<Record<Keyed<Key, Left>>> lefts;
  std::vector<Record<Keyed<Key, Right>>> rights;
  const auto send = [&] {
    if (!lefts.empty()) drive.deliver(0, std::exchange(lefts, {}));
    if (!rights.empty()) drive.deliver(1, std::exchange(rights, {}));
  };
  for (const Event& event : events) {
    if (lefts.size() + rights.size() == most) send();
    switch (event.kind) {
      case Kind::left:
        if (!rights.empty()) send();
        lefts.push_back({{event.time}, {event.key, event.number}});
        break;
      case Kind::right:
        if (!lefts.empty()) send();
        rights.push_back({{event.time}, {event.key, std::to_string(event.number)}});
        break;
      case Kind::watermark: send(), drive.advance(event.time);
    }
  }
  send();
}

/// Rows of both sides in some disorder, with watermarks, some rows late.
std::vector<Event> some_events(std::uint64_t seed, int count) {
  Draws draws(seed);
  std::vector<Event> events;
  std::int64_t now = -40;
  for (int i = 0; i < count; ++i) {
    now += static_cast<std::int64_t>(draws.below(3));
    events.push_back({draws.one_in(2) ? Kind::left : Kind::right,
                      now - static_cast<std::int64_t>(draws.below(12)),
                      static_cast<Key>(draws.below(6)), i});
    if (draws.one_in(3)) events.push_back({Kind::watermark, now - 10, 0, 0});
  }
  return events;
}

/// A row with its pairs, worked out from all that has come before it.
struct Naive {
  std::vector<Event> taken;
  std::int64_t watermark = EventTime::min().ms;
  std::uint64_t late = 0;
  std::vector<Joined> pairs;

  void within(const std::vector<Event>& events, std::int64_t before, std::int64_t after) {
    for (const Event& event : events) {
      if (advanced(event)) continue;
      if (event.time <= watermark) {
        ++late;
        continue;
      }
      for (const Event& other : taken) {
        if (other.kind == event.kind || other.key != event.key) continue;
        const Event& left = event.kind == Kind::left ? event : other;
        const Event& right = event.kind == Kind::left ? other : event;
        const bool is_pair = left.time - before <= right.time && right.time <= left.time + after;
        if (is_pair) pairs.push_back({left.number, right.number, 0});
      }
      taken.push_back(event);
    }
  }
  void in_windows(const std::vector<Event>& events, std::int64_t size, std::int64_t slide) {
    std::set<std::int64_t> ends;
    const auto each_window = [&](std::int64_t time, auto f) {
      for (std::int64_t start = -1'000 * slide; start <= time; start += slide) {
        if (time < start + size) f(start);
      }
    };
    std::vector<Event> rows;  // On time for the windows that were open when they came.
    std::vector<std::int64_t> watermarks;
    for (const Event& event : events) {
      if (advanced(event)) continue;
      bool in_open = false;
      each_window(event.time, [&](std::int64_t start) { in_open |= start + size - 1 > watermark; });
      if (!in_open) ++late;
      rows.push_back(event);
      watermarks.push_back(watermark);
    }
    for (std::size_t l = 0; l < rows.size(); ++l) {
      if (rows[l].kind != Kind::left) continue;
      each_window(rows[l].time, [&](std::int64_t start) {
        if (start + size - 1 <= watermarks[l]) return;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          if (rows[r].kind != Kind::right || rows[r].key != rows[l].key) continue;
          if (rows[r].time < start || rows[r].time >= start + size) continue;
          if (start + size - 1 <= watermarks[r]) continue;
          pairs.push_back({rows[l].number, rows[r].number, start + size});
        }
      });
    }
  }

 private:
  bool advanced(const Event& event) {
    if (event.kind != Kind::watermark) return false;
    watermark = std::max(watermark, event.time);
    return true;
  }
};

template <class T>
std::vector<T> sorted(std::vector<T> list) {
  std::sort(list.begin(), list.end());
  return list;
}

/// How many keys an operator remembers.
template <class S>
std::uint32_t keys_of(S& stage) {
  Snapshot snapshot;
  stage.save(snapshot);
  Encoder out;
  snapshot.parts[0].state->write(out);
  Decoder in(out.view());
  in.skip(16);
  return in.number<std::uint32_t>();
}

}  // namespace

TEST_CASE("an interval join has both its ends", "[runtime][joins]") {
  struct Case {
    Duration before;
    Duration after;
    std::vector<std::int64_t> partners;  ///< Of a left row at 100.
  };
  const std::vector<Case> cases{
      {5ms, 10ms, {95, 96, 100, 109, 110}},
      {0ms, 10ms, {100, 109, 110}},
      {5ms, 0ms, {95, 96, 100}},
      {0ms, 0ms, {100}},
      {-1ms, 10ms, {109, 110}},
      {-10ms, 10ms, {110}},
      {10ms, -4ms, {94, 95, 96}},
      {5ms, -5ms, {95}},
  };
  for (const Case& one : cases) {
    for (const bool left_first : {false, true}) {
      CAPTURE(one.before.count(), one.after.count(), left_first);
      FakeWorld world;
      Drive<Within> drive(world, 1, make(within(one.before, one.after)));
      if (left_first) happen(drive, {Kind::left, 100, 1, 7});
      for (const std::int64_t time : {94, 95, 96, 100, 109, 110, 111}) {
        happen(drive, {Kind::right, time, 1, time});
      }
      happen(drive, {Kind::right, 100, 2, 100});  // Another key.
      if (!left_first) happen(drive, {Kind::left, 100, 1, 7});
      std::vector<std::int64_t> found;
      for (const auto& row : drive.rows) {
        CHECK(row.time.ms == std::max<std::int64_t>(100, row.value.right));
        found.push_back(row.value.right);
      }
      CHECK(found == one.partners);
      CHECK(drive.late() == 0);
    }
  }
}

TEST_CASE("a row at or before the watermark is late for an interval join", "[runtime][joins]") {
  FakeWorld world;
  Drive<Within> drive(world, 1, make(within(10ms, 10ms)));
  happen(drive, {Kind::left, 105, 1, 1});
  drive.advance(100);
  happen(drive, {Kind::right, 100, 1, 2});
  happen(drive, {Kind::left, 99, 1, 3});
  CHECK(drive.late() == 2);
  happen(drive, {Kind::right, 101, 1, 4});
  CHECK(drive.values() == std::vector<Joined>{{1, 4, 0}});
  CHECK(world.landmarks.counted("rows_late") == 2);
}

TEST_CASE("an interval join forgets a key with the last that can meet another",
          "[runtime][joins]") {
  FakeWorld world;
  Drive<Within> drive(world, 1, make(within(5ms, 10ms)));
  happen(drive, {Kind::left, 100, 1, 1});   // Meets rows up to 110.
  happen(drive, {Kind::right, 103, 2, 1});  // Up to 108.
  drive.advance(107);
  CHECK(keys_of(drive.stage()) == 2);
  drive.advance(108);
  CHECK(keys_of(drive.stage()) == 1);
  drive.advance(109);
  CHECK(keys_of(drive.stage()) == 1);
  drive.advance(110);
  CHECK(keys_of(drive.stage()) == 0);
  happen(drive, {Kind::left, 50, 3, 1});  // Late rows leave nothing.
  CHECK(keys_of(drive.stage()) == 0);
}

TEST_CASE("a key that is never quiet keeps no more rows than can meet others, by a small factor",
          "[runtime][joins]") {
  FakeWorld world;
  Drive<Within> drive(world, 1, make(within(0ms, 100ms)));
  for (std::int64_t time = 1; time <= 20'000; ++time) {
    happen(drive, {Kind::left, time, 1, time});
    drive.advance(time - 5);
  }
  Snapshot snapshot;
  drive.stage().save(snapshot);
  Encoder out;
  snapshot.parts[0].state->write(out);
  CHECK(out.size() < 4 * 100 * 16 + 100);
}

TEST_CASE("whatever comes in whatever batches, an interval join gives every pair once",
          "[runtime][joins]") {
  struct Span {
    std::int64_t before, after;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Span span : {Span{5, 10}, Span{0, 3}, Span{-2, 9}, Span{7, -3}, Span{0, 0}}) {
      for (const std::size_t most : {1U, 7U, 1'024U}) {
        CAPTURE(seed, span.before, span.after, most);
        const auto events = some_events(seed, 300);
        FakeWorld world;
        Drive<Within> drive(world, 2, make(within(Duration{span.before}, Duration{span.after})));
        happen(drive, events, most);
        Naive naive;
        naive.within(events, span.before, span.after);
        CHECK(sorted(drive.values()) == sorted(naive.pairs));
        CHECK(drive.late() == naive.late);
        CHECK(naive.late > 0);
        drive.end();
        CHECK(keys_of(drive.stage(0)) + keys_of(drive.stage(1)) == 0);
      }
    }
  }
}

TEST_CASE("joins that are cut anywhere and go on at another parallelism miss and repeat no pair",
          "[runtime][joins]") {
  const auto events = some_events(11, 200);
  Naive close;
  close.within(events, 5, 10);
  Naive same;
  same.in_windows(events, 20, 5);
  const auto cut = [&](auto join, const auto& expected) {
    using P = decltype(join);
    for (const int before : {1, 2, 5}) {
      for (const int after : {1, 3}) {
        for (std::size_t stop = 0; stop <= events.size(); stop += 23) {
          CAPTURE(before, after, stop);
          FakeWorld world;
          Drive<P> first(world, before, make(join));
          Drive<P> second(world, after, make(join));
          for (std::size_t i = 0; i < events.size(); ++i) {
            if (i == stop) second.restore(first.save());
            happen(i < stop ? first : second, events[i]);
          }
          if (stop >= events.size()) second.restore(first.save());
          second.end();
          auto all = first.values();
          for (const Joined& pair : second.values()) all.push_back(pair);
          CHECK(sorted(all) == sorted(expected.pairs));
          CHECK(second.late() == expected.late);
        }
      }
    }
  };
  cut(within(5ms, 10ms), close);
  cut(in_windows(20ms, 5ms), same);
}

TEST_CASE("a window join pairs the rows of a window at its end", "[runtime][joins]") {
  for (const bool left_first : {false, true}) {
    FakeWorld world;
    Drive<InWindow> drive(world, 1, make(in_windows(10ms, 10ms)));
    std::vector<Event> events{{Kind::left, 19, 1, 1},  {Kind::left, 20, 1, 2},
                              {Kind::left, 29, 1, 3},  {Kind::left, 30, 1, 4},
                              {Kind::right, 19, 1, 5}, {Kind::right, 20, 1, 6},
                              {Kind::right, 29, 1, 7}, {Kind::right, 30, 2, 8}};
    if (!left_first) std::reverse(events.begin(), events.end());
    for (const Event& event : events) happen(drive, event);
    drive.advance(18);
    CHECK(drive.rows.empty());
    drive.advance(19);
    CHECK(drive.values() == std::vector<Joined>{{1, 5, 20}});
    CHECK(drive.rows[0].time == EventTime{19});
    drive.rows.clear();
    drive.advance(28);
    CHECK(drive.rows.empty());
    drive.advance(29);
    CHECK(drive.values() == std::vector<Joined>{{2, 6, 30}, {2, 7, 30}, {3, 6, 30}, {3, 7, 30}});
    CHECK(keys_of(drive.stage()) == 2);  // The rows at 30 wait.
    drive.end();
    CHECK(drive.rows.size() == 4);
    CHECK(keys_of(drive.stage()) == 0);
  }
}

TEST_CASE("pairs leave by window, then by key, in however many steps the watermark comes",
          "[runtime][joins]") {
  std::vector<Joined> expected;
  for (const std::int64_t step : {1, 9, 1'000}) {
    FakeWorld world;
    Drive<InWindow> drive(world, 1, make(in_windows(20ms, 5ms)));
    for (const Event& event : some_events(5, 200)) {
      if (event.kind != Kind::watermark) happen(drive, event);
    }
    for (std::int64_t time = -100; time < 1'000; time += step) drive.advance(time);
    CHECK(std::is_sorted(drive.rows.begin(), drive.rows.end(),
                         [](const auto& a, const auto& b) { return a.time < b.time; }));
    if (expected.empty()) expected = drive.values();
    CHECK(drive.values() == expected);
  }
  CHECK(expected.size() > 100);
}

TEST_CASE("a row is late for a window join if all its windows have ended", "[runtime][joins]") {
  FakeWorld world;
  Drive<InWindow> drive(world, 1, make(in_windows(20ms, 10ms)));
  happen(drive, {Kind::left, 15, 1, 1});
  drive.advance(28);
  happen(drive, {Kind::right, 15, 1, 2});  // Its window that ends with 29 is open.
  CHECK(drive.late() == 0);
  drive.advance(29);
  CHECK(drive.values() == std::vector<Joined>{{1, 2, 30}});
  happen(drive, {Kind::right, 19, 1, 3});
  CHECK(drive.late() == 1);
  happen(drive, {Kind::right, 20, 1, 4});
  CHECK(drive.late() == 1);
  drive.end();
  CHECK(drive.rows.size() == 1);
}

TEST_CASE("whatever comes in whatever batches, a window join gives every pair once a window",
          "[runtime][joins]") {
  struct Size {
    std::int64_t size, slide;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Size size : {Size{10, 10}, Size{1, 1}, Size{20, 5}, Size{21, 5}, Size{13, 4}}) {
      for (const std::size_t most : {1U, 7U, 1'024U}) {
        CAPTURE(seed, size.size, size.slide, most);
        const auto events = some_events(seed, 300);
        FakeWorld world;
        Drive<InWindow> drive(world, 2,
                              make(in_windows(Duration{size.size}, Duration{size.slide})));
        happen(drive, events, most);
        drive.end();
        Naive naive;
        naive.in_windows(events, size.size, size.slide);
        CHECK(sorted(drive.values()) == sorted(naive.pairs));
        CHECK(drive.late() == naive.late);
        CHECK(keys_of(drive.stage(0)) + keys_of(drive.stage(1)) == 0);
      }
    }
  }
}

TEST_CASE("a join over no span of time is refused", "[runtime][joins]") {
  CHECK_NOTHROW(check_interval(5ms, -5ms));
  CHECK_THROWS_AS(check_interval(5ms, -6ms), UsageError);
  CHECK_THROWS_AS(check_interval(-6ms, 5ms), UsageError);
  CHECK_NOTHROW(check_interval(24h * 100'000, 24h * 100'000));
  CHECK_THROWS_AS(check_interval(24h * 100'001, 0ms), UsageError);
  CHECK_THROWS_AS(check_interval(0ms, 24h * 100'001), UsageError);
  CHECK_THROWS_AS(keep_for(0ms), UsageError);
  CHECK_THROWS_AS(keep_for(24h * 100'001), UsageError);
  CHECK(keep_for(1ms).span == 1ms);
}
