#include "millrace/runtime/flow/combining_writer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/flow/fused_stage.hpp"
#include "millrace/runtime/operators/trigger_window_stage.hpp"
#include "millrace/runtime/operators/window_stage.hpp"

#include "draws.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

struct Sale {
  std::int64_t shop = 0;
  std::int64_t price = 0;
};
struct ShopOf {
  std::int64_t operator()(const Sale& sale) const { return sale.shop; }
};
struct PriceOf {
  std::int64_t operator()(const Sale& sale) const { return sale.price; }
};
using Sum = aggregates::Sum<PriceOf>;
using Combining = CombiningWriter<std::int64_t, Sum, ShopOf, Sliding>;
using Part = Keyed<std::int64_t, Partial<Sum::State>>;

/// What comes to the task that holds the keys.
struct Parts final : Consumer<Part> {
  std::vector<Record<Part>> rows;
  std::vector<std::size_t> marks;  ///< How many rows came before each watermark.
  int flushed = 0;
  std::uint64_t sales() const {
    std::uint64_t sum = 0;
    for (const auto& row : rows) sum += row.value.value.rows;
    return sum;
  }
  void take(Batch<Part>& batch) override { rows.insert(rows.end(), batch.begin(), batch.end()); }
  void watermark(EventTime) override { marks.push_back(rows.size()); }
  void flush() override { ++flushed; }
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}
};

/// A run of steps that ends in a combining writer, and what it sends to one task.
struct Sent {
  explicit Sent(Sliding windows)
      : stage({world.env("steps"), {}, {}}, steps::None{}, Combining(ShopOf{}, Sum{{}}, windows)) {
    stage.link({0, 0, 1}, parts);
    stage.watermark({-1'000});
  }
  void sales(const std::vector<Record<Sale>>& list) {
    Batch<Sale> batch;
    for (const auto& sale : list) {
      batch.add(sale.time, sale.value);
      if (!batch.full()) continue;
      stage.take(batch);
      batch.clear();
    }
    stage.take(batch);
  }
  FakeWorld world;
  Parts parts;
  FusedStage<Sale, steps::None, Combining> stage;
};

struct Results final : Consumer<Windowed<std::int64_t, std::int64_t>> {
  std::vector<std::string> seen;
  void take(Batch<Windowed<std::int64_t, std::int64_t>>& batch) override {
    for (const auto& [time, row] : batch) {
      seen.push_back(std::to_string(row.window.start.ms) + "/" + std::to_string(row.key) + "=" +
                     std::to_string(row.value) + "#" + std::to_string(row.pane));
    }
  }
  void watermark(EventTime) override {}
  void flush() override {}
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}
};

/// Steps, a writer, and the windows of several subtasks behind it, made of `parts`.
template <class Writer, class Windows>
class Pipeline {
 public:
  template <class... Parts>
  Pipeline(Writer writer, int parallelism, const Parts&... parts)
      : steps_({world_.env("steps"), {}, {}}, steps::None{}, std::move(writer)) {
    for (int i = 0; i < parallelism; ++i) {
      const StageContext context{world_.env("w"), {i, parallelism}, {}};
      windows_.push_back(std::make_unique<Windows>(context, "w", parts...));
      windows_.back()->link({0, 0, 1}, results_);
      steps_.link({0, i, parallelism}, *windows_.back());
    }
  }
  Stage& steps() { return steps_; }
  void take(Batch<Sale>& batch) { steps_.take(batch); }
  std::vector<std::string> results() {
    std::sort(results_.seen.begin(), results_.seen.end());
    return results_.seen;
  }
  std::uint64_t late() {
    std::uint64_t sum = 0;
    for (auto& stage : windows_) {
      Snapshot snapshot;
      stage->save(snapshot);
      sum += snapshot.acknowledgement.records_late;
    }
    return sum;
  }

 private:
  FakeWorld world_;
  Results results_;
  std::vector<std::unique_ptr<Windows>> windows_;
  FusedStage<Sale, steps::None, Writer> steps_;
};

}  // namespace

TEST_CASE("rows of one key and pane travel as one", "[runtime][window]") {
  Sent sent(tumbling(Duration{10}));
  sent.sales({{{1}, {7, 1}}, {{5}, {7, 10}}, {{9}, {8, 100}}, {{3}, {7, 1'000}}});
  CHECK(sent.parts.rows.empty());
  sent.stage.flush();

  REQUIRE(sent.parts.rows.size() == 2);
  std::sort(sent.parts.rows.begin(), sent.parts.rows.end(),
            [](const auto& a, const auto& b) { return a.value.key < b.value.key; });
  CHECK(sent.parts.rows[0].value.key == 7);
  CHECK(sent.parts.rows[0].value.value.rows == 3);
  CHECK(sent.parts.rows[0].value.value.state.total == 1'011);
  CHECK(sent.parts.rows[1].value.value.rows == 1);
  CHECK(sent.parts.flushed == 1);
}

TEST_CASE("what is held leaves before a window of it ends, and not earlier", "[runtime][window]") {
  Sent sent(sliding(Duration{10}, Duration{5}));
  sent.parts.marks.clear();
  sent.sales({{{2}, {7, 1}}, {{3}, {7, 1}}});
  sent.stage.watermark({3});
  sent.stage.watermark({4});  // The first window of the pane from 0 to 5 ends.
  CHECK(sent.parts.marks == std::vector<std::size_t>{0, 1});
  sent.sales({{{12}, {7, 1}}, {{7}, {7, 1}}, {{8}, {7, 1}}});
  sent.stage.watermark({8});
  sent.stage.watermark({9});
  CHECK(sent.parts.marks.back() == 3);
  CHECK(sent.parts.sales() == 5);
}

TEST_CASE("what is held leaves before the stream falls idle", "[runtime][window]") {
  Sent sent(tumbling(Duration{10}));
  sent.sales({{{2}, {7, 1}}});
  sent.stage.set_idle(true);
  CHECK(sent.parts.sales() == 1);
}

TEST_CASE("rows that may be late travel alone", "[runtime][window]") {
  Sent sent(tumbling(Duration{10}));
  sent.stage.watermark({9});
  sent.sales({{{2}, {7, 1}}, {{3}, {7, 1}}, {{12}, {7, 1}}, {{4}, {7, 1}}});
  CHECK(sent.parts.rows.size() == 3);
  CHECK(sent.parts.sales() == 3);
}

TEST_CASE("until the first watermark everything travels alone", "[runtime][window]") {
  FakeWorld world;
  Parts parts;
  FusedStage<Sale, steps::None, Combining> stage(
      {world.env("steps"), {}, {}}, steps::None{},
      Combining(ShopOf{}, Sum{{}}, tumbling(Duration{10})));
  stage.link({0, 0, 1}, parts);
  Batch<Sale> batch;
  batch.add(EventTime{2}, Sale{7, 1});
  batch.add(EventTime{3}, Sale{7, 1});
  stage.take(batch);
  CHECK(parts.rows.size() == 2);
}

TEST_CASE("where keys come again soon few rows travel, and where they do not all do, unheld",
          "[runtime][window]") {
  const auto sent_of = [](std::uint64_t shops) {
    Sent sent(tumbling(Duration{1'000'000}));
    Draws draws(shops);
    std::vector<Record<Sale>> list;
    for (std::int64_t i = 0; i < 100'000; ++i) {
      list.push_back({{i}, {static_cast<std::int64_t>(draws.below(shops)), 1}});
    }
    sent.sales(list);
    const std::size_t before_flush = sent.parts.rows.size();
    sent.stage.flush();
    CHECK(sent.parts.sales() == 100'000);
    return std::pair{before_flush, sent.parts.rows.size()};
  };
  CHECK(sent_of(50).second < 25'000);  // Some share a place, and push each other out.
  const auto [before, after] = sent_of(1'000'000);
  CHECK(after > 90'000);
  CHECK(after - before < 512);
}

namespace {

constexpr auto price_of = [](const Sale& sale) { return sale.price; };
using Whole = KeyedWriter<std::int64_t, std::int64_t, ShopOf, decltype(price_of)>;

/// Tells the same to windows behind a writer that combines and behind one that does not: rows that
/// come up to `disorder` behind the newest, and in lulls of up to `lull`.
template <class A, class B>
void expect_equal(A& whole, B& combined, Draws& draws, std::uint64_t disorder, std::uint64_t lull) {
  const auto both = [&](auto act) {
    act(whole);
    act(combined);
  };
  const std::uint64_t shops = draws.one_in(2) ? 5 : 3'000;
  std::int64_t now = -100;
  for (int i = 0; i < 400; ++i) {
    const std::size_t rows = 1 + draws.below(40);
    if (draws.one_in(6)) now += static_cast<std::int64_t>(draws.below(lull));
    std::vector<Record<Sale>> list;
    for (std::size_t r = 0; r < rows; ++r) {
      now += static_cast<std::int64_t>(draws.one_in(10) ? 1 : 0);
      list.push_back({{now - static_cast<std::int64_t>(draws.below(disorder))},
                      {static_cast<std::int64_t>(draws.below(shops)),
                       static_cast<std::int64_t>(draws.below(100))}});
    }
    both([&](auto& pipeline) {
      Batch<Sale> batch;
      for (const auto& sale : list) batch.add(sale.time, sale.value);
      pipeline.take(batch);
    });
    if (draws.one_in(3)) {
      const EventTime mark{now - 20 - static_cast<std::int64_t>(draws.below(3))};
      both([&](auto& pipeline) { pipeline.steps().watermark(mark); });
    }
    if (draws.one_in(9)) both([](auto& pipeline) { pipeline.steps().flush(); });
  }
  both([](auto& pipeline) {
    pipeline.steps().watermark(EventTime::max());
    pipeline.steps().flush();
  });
  CHECK((combined.results() == whole.results()));
  CHECK(combined.late() == whole.late());
  CHECK(!whole.results().empty());
}

/// With several lanes it depends on where batches end which rows are late by their own stream's
/// watermark: it waits for the rows before it.
std::uint64_t disorder_of(int parallelism) { return parallelism == 1 ? 30 : 20; }

/// For windows that are kept key by key.
template <class Windows, class Tr, bool purges>
void expect_equal_by_key(std::uint64_t seed, Windows windows, Tr trigger) {
  CAPTURE(seed);
  Draws draws(seed);
  using Folding = CombiningWriter<std::int64_t, Sum, ShopOf, Windows>;
  using OfRows = TriggerWindowStage<std::int64_t, std::int64_t, Sum, Windows, Tr, purges>;
  using OfParts = TriggerWindowStage<std::int64_t, typename Folding::Part,
                                     aggregates::OfPartials<Sum>, Windows, Tr, purges>;
  const Duration lateness{static_cast<std::int64_t>(seed % 4) * 9};
  const int parallelism = 1 + static_cast<int>(draws.below(3));
  Pipeline<Whole, OfRows> whole(Whole(ShopOf{}, price_of), parallelism, Sum{{}}, windows, trigger,
                                lateness);
  Pipeline<Folding, OfParts> combined(Folding(ShopOf{}, Sum{{}}, windows), parallelism,
                                      aggregates::OfPartials<Sum>{{}}, windows, trigger, lateness);
  expect_equal(whole, combined, draws, disorder_of(parallelism), 40);
}

}  // namespace

TEST_CASE("combining changes no result, however rows come", "[runtime][window]") {
  using OfRows = WindowStage<std::int64_t, std::int64_t, Sum>;
  using OfParts = WindowStage<std::int64_t, Partial<Sum::State>, aggregates::OfPartials<Sum>>;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    const Sliding windows = seed % 3 == 0   ? tumbling(Duration{20})
                            : seed % 3 == 1 ? sliding(Duration{20}, Duration{5}, Duration{2})
                                            : sliding(Duration{14}, Duration{4});
    const Duration lateness{static_cast<std::int64_t>(seed % 4) * 9};
    const int parallelism = 1 + static_cast<int>(draws.below(3));
    Pipeline<Whole, OfRows> whole(Whole(ShopOf{}, price_of), parallelism, Sum{{}}, windows,
                                  lateness);
    Pipeline<Combining, OfParts> combined(Combining(ShopOf{}, Sum{{}}, windows), parallelism,
                                          aggregates::OfPartials<Sum>{{}}, windows, lateness);
    expect_equal(whole, combined, draws, disorder_of(parallelism), 1);
  }
}

TEST_CASE("combining changes no session, however rows come", "[runtime][window]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Sessions windows{Duration{static_cast<std::int64_t>(1 + seed % 13)}};
    expect_equal_by_key<Sessions, triggers::AtEnd, false>(seed, windows, {});
    expect_equal_by_key<Sessions, triggers::AtEnd, true>(seed, windows, {});
  }
}

TEST_CASE("combining changes no window that is kept key by key", "[runtime][window]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    expect_equal_by_key<Global, triggers::AtEnd, false>(seed, {}, {});
    expect_equal_by_key<Sliding, triggers::AtEnd, true>(
        seed, sliding(Duration{20}, Duration{5}, Duration{2}), {});
  }
}

TEST_CASE("rows of a session travel as one, with their first and last time", "[runtime][window]") {
  using Folding = CombiningWriter<std::int64_t, Sum, ShopOf, Sessions>;
  struct Seen final : Consumer<Keyed<std::int64_t, Folding::Part>> {
    std::vector<std::string> rows;
    void take(Batch<Keyed<std::int64_t, Folding::Part>>& batch) override {
      for (const auto& [time, row] : batch) {
        rows.push_back(std::to_string(row.key) + ":" + std::to_string(time.ms) + ".." +
                       std::to_string(row.value.last.ms) + "x" + std::to_string(row.value.rows));
      }
    }
    void watermark(EventTime time) override { rows.push_back(std::to_string(time.ms)); }
    void flush() override {}
    void link(Way, Stage&) override {}
    void set_idle(bool) override {}
  };
  FakeWorld world;
  Seen seen;
  FusedStage<Sale, steps::None, Folding> stage({world.env("steps"), {}, {}}, steps::None{},
                                               Folding(ShopOf{}, Sum{{}}, sessions(Duration{10})));
  stage.link({0, 0, 1}, seen);
  const auto sale = [&](std::int64_t time) {
    Batch<Sale> batch;
    batch.add(EventTime{time}, Sale{7, 1});
    stage.take(batch);
  };
  stage.watermark({0});
  for (const std::int64_t time : {20, 30, 12}) sale(time);
  stage.watermark({10});
  stage.watermark({11});  // What is at 12 may belong to a session that ends with the instant 11.
  for (const std::int64_t time : {20, 30, 41}) sale(time);  // The last is too far away.
  stage.watermark({19});
  sale(20);  // May be late for a session already, and goes alone.
  CHECK(seen.rows == std::vector<std::string>{"0", "10", "7:12..30x3", "11", "7:20..30x2",
                                              "7:41..41x1", "19", "7:20..20x1"});
}

namespace {

/// The highest prices: a list, but a short one.
struct Highest {
  static constexpr bool shrinks = true;
  struct State {
    std::vector<std::int64_t> prices;
  };
  std::int64_t pick(const Sale& sale) const { return sale.price; }
  void add(State& s, std::int64_t price) const {
    if (!s.prices.empty() && price < s.prices.front()) return;
    if (!s.prices.empty() && s.prices.front() < price) s.prices.clear();
    s.prices.push_back(price);
  }
  void merge(State& s, const State& other) const {
    for (const std::int64_t price : other.prices) add(s, price);
  }
  std::size_t result(const State& s) const { return s.prices.size(); }
};

}  // namespace

TEST_CASE("states that take memory are held if the fold says that they stay small",
          "[runtime][window]") {
  using Folding = CombiningWriter<std::int64_t, Highest, ShopOf, Sliding>;
  struct Seen final : Consumer<Keyed<std::int64_t, Folding::Part>> {
    std::vector<std::int64_t> prices;
    void take(Batch<Keyed<std::int64_t, Folding::Part>>& batch) override {
      for (const auto& row : batch) {
        const auto& held = row.value.value.state.prices;
        prices.insert(prices.end(), held.begin(), held.end());
      }
    }
    void watermark(EventTime) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
    void set_idle(bool) override {}
  };
  static_assert(Folding::is_worth_it);
  FakeWorld world;
  Seen seen;
  FusedStage<Sale, steps::None, Folding> stage(
      {world.env("steps"), {}, {}}, steps::None{},
      Folding(ShopOf{}, Highest{}, tumbling(Duration{10})));
  stage.link({0, 0, 1}, seen);
  stage.watermark({-1});
  for (int round = 0; round < 2; ++round) {  // A place that was emptied begins anew.
    Batch<Sale> batch;
    for (const std::int64_t price : {3, 5, 4, 5, 1}) batch.add(EventTime{2}, Sale{7, price});
    stage.take(batch);
    stage.flush();
  }
  CHECK(seen.prices == std::vector<std::int64_t>{5, 5, 5, 5});
}
