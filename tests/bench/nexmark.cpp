// How long each query of Nexmark takes an event, written by hand; and how long it takes to make
// one.
//
//   nexmark [--json] [--only=PART-OF-A-NAME] [EVENTS]
//
// Events lie in memory, 48 bytes each and without texts. Every event counts, also those that a
// query has no use for.

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "millrace/nexmark/generator.hpp"

#include "figures.hpp"
#include "nexmark_floors.hpp"

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

void bench_floors(const Report& report, std::int64_t count) {
  std::vector<nexmark::Event> events;
  std::int64_t rate = 0;
  std::vector<Floor> all(floors().begin(), floors().end());
  all.insert(all.begin(), {"read", all.front().events_per_second, read_all});
  for (const Floor& floor : all) {
    const std::string name = fmt::format("nexmark/{}/floor", floor.name);
    if (!report.wants(name)) continue;
    if (rate != floor.events_per_second) {
      rate = floor.events_per_second;
      events = nexmark::all_events(config_of(count, rate));
    }
    Tally tally;
    const double ns = ns_per_event(count, [&] { tally = floor.run(events); });
    use(tally.check);
    report.add({name, "ns", ns});
  }
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  const millrace::bench::Report report(argc, argv);
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  millrace::bench::bench_generator(report, events / 10);
  millrace::bench::bench_floors(report, events);
}
