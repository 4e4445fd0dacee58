// What the parts of the processor cost beside the least that does the same.
//
//   processor [--json] [--only=PART-OF-A-NAME] [EVENTS]

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <malloc.h>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/queries.hpp"
#include "millrace/runtime/state/table.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/values.hpp"

#include "figures.hpp"
#include "real_run.hpp"

namespace millrace::bench {
namespace {

using namespace nexmark;

constexpr int rounds = 5;

/// `count` events at 100,000 a second of event time, in so many partitions that run side by side.
Source<Event> events_of(std::int64_t count, int partitions) {
  GeneratorConfig config;
  config.events = count;
  config.events_per_second = 100'000;
  config.generators = partitions;
  return values(all_events(config), partitions);
}

/// The auctions with the most bids of each subtask: q5, but for its last step.
Job hottest(const Source<Event>& events, Sliding windows, const Sink<HotAuction>& rows) {
  return Job("hottest", from("events", events)
                            .event_time<&Event::at>(disorder(Duration{4'000}))
                            .filter<&is_bid>()
                            .map<&bid_of>()
                            .key_by<&Bid::auction>()
                            .window(windows)
                            .aggregate("bids", count(), KeepLargest{})
                            .map([](const auto& hot) {
                              return HotAuction{hot.window.end, hot.key, hot.value};
                            })
                            .to("rows", rows));
}

void run_hottest(const Source<Event>& events, Duration slide, std::uint32_t parallelism = 1) {
  const TallySink<HotAuction> rows;
  run_for_real(hottest(events, sliding(window_size, slide), rows.sink()), parallelism);
  if (rows.tally().rows == 0) std::exit(1);
}

/// A row is folded once, however many windows it is in.
void bench_slides(const Report& report, std::int64_t count) {
  const Source<Event> events = events_of(count, 1);
  const auto ns = [&](Duration slide) {
    return seconds_of([&] { run_hottest(events, slide); }) * 1e9 / static_cast<double>(count);
  };
  const auto [fifty, five] = medians_of(
      rounds, [&] { return ns(window_size / 50); }, [&] { return ns(window_size / 5); });
  report.add({"windows/slides", "ns", fifty, five, ratio_at_most(1.5)});
}

/// Bytes from the heap that `make` leaves in use.
template <class Make>
double heap_bytes_of(Make make) {
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  const double before = in_use();
  const auto made = make();
  return in_use() - before;
}

/// State of a key in a table, frozen once as for a checkpoint, and in a bare map.
void bench_state(const Report& report) {
  constexpr std::int64_t keys = 1'000'000;
  const double table = heap_bytes_of([] {
    std::pair<KeyedTable<std::int64_t, std::int64_t>, FrozenBlocks> made;
    for (std::int64_t key = 0; key < keys; ++key) made.first.at(key, hash_key(key)) = key;
    made.second = made.first.freeze();
    return made;
  });
  const double map = heap_bytes_of([] {
    boost::unordered_flat_map<std::int64_t, std::int64_t> made;
    for (std::int64_t key = 0; key < keys; ++key) made[key] = key;
    return made;
  });
  report.add({"state/bytes", "a key", table / keys, map / keys, ratio_at_most(2)});
}

/// Two workers with a core each, that send each other half of all rows; and one that sends none.
/// Here the time is that of a clock on the wall, because the second core is there to save it. It
/// begins when partitions are opened: how long nodes wait for each other before is no matter here.
void bench_exchange(const Report& report, std::int64_t count) {
  using Wall = std::chrono::steady_clock;
  const Source<Event> events = events_of(count, 2);
  const auto millions_per_second = [&](std::uint32_t workers) {
    std::atomic<Wall::time_point> begun;
    Source<Event> timed = events;
    timed.open = [&begun, open = events.open](Env& env, const std::string& partition, Position from,
                                              std::int64_t end) {
      begun = Wall::now();
      return open(env, partition, from, end);
    };
    run_hottest(timed, window_slide, workers);
    const std::chrono::duration<double> taken = Wall::now() - begun.load();
    return static_cast<double>(count) / 1e6 / taken.count();
  };
  const auto [two, one] = medians_of(
      rounds, [&] { return millions_per_second(2); }, [&] { return millions_per_second(1); });
  report.add({"exchange", "M/s", two, one, ratio_at_least(1.5)});
}

/// What the second core of this machine is worth to work that has nothing to exchange: two jobs of
/// half the rows each at once, and one after the other. No exchange gets further.
void bench_second_core(const Report& report, std::int64_t count) {
  using Wall = std::chrono::steady_clock;
  const Source<Event> half = events_of(count / 2, 1);
  const auto millions_per_second = [&](const std::function<void()>& twice) {
    const auto begun = Wall::now();
    twice();
    const std::chrono::duration<double> taken = Wall::now() - begun;
    return static_cast<double>(count) / 1e6 / taken.count();
  };
  const auto job = [&half] { run_hottest(half, window_slide); };
  const auto [at_once, in_turn] = medians_of(
      rounds,
      [&] {
        return millions_per_second([&] {
          std::jthread other(job);
          job();
        });
      },
      [&] {
        return millions_per_second([&] {
          job();
          job();
        });
      });
  report.add({"machine/second-core", "M/s", at_once, in_turn});
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  using namespace millrace::bench;
  const Report report(argc, argv);
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  if (report.wants("windows/slides")) bench_slides(report, events);
  if (report.wants("state/bytes")) bench_state(report);
  if (report.wants("machine/second-core")) bench_second_core(report, events);
  if (report.wants("exchange")) bench_exchange(report, events);
}
