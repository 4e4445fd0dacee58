// How many events a second each query of Nexmark takes: the processor, and the loop that somebody
// would write by hand. And how long it takes to make an event.
//
//   nexmark [--json] [--only=PART-OF-A-NAME] [EVENTS]
//
// Events lie in memory, 48 bytes each and without texts. Every event counts, also those that a
// query has no use for. The processor runs as for real, but on one core and without a database.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "millrace/nexmark/generator.hpp"
#include "millrace/runtime/values.hpp"

#include "figures.hpp"
#include "nexmark_floors.hpp"
#include "nexmark_queries.hpp"

namespace millrace::bench {
namespace {

constexpr int rounds = 5;

nexmark::GeneratorConfig config_of(std::int64_t events, std::int64_t events_per_second) {
  nexmark::GeneratorConfig config;
  config.events = events;
  config.events_per_second = events_per_second;
  config.generators = 1;
  return config;
}

template <class Act>
double ns_per_event(std::int64_t events, Act act) {
  std::vector<double> found;
  for (int i = 0; i < rounds; ++i) {
    found.push_back(seconds_of(act) * 1e9 / static_cast<double>(events));
  }
  return median(found);
}

/// Keeps the compiler from leaving out what nobody asks for.
void use(std::uint64_t value) {
  volatile std::uint64_t place = value;
  static_cast<void>(place);
}

void bench_generator(const Report& report, std::int64_t events) {
  const nexmark::Generator generator(config_of(events, 100'000));
  const auto make_all = [&](auto make) {
    return ns_per_event(events, [&] {
      Tally tally;
      for (std::int64_t i = 0; i < events; ++i) tally.add(make(i));
      use(tally.check);
    });
  };
  if (report.wants("nexmark/generator")) {
    report.add({"nexmark/generator", "ns",
                make_all([&](std::int64_t place) { return generator.at(place); })});
  }
  if (report.wants("nexmark/generator-texts")) {
    nexmark::Texts texts;
    report.add({"nexmark/generator-texts", "ns",
                make_all([&](std::int64_t place) { return generator.at(place, texts); })});
  }
}

/// Looks at every event and does nothing: no query can take less out of memory.
Tally read_all(Events events) {
  Tally tally;
  for (const nexmark::Event& event : events) {
    tally.rows += is_bid(event) ? 1 : 0;
    tally.check ^= word(event.price);
  }
  return tally;
}

/// Events that lie in memory once, for those who read them directly and for the processor.
struct Lent {
  Lent(std::int64_t count, std::int64_t events_per_second) {
    auto made = nexmark::all_events(config_of(count, events_per_second));
    events = made;  // Moving leaves them where they are.
    source = values(std::move(made));
  }
  Events events;
  Source<nexmark::Event> source;
};

const Query* query_of(const Floor& floor) {
  const auto found = std::ranges::find(queries(), floor.name, &Query::name);
  return found == queries().end() ? nullptr : &*found;
}

void expect_equal(const Query& query, const Tally& found, const Tally& floor) {
  const bool is_equal = (!query.has_rows || found.rows == floor.rows) &&
                        (!query.has_check || found.check == floor.check);
  if (is_equal) return;
  throw std::runtime_error(
      fmt::format("{} gave {} rows with the check {:x}, its floor {} with {:x}", query.name,
                  found.rows, found.check, floor.rows, floor.check));
}

void bench_query(const Report& report, const Query& query, const Floor& floor, const Lent& lent) {
  const std::string name = fmt::format("nexmark/{}", query.name);
  if (!report.wants(name)) return;
  const auto millions = static_cast<double>(lent.events.size()) / 1e6;
  Tally found;
  Tally due;
  const auto [value, least] = medians_of(
      rounds, [&] { return millions / seconds_of([&] { found = query.run(lent.source); }); },
      [&] { return millions / seconds_of([&] { due = floor.run(lent.events); }); });
  expect_equal(query, found, due);
  report.add(
      {name, "M/s", value, least, ratio_at_least(query.required), ratio_at_least(query.goal)});
}

void bench_queries(const Report& report, std::int64_t count) {
  std::unique_ptr<const Lent> lent;
  std::int64_t rate = 0;
  std::vector<Floor> all(floors().begin(), floors().end());
  all.insert(all.begin(), {"read", all.front().events_per_second, read_all});
  for (const Floor& floor : all) {
    if (rate != floor.events_per_second) {
      lent.reset();
      rate = floor.events_per_second;
      lent = std::make_unique<const Lent>(count, rate);
    }
    const std::string name = fmt::format("nexmark/{}/floor", floor.name);
    if (report.wants(name)) {
      Tally tally;
      const double ns = ns_per_event(count, [&] { tally = floor.run(lent->events); });
      use(tally.check);
      report.add({name, "ns", ns});
    }
    if (const Query* const query = query_of(floor)) bench_query(report, *query, floor, *lent);
  }
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  const millrace::bench::Report report(argc, argv);
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  millrace::bench::bench_generator(report, events / 10);
  millrace::bench::bench_queries(report, events);
}
