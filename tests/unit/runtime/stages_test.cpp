#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/stream.hpp"

#include "draws.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

struct Small {
  std::int64_t number = 0;
  std::int64_t at = 0;
};
/// A row of which a batch holds only a few.
struct Large {
  std::int64_t number = 0;
  std::int64_t at = 0;
  std::array<char, 2'000> rest{};
};

template <class T>
std::vector<T> some_rows(int count) {
  Draws draws(51);
  std::vector<T> rows(static_cast<std::size_t>(count));
  for (T& row : rows) {
    row.number = static_cast<std::int64_t>(draws.below(200)) - 100;
    row.at = static_cast<std::int64_t>(draws.below(1'000));
  }
  return rows;
}

/// What a stage hands on: rows with their times, watermarks and flushes, in order.
struct Handed {
  std::string what;
  std::int64_t time = 0;
  std::int64_t number = 0;
  friend bool operator==(const Handed&, const Handed&) = default;
};

template <class T, class NumberOf>
class Collecting final : public Consumer<T> {
 public:
  explicit Collecting(NumberOf number_of) : number_of_(number_of) {}
  std::vector<Handed> handed;
  std::size_t largest_batch = 0;

  void take(Batch<T>& rows) override {
    CHECK_FALSE(rows.empty());
    largest_batch = std::max<std::size_t>(largest_batch, rows.size());
    for (const auto& row : rows) handed.push_back({"row", row.time.ms, number_of_(row.value)});
  }
  void watermark(EventTime time) override { handed.push_back({"watermark", time.ms, 0}); }
  void flush() override { handed.push_back({"flush", 0, 0}); }
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}

 private:
  NumberOf number_of_;
};

template <class T>
Source<T> no_source() {
  Source<T> source;
  source.open = [](Env&, const std::string&, Position, std::int64_t) {
    return std::unique_ptr<SourceReader<T>>();
  };
  return source;
}

template <class T>
auto flow_of() {
  return from("rows", no_source<T>())
      .event_time([](const T& row) { return EventTime{row.at}; }, {});
}

/// Steps of every kind.
template <class T>
auto with_steps() {
  return flow_of<T>()
      .filter([](const T& row) { return row.number != 0; })
      .map([](const T& row) { return row.number * 10; })
      .flat_map([](std::int64_t number) {
        return number % 3 == 0 ? std::optional<std::int64_t>() : number;
      })
      .flat_map([](std::int64_t number) {
        return std::vector<std::int64_t>{number, number + 1};
      });
}

/// What those steps make of a row, one at a time.
template <class T>
std::vector<Handed> expected_of(const std::vector<T>& rows) {
  std::vector<Handed> expected;
  for (const T& row : rows) {
    const std::int64_t number = row.number * 10;
    if (number == 0 || number % 3 == 0) continue;
    expected.push_back({"row", row.at, number});
    expected.push_back({"row", row.at, number + 1});
  }
  return expected;
}

constexpr auto same_number = [](std::int64_t number) { return number; };

/// The steps that follow a source, made and linked to `next`.
template <class T>
std::unique_ptr<Stage> make_stage(FakeWorld& world, const NodePtr& node, Stage& next) {
  auto stage = node->make({world.env("steps.0"), {0, 1}, {}});
  stage->link({}, next);
  return stage;
}

/// Lends rows in pieces of some size.
template <class T>
EventTime lend(Stage& stage, const std::vector<T>& rows, std::size_t piece) {
  auto& borrower = static_cast<Borrower<T>&>(stage);
  EventTime newest = EventTime::min();
  for (std::size_t at = 0; at < rows.size(); at += piece) {
    newest = std::max(newest, borrower.borrow(rows.data() + at, std::min(piece, rows.size() - at)));
  }
  return newest;
}

template <class T>
std::vector<Handed> run_steps(const std::vector<T>& rows, std::size_t piece) {
  FakeWorld world;
  Collecting<std::int64_t, decltype(same_number)> next(same_number);
  const auto stage = make_stage<T>(world, with_steps<T>().closed()[0].node, next);
  lend(*stage, rows, piece);
  return next.handed;
}

using Pair = Keyed<std::int64_t, std::int64_t>;
constexpr auto value_of_pair = [](const Pair& pair) { return pair.key * 1'000 + pair.value; };
using PairConsumer = Collecting<Pair, decltype(value_of_pair)>;

/// A keyed writer's end of steps over plain numbers, linked to so many lanes.
struct Exchange {
  struct Take {
    std::int64_t operator()(std::int64_t number) const { return number; }
  };
  struct KeyOf {
    std::int64_t operator()(std::int64_t number) const { return number % 50; }
  };
  using Writer = KeyedWriter<std::int64_t, std::int64_t, KeyOf, Take>;
  using Steps = FusedStage<std::int64_t, steps::None, Writer>;

  explicit Exchange(int lanes) : stage({world.env(), {}, {}}, {}, Writer({}, {})) {
    for (int lane = 0; lane < lanes; ++lane) {
      consumers.push_back(std::make_unique<PairConsumer>(value_of_pair));
    }
    for (int lane = 0; lane < lanes; ++lane) {
      stage.link({0, lane, lanes}, *consumers[static_cast<std::size_t>(lane)]);
    }
  }
  void take(std::int64_t first, std::int64_t count) {
    Batch<std::int64_t> batch;
    for (std::int64_t i = first; i < first + count; ++i) {
      batch.add(EventTime{i}, i);
      if (!batch.full() && i + 1 < first + count) continue;
      stage.take(batch);
      batch.clear();
    }
  }

  FakeWorld world;
  Steps stage;
  std::vector<std::unique_ptr<PairConsumer>> consumers;
};

std::vector<Handed> rows_of(const std::vector<Handed>& handed) {
  std::vector<Handed> rows;
  std::copy_if(handed.begin(), handed.end(), std::back_inserter(rows),
               [](const Handed& one) { return one.what == "row"; });
  return rows;
}

}  // namespace

TEST_CASE("fused steps give the same whatever number of rows they are lent at once",
          "[runtime][stages]") {
  const auto small = some_rows<Small>(3'000);
  const auto large = some_rows<Large>(300);
  CHECK(Batch<Large>::room() == 16);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1'024}}) {
    CAPTURE(piece);
    CHECK(run_steps(small, piece) == expected_of(small));
    CHECK(run_steps(large, piece) == expected_of(large));
  }
}

TEST_CASE("fused steps over batches give the same whatever room the batches have",
          "[runtime][stages]") {
  // The first steps end in batches of Large, of which 16 rows fit, or of one row each.
  for (const bool one_by_one : {false, true}) {
    FakeWorld world;
    Collecting<std::int64_t, decltype(same_number)> last(same_number);
    const Stream<Large> rows = flow_of<Large>().filter([](const Large&) { return true; });
    const auto second = rows.map([](const Large& row) { return row.number * 10; }).closed()[0].node;
    const auto next = make_stage<Large>(world, second, last);
    const auto first = make_stage<Large>(world, second->inputs[0].from, *next);
    const auto lent = some_rows<Large>(100);
    lend(*first, lent, one_by_one ? 1 : lent.size());

    std::vector<Handed> expected;
    for (const Large& row : lent) expected.push_back({"row", row.at, row.number * 10});
    CHECK(last.handed == expected);
  }
}

TEST_CASE("no batch holds more than its room", "[runtime][stages]") {
  FakeWorld world;
  const auto number_of = [](const Large& row) { return row.number; };
  Collecting<Large, decltype(number_of)> next(number_of);
  const Stream<Large> rows = flow_of<Large>().filter([](const Large&) { return true; });
  const auto stage =
      make_stage<Large>(world, rows.to("sink", Sink<Large>{}).sink()->inputs[0].from, next);

  lend(*stage, some_rows<Large>(100), 100);

  CHECK(next.handed.size() == 100);
  CHECK(next.largest_batch == 16);
}

TEST_CASE("the newest time that was lent counts also if its row was filtered out",
          "[runtime][stages]") {
  FakeWorld world;
  Collecting<std::int64_t, decltype(same_number)> next(same_number);
  const auto none =
      flow_of<Small>().filter([](const Small&) { return false; }).map([](const Small& row) {
        return row.number;
      });
  const auto stage = make_stage<Small>(world, none.closed()[0].node, next);

  CHECK(lend(*stage, std::vector<Small>{{1, 5}, {2, 9}, {3, 7}}, 10) == EventTime{9});
  CHECK(lend(*stage, std::vector<Small>{{1, -5}}, 10) == EventTime{-5});
  CHECK(next.handed.empty());
}

TEST_CASE("watermarks and flushes follow the rows before them", "[runtime][stages]") {
  FakeWorld world;
  Collecting<std::int64_t, decltype(same_number)> next(same_number);
  const auto numbers = flow_of<Small>().map([](const Small& row) { return row.number; });
  const auto stage = make_stage<Small>(world, numbers.closed()[0].node, next);
  lend(*stage, std::vector<Small>{{1, 5}, {2, 6}}, 10);
  stage->watermark({5});
  lend(*stage, std::vector<Small>{{3, 7}}, 10);
  stage->flush();

  CHECK(next.handed ==
        std::vector<Handed>{
            {"row", 5, 1}, {"row", 6, 2}, {"watermark", 5, 0}, {"row", 7, 3}, {"flush", 0, 0}});
}

TEST_CASE("rows that go to several stages go to each of them whole", "[runtime][stages]") {
  FakeWorld world;
  const auto length_of = [](const std::string& text) {
    return static_cast<std::int64_t>(text.size());
  };
  Collecting<std::string, decltype(length_of)> one(length_of);
  Collecting<std::string, decltype(length_of)> other(length_of);
  const auto texts = flow_of<Small>().map(
      [](const Small& row) { return std::string(static_cast<std::size_t>(row.number), 'x'); });
  const auto stage = make_stage<Small>(world, texts.closed()[0].node, one);
  stage->link({}, other);

  lend(*stage, std::vector<Small>{{40, 5}, {2, 6}}, 10);
  stage->watermark({5});

  CHECK(one.handed == std::vector<Handed>{{"row", 5, 40}, {"row", 6, 2}, {"watermark", 5, 0}});
  CHECK(other.handed == one.handed);
}

TEST_CASE("an exchange sends every row to the lane that owns its key", "[runtime][stages]") {
  for (const int lanes : {1, 2, 3, 7}) {
    Exchange exchange(lanes);
    exchange.take(0, 5'000);
    exchange.stage.flush();

    std::size_t total = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      std::int64_t last_time = -1;
      for (const Handed& row :
           rows_of(exchange.consumers[static_cast<std::size_t>(lane)]->handed)) {
        const std::int64_t key = row.time % 50;
        CHECK(row.number == key * 1'000 + row.time);
        REQUIRE(owner_of(group_of(hash_key(key)), lanes) == lane);
        REQUIRE(row.time > last_time);  // In order within a lane.
        last_time = row.time;
        ++total;
      }
    }
    CHECK(total == 5'000);
  }
}

TEST_CASE("a watermark travels behind the rows before it, into every lane at a flush",
          "[runtime][stages]") {
  for (const int lanes : {1, 2, 5}) {
    Exchange exchange(lanes);
    exchange.take(0, 20);
    exchange.stage.watermark({10});
    exchange.take(20, 20);
    exchange.stage.watermark({30});
    exchange.stage.flush();
    exchange.stage.flush();

    CAPTURE(lanes);
    for (const auto& consumer : exchange.consumers) {
      std::int64_t watermark = EventTime::min().ms;
      for (const Handed& one : consumer->handed) {
        if (one.what == "watermark") {
          CHECK(one.time > watermark);  // It rises, and is not told twice.
          watermark = one.time;
        }
        // No row behind a watermark that was put before the watermark was.
        if (one.what == "row" && one.time < 20) CHECK(watermark == EventTime::min().ms);
      }
      CHECK(watermark == 30);
      CHECK(consumer->handed.back().what == "flush");
    }
  }
}

TEST_CASE("rows wait in their lane until its batch is full, and a watermark with them",
          "[runtime][stages]") {
  Exchange exchange(2);
  exchange.take(0, 10);
  exchange.stage.watermark({5});
  for (const auto& consumer : exchange.consumers) CHECK(consumer->handed.empty());

  exchange.take(10, 10 * Batch<Pair>::room());
  for (const auto& consumer : exchange.consumers) {
    REQUIRE_FALSE(consumer->handed.empty());
    CHECK(consumer->largest_batch == Batch<Pair>::room());
    const auto watermark =
        std::find(consumer->handed.begin(), consumer->handed.end(), Handed{"watermark", 5, 0});
    CHECK(watermark - consumer->handed.begin() == Batch<Pair>::room());  // Behind the first.
  }
}

TEST_CASE("a stage that fails while a batch is handed on loses no row and frees none twice",
          "[runtime][stages]") {
  class Failing final : public Consumer<std::string> {
   public:
    void take(Batch<std::string>& rows) override {
      const Batch<std::string> taken = std::move(rows);  // As a lane does.
      throw ConnectionLost("in the middle");
    }
    void watermark(EventTime) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
    void set_idle(bool) override {}
  };
  FakeWorld world;
  Failing next;
  const auto texts = flow_of<Small>().map([](const Small& row) {
    return "a text that is longer than what fits into itself " + std::to_string(row.number);
  });
  const auto stage = make_stage<Small>(world, texts.closed()[0].node, next);

  CHECK_THROWS_AS(lend(*stage, some_rows<Small>(2'000), 2'000), ConnectionLost);
}

TEST_CASE("a batch holds about 12 KiB, and sixteen rows at least", "[runtime][stages]") {
  CHECK(Batch<Small>::room() == 512);
  CHECK(Batch<std::int64_t>::room() == 768);
  CHECK(Batch<Nothing>::room() == 768);
  CHECK(Batch<std::array<char, 1'000'000>>::room() == 16);
}
