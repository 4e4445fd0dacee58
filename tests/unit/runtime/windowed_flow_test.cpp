#include "millrace/runtime/windowed_flow.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

struct Bid {
  std::int64_t auction = 0;
  std::int64_t price = 0;
  std::int64_t at = 0;
  [[maybe_unused]] friend auto operator<=>(const Bid&, const Bid&) = default;
};

auto bids() {
  Source<Bid> source;
  source.kind = "none";
  source.address = "bids/*";
  source.open = [](Env&, const std::string&, Position, std::int64_t) {
    return std::unique_ptr<SourceReader<Bid>>();
  };
  return from("bids", source)
      .event_time([](const Bid& bid) { return EventTime{bid.at}; }, disorder(1s))
      .key_by<&Bid::auction>();
}

template <class T>
End ended(const Stream<T>& stream, const std::string& name = "out") {
  TableSchema schema;
  schema.table = name;
  return stream.to(name, staged_table<T>("test.db", schema, [](const T&, CellWriter&) {}));
}

const Node& windows_of(const Job& job) {
  for (const Node* const node : job.nodes()) {
    if (node->role == Node::Role::keyed) return *node;
  }
  throw std::logic_error("there are no windows");
}

template <class T>
struct Collecting final : Consumer<T> {
  std::vector<T> rows;
  std::vector<EventTime> times;
  EventTime marked;
  int flushed = 0;
  bool is_idle = false;
  void take(Batch<T>& batch) override {
    for (const Record<T>& row : batch) {
      rows.push_back(row.value);
      times.push_back(row.time);
    }
  }
  void watermark(EventTime time) override { marked = time; }
  void flush() override { ++flushed; }
  void link(Way, Stage&) override {}
  void set_idle(bool idle) override { is_idle = idle; }
};

/// The window operator of a job, alone: given what travels to it, V, and asked what comes of it.
template <class V, class R>
struct Alone {
  using Out = Windowed<std::int64_t, R>;

  explicit Alone(const Job& job) {
    stage = windows_of(job).make({world.env("windows.0"), {0, 1}, {}});
    stage->link({0, 0, 1}, results);
    if (windows_of(job).outputs.size() == 2) stage->link({1, 0, 1}, late);
  }
  void row(std::int64_t time, std::int64_t key, V value) {
    Batch<Keyed<std::int64_t, V>> rows;
    rows.add(EventTime{time}, Keyed<std::int64_t, V>{key, value});
    Parcel<Keyed<std::int64_t, V>> parcel(std::move(rows));
    stage->deliver(0, parcel);
  }
  void bid(std::int64_t time, std::int64_t key, std::int64_t price) {
    row(time, key, Bid{key, price, time});
  }
  std::vector<R> values() {
    std::vector<R> list;
    for (const Out& row : std::exchange(results.rows, {})) list.push_back(row.value);
    return list;
  }

  FakeWorld world;
  Collecting<Out> results;
  Collecting<V> late;
  std::unique_ptr<Stage> stage;
};

using Numbers = std::vector<std::int64_t>;

std::string complaint_of(std::function<void()> make) {
  return message_of<UsageError>(std::move(make));
}

/// Fires at rows that are dear.
struct AtDearRow {
  using State = Nothing;
  Firing on_row(const Bid& bid, TriggerContext<State>&) const {
    return bid.price >= 100 ? Firing::fire : Firing::go_on;
  }
};

constexpr Duration too_long{std::int64_t{100'000} * 86'400'000 + 1};

}  // namespace

TEST_CASE("windows have a length, and not more than a hundred thousand days", "[runtime][window]") {
  for (const Duration bad :
       {Duration{0}, Duration{-1}, Duration::min(), too_long, Duration::max()}) {
    CAPTURE(bad.count());
    CHECK_THROWS_AS(tumbling(bad), UsageError);
    CHECK_THROWS_AS(sliding(bad, Duration{1}), UsageError);
    CHECK_THROWS_AS(sliding(Duration{10}, bad), UsageError);
    CHECK_THROWS_AS(sessions(bad), UsageError);
  }
  CHECK_THROWS_AS(sliding(Duration{10}, Duration{11}), UsageError);
  CHECK(sliding(Duration{10}, Duration{10}).slide == Duration{10});
  CHECK(sliding(Duration{10}, Duration{1}).slide == Duration{1});
  CHECK(sessions(too_long - Duration{1}).gap == too_long - Duration{1});
  CHECK(complaint_of([] { sessions(Duration{-5}); }) ==
        "a window of -5 ms: its gap is expected to be positive and at most 100,000 days");
  CHECK(complaint_of([] { sliding(Duration{10}, Duration{11}); }) ==
        "a window of 10 ms every 11 ms: its slide is expected to be positive and at most its size");
}

TEST_CASE("an offset is counted within the slide", "[runtime][window]") {
  CHECK(tumbling(Duration{10}, Duration{3}).offset == Duration{3});
  CHECK(tumbling(Duration{10}, Duration{-3}).offset == Duration{7});
  CHECK(tumbling(Duration{10}, Duration{-10}).offset == Duration{0});
  CHECK(sliding(Duration{10}, Duration{4}, Duration{9}).offset == Duration{1});
  CHECK(sliding(Duration{10}, Duration{4}, Duration::min()).offset < Duration{4});
  CHECK(sliding(Duration{10}, Duration{4}, Duration::min()).offset >= Duration{0});
}

TEST_CASE("the windows of a time are those that hold it", "[runtime][window]") {
  for (const Sliding windows :
       {tumbling(Duration{1}), tumbling(Duration{7}, Duration{2}),
        sliding(Duration{10}, Duration{4}, Duration{3}), sliding(Duration{7}, Duration{3}),
        sliding(Duration{6}, Duration{1})}) {
    for (const std::int64_t base :
         {std::int64_t{0}, earliest_event_time.ms, latest_event_time.ms}) {
      for (std::int64_t more = -30; more <= 30; ++more) {
        const EventTime time{base + more};
        CAPTURE(windows.size.count(), windows.slide.count(), time.ms);
        const EventTime pane = windows.pane_start(time);
        REQUIRE((pane <= time && time < pane + windows.pane()));
        std::vector<Window> expected;
        for (std::int64_t start = time.ms - windows.size.count() + 1; start <= time.ms; ++start) {
          if ((start - windows.offset.count()) % windows.slide.count() == 0) {
            expected.push_back({{start}, {start + windows.size.count()}});
          }
        }
        std::vector<Window> found;
        for (Window window = windows.first_window(time); window <= windows.last_window(time);
             window = windows.next(window)) {
          found.push_back(window);
        }
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("a moment beyond the end of time never comes", "[runtime][window]") {
  constexpr std::int64_t most = EventTime::max().ms;
  CHECK(saturated({5}, Duration{3}) == EventTime{8});
  CHECK(saturated({5}, Duration::max()) == EventTime::max());
  CHECK(saturated({5}, Duration{most - 5}) == EventTime::max());
  CHECK(saturated({5}, Duration{most - 6}) == EventTime{most - 1});
  CHECK(saturated({0}, Duration::max()) == EventTime::max());
  CHECK(saturated({-5}, Duration::max()) == EventTime{most - 5});
  CHECK(saturated(EventTime::max(), Duration{1}) == EventTime::max());
}

TEST_CASE("triggers count at least one row, and wait for some time", "[runtime][window]") {
  CHECK_THROWS_AS(every_rows(0), UsageError);
  CHECK_THROWS_AS(early_rows(-1), UsageError);
  CHECK_THROWS_AS(every_wall(Duration{0}), UsageError);
  CHECK(every_rows(1).rows == 1);
}

TEST_CASE("lateness is not negative, and does not go with the choice of the largest",
          "[runtime][window]") {
  CHECK_THROWS_AS(bids().window(tumbling(1s)).allow_lateness(-1ms), UsageError);
  CHECK_NOTHROW(
      bids().window(tumbling(1s)).allow_lateness(0ms).aggregate("n", count(), KeepLargest{}));
  CHECK(complaint_of([] {
          bids().window(tumbling(1s)).allow_lateness(1ms).aggregate("n", count(), KeepLargest{});
        }).starts_with("n: KeepLargest chooses once"));
}

TEST_CASE("what a job's windows are is part of what must not change", "[runtime][window]") {
  const auto fingerprint = [](const auto& windows) {
    return Job("j", ended(windows.aggregate("n", count()))).fingerprint();
  };
  const auto tumbling_1s = fingerprint(bids().window(tumbling(1s)));
  CHECK(tumbling_1s == fingerprint(bids().window(sliding(1s, 1s))));
  CHECK(tumbling_1s != fingerprint(bids().window(tumbling(2s))));
  CHECK(tumbling_1s != fingerprint(bids().window(tumbling(1s, 1ms))));
  CHECK(tumbling_1s != fingerprint(bids().window(sessions(1s))));
  CHECK(tumbling_1s == fingerprint(bids().window(tumbling(1s)).allow_lateness(1s)));
}

TEST_CASE("a window operator gives results, and late rows if they are asked for",
          "[runtime][window]") {
  const Job without("j", ended(bids().window(sessions(1s)).aggregate("n", count())));
  REQUIRE(windows_of(without).outputs.size() == 1);
  CHECK(*windows_of(without).outputs[0]->type == typeid(Windowed<std::int64_t, std::int64_t>));

  const auto [results, late] = bids().window(sessions(1s)).aggregate_and_late("n", count());
  const Job with("j", ended(results, "results"), ended(late, "late"));
  REQUIRE(windows_of(with).outputs.size() == 2);
  CHECK(*windows_of(with).outputs[0]->type == typeid(Windowed<std::int64_t, std::int64_t>));
  CHECK(*windows_of(with).outputs[1]->type == typeid(Bid));
  CHECK(&windows_of(with) == results.closed()[0].node.get());
  CHECK(&windows_of(with) == late.closed()[0].node.get());
}

TEST_CASE("late rows come out whole, with their own times, and are not counted",
          "[runtime][window]") {
  const auto check = [](const auto& windows) {
    const auto [results, late] = windows.aggregate_and_late("n", sum<&Bid::price>());
    Alone<Bid, std::int64_t> alone(Job("j", ended(results, "results"), ended(late, "late")));
    alone.bid(5, 1, 7);
    alone.stage->watermark({1'000'000});
    CHECK(alone.values().front() == 7);
    alone.bid(6, 1, 70);
    alone.bid(8, 2, 700);
    CHECK(alone.late.rows == std::vector<Bid>{{1, 70, 6}, {2, 700, 8}});
    CHECK(alone.late.times == std::vector<EventTime>{{6}, {8}});
    CHECK(alone.late.marked == EventTime{1'000'000});
    CHECK(alone.values().empty());
    alone.stage->flush();
    alone.stage->set_idle(true);
    CHECK(alone.late.flushed == 1);
    CHECK(alone.late.is_idle);
    Snapshot snapshot;
    alone.stage->save(snapshot);
    CHECK(snapshot.acknowledgement.records_late == 0);
    CHECK(alone.world.landmarks.counted("rows_late") == 2);
  };
  check(bids().window(tumbling(10ms)));
  check(bids().window(sliding(10ms, 5ms)).purging().trigger(triggers::AtEnd{}));
  check(bids().window(sessions(10ms)));
}

TEST_CASE("late rows that nobody asked for are counted, also after a restore",
          "[runtime][window]") {
  const auto check = [](const auto& windows, auto row) {
    const Job job("j", ended(windows.aggregate("n", count())));
    Alone<decltype(row), std::int64_t> alone(job);
    alone.stage->watermark({1'000'000});
    alone.row(6, 1, row);
    alone.row(8, 2, row);
    Snapshot snapshot;
    alone.stage->save(snapshot);
    CHECK(snapshot.acknowledgement.records_late == 2);
    CHECK(snapshot.acknowledgement.watermarks ==
          std::vector<OperatorWatermark>{{"n", EventTime{1'000'000}}});

    Encoder out;
    snapshot.parts.at(0).state->write(out);
    Restored restored;
    restored.sections.push_back({groups_of(0, 1), snapshot.parts[0].name, snapshot.parts[0].shape,
                                 Bytes(out.view().begin(), out.view().end())});
    Alone<decltype(row), std::int64_t> other(job);
    other.stage->restore(restored);
    other.row(9, 1, row);
    Snapshot again;
    other.stage->save(again);
    CHECK(again.acknowledgement.records_late == 3);
  };
  check(bids().window(tumbling(10ms)), Partial<std::int64_t>{1, 1});
  check(bids().window(sessions(10ms)), SessionPart<std::int64_t>{1, 1, {9}});
  check(bids().window(sessions(10ms)).trigger(every_rows(1)), Nothing{});
}

TEST_CASE("the largest of a window come out, all of them", "[runtime][window]") {
  const auto check = [](const Sliding& windows, const auto& fold) {
    using Folded = Partial<typename std::decay_t<decltype(fold)>::State>;
    Alone<Folded, std::int64_t> alone(
        Job("j", ended(bids().window(windows).aggregate("n", fold, KeepLargest{}))));
    const auto row = [&](std::int64_t time, std::int64_t key, std::int64_t price) {
      Folded one{{}, 1};
      fold.add(one.state, price);
      alone.row(time, key, one);
    };
    for (const std::int64_t key : {1, 2, 3, 4}) row(5, key, key % 3 * 10 - 20);
    row(15, 1, -5);
    alone.stage->watermark({9});
    Numbers keys;
    for (const auto& result : alone.results.rows) keys.push_back(result.key);
    CHECK(keys == Numbers{2});
    CHECK(alone.values() == Numbers{0});
    alone.stage->watermark({19});
    CHECK(alone.values().back() == -5);
  };
  check(tumbling(10ms), sum<&Bid::price>());
  check(tumbling(10ms), maximum<&Bid::price>());

  Alone<Partial<std::int64_t>, std::int64_t> ties(
      Job("j", ended(bids().window(sliding(10ms, 5ms)).aggregate("n", count(), KeepLargest{}))));
  for (const std::int64_t key : {1, 2, 3, 2, 1}) ties.row(5, key, {1, 1});
  ties.stage->watermark({9});
  CHECK(ties.values() == Numbers{2, 2});
}

TEST_CASE("a fold of whole windows works in panes and key by key", "[runtime][window]") {
  const auto spread = collect<&Bid::price>(
      [](std::span<const std::int64_t> prices) { return prices.back() - prices.front(); });
  const auto check = [&](const auto& windows) {
    Alone<std::int64_t, std::int64_t> alone(Job("j", ended(windows.aggregate("n", spread))));
    for (const std::int64_t price : {30, 10, 50, 20}) alone.row(5, 1, price);
    alone.stage->watermark({14});
    CHECK(alone.values().front() == 40);
  };
  check(bids().window(tumbling(10ms)));
  check(bids().window(sliding(10ms, 5ms)));
  check(bids().window(sessions(10ms)));
  check(bids().window(tumbling(10ms)).purging());
}

TEST_CASE("a trigger that looks at rows is given whole ones", "[runtime][window]") {
  Alone<Bid, std::int64_t> alone(
      Job("j", ended(bids().window(global()).trigger(AtDearRow{}).aggregate("n", count()))));
  alone.bid(5, 1, 10);
  alone.bid(6, 1, 99);
  CHECK(alone.values().empty());
  alone.bid(7, 1, 100);
  CHECK(alone.values() == Numbers{3});
}

TEST_CASE("settings of windows may be given in any order", "[runtime][window]") {
  const auto results = [](const auto& windows) {
    Alone<std::int64_t, std::int64_t> alone(
        Job("j", ended(windows.aggregate("n", sum<&Bid::price>()))));
    alone.row(5, 1, 1);
    alone.row(5, 1, 10);
    alone.stage->watermark({9});
    alone.row(5, 1, 100);
    return alone.values();
  };
  const Numbers expected{11, 100};
  const auto windows = bids().window(tumbling(10ms));
  CHECK(results(windows.allow_lateness(5ms).trigger(early_rows(2)).purging()) == expected);
  CHECK(results(windows.purging().trigger(early_rows(2)).allow_lateness(5ms)) == expected);
  CHECK(results(windows.trigger(early_rows(2)).allow_lateness(5ms).purging()) == expected);
}

TEST_CASE("the node's clock is asked for only by triggers that set alarms by it",
          "[runtime][window]") {
  Alone<SessionPart<std::int64_t>, std::int64_t> plain(
      Job("j", ended(bids().window(sessions(1s)).aggregate("n", count()))));
  plain.row(5, 1, {1, 1, {5}});
  CHECK(plain.stage->next_alarm() == EventTime::max());

  Alone<Partial<std::int64_t>, std::int64_t> waiting(
      Job("j", ended(bids().window(global()).trigger(every_wall(50ms)).aggregate("n", count()))));
  CHECK(waiting.stage->next_alarm() == EventTime::max());
  waiting.world.clock.set_wall({1'000});
  waiting.row(5, 1, {1, 1});
  CHECK(waiting.stage->next_alarm() == EventTime{1'050});
  waiting.world.clock.set_wall({1'020});
  waiting.row(5, 2, {1, 1});
  CHECK(waiting.stage->next_alarm() == EventTime{1'050});
  waiting.stage->ring({1'050});
  CHECK(waiting.stage->next_alarm() == EventTime{1'070});
  CHECK(waiting.values() == Numbers{1});
  waiting.stage->ring({1'080});
  CHECK(waiting.stage->next_alarm() == EventTime::max());
  CHECK(waiting.values() == Numbers{1});
}
