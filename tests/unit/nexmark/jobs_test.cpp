// The queries on the whole processor, in threads as for real, over rows in memory: what comes out
// is what the reference says, on one subtask and on two.

#include "millrace/nexmark/jobs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/reference.hpp"
#include "millrace/runtime/values.hpp"

#include "real_run.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

/// A sink that keeps its rows, those of each subtask in their order.
template <class Row>
class Kept {
 public:
  Sink<Row> sink() const {
    Sink<Row> sink;
    sink.kind = "kept";
    sink.open = [kept = kept_](const StageContext& context, const std::string& name) {
      return std::make_unique<Keeping>(kept->at(static_cast<std::size_t>(context.at.index)), name);
    };
    return sink;
  }
  std::vector<Row> rows() const {
    std::vector<Row> all;
    for (const auto& of_subtask : *kept_)
      all.insert(all.end(), of_subtask.begin(), of_subtask.end());
    return all;
  }

 private:
  using Parts = std::array<std::vector<Row>, 2>;

  class Keeping final : public Consumer<Row> {
   public:
    Keeping(std::vector<Row>& kept, std::string name) : kept_(kept), name_(std::move(name)) {}
    void take(Batch<Row>& rows) override {
      for (Record<Row>& row : rows) kept_.push_back(std::move(row.value));
    }
    void watermark(EventTime) override {}
    void set_idle(bool) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
    void save(Snapshot& snapshot) override { snapshot.sinks.push_back(name_); }

   private:
    std::vector<Row>& kept_;
    std::string name_;
  };

  std::shared_ptr<Parts> kept_ = std::make_shared<Parts>();
};

template <class Row>
using Query = Job (*)(const Source<Event>&, const Sink<Row>&);

/// What a query gives of events in so many partitions.
template <class Row>
std::vector<Row> rows_of(Query<Row> query, const std::vector<Event>& events, int partitions,
                         std::uint32_t subtasks) {
  const Kept<Row> kept;
  bench::run_for_real(query(values(events, partitions), kept.sink()), subtasks);
  return kept.rows();
}

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::ranges::sort(rows);
  return rows;
}

/// What is left in an upsert table: the last row of each key.
template <class Row, class KeyOf>
std::vector<Row> last_of_each(const std::vector<Row>& rows, KeyOf key_of) {
  std::map<decltype(key_of(rows.front())), Row> last;
  for (const Row& row : rows) last[key_of(row)] = row;
  std::vector<Row> left;
  for (const auto& [key, row] : last) left.push_back(row);
  return sorted(left);
}

/// A bidder's counts, added up.
std::vector<BidderCount> totals(const std::vector<BidderCount>& counts) {
  std::map<std::int64_t, std::int64_t> bids;
  for (const BidderCount& count : counts) bids[count.bidder] += count.bids;
  std::vector<BidderCount> rows;
  for (const auto& [bidder, total] : bids) rows.push_back({bidder, total});
  return rows;
}

constexpr auto bidder_of = [](const BidderCount& row) { return row.bidder; };
constexpr auto day_of = [](const AuctionDay& row) { return std::tuple(row.auction, row.day); };
constexpr auto pair_of = [](const Bid& row) { return std::tuple(row.bidder, row.auction); };

void agree(const std::vector<Event>& events, int partitions, std::uint32_t subtasks) {
  CAPTURE(partitions, subtasks);
  const auto rows = [&](auto query) { return rows_of(query, events, partitions, subtasks); };
  CHECK(sorted(rows(q0)) == reference::q0(events));
  CHECK(sorted(rows(q1)) == reference::q1(events));
  CHECK(sorted(rows(q2)) == reference::q2(events));
  CHECK(sorted(rows(q3)) == reference::q3(events));
  CHECK(sorted(rows(q4)) == reference::q4(events));
  CHECK(sorted(rows(q5)) == reference::q5(events));
  CHECK(sorted(rows(q7)) == reference::q7(events));
  CHECK(sorted(rows(q8)) == reference::q8(events));
  CHECK(sorted(rows(q11)) == reference::q11(events));
  CHECK(totals(rows(q12)) == reference::q12(events));
  CHECK(last_of_each(rows(q12_total), bidder_of) == reference::q12(events));
  CHECK(last_of_each(rows(q17), day_of) == reference::q17(events));
  CHECK(last_of_each(rows(q18), pair_of) == reference::q18(events));
}

std::vector<Event> events_at(std::int64_t events_per_second, std::int64_t out_of_order_group) {
  GeneratorConfig config;
  config.events = 20'000;
  config.events_per_second = events_per_second;
  config.generators = 4;
  config.out_of_order_group = out_of_order_group;
  return all_events(config);
}

}  // namespace

TEST_CASE("the queries give the rows of the reference", "[nexmark][jobs]") {
  agree(events_at(50, 1), 4, 1);
  agree(events_at(20'000, 1), 4, 2);
}

TEST_CASE("events that are not in the order of their times change no row", "[nexmark][jobs]") {
  agree(events_at(100, 100), 4, 2);  // Four seconds' worth.
}

TEST_CASE("the queries give as many rows as Beam", "[nexmark][jobs][golden]") {
  const std::vector<Event> smoke = all_events({});
  const auto count = [&](auto query) { return rows_of(query, smoke, 100, 2).size(); };
  CHECK(count(q0) == 100'000);
  CHECK(count(q1) == 92'000);
  CHECK(count(q2) == 351);
  CHECK(count(q3) == 580);  // See golden_test.cpp.
  CHECK(count(q5) == 12);
  CHECK(count(q7) == 1);
  CHECK(count(q8) == 6'000);
  CHECK(count(q11) == 1'919);
  CHECK(totals(rows_of(q12, smoke, 100, 2)).size() == 1'919);
  CHECK(rows_of(q4, all_events({.events = 10'000}), 100, 2).size() == 40);
}
