#include "millrace/faults/plan_generator.hpp"

#include <array>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::faults;
using namespace std::chrono_literals;

namespace {

constexpr Landmark took_over{"took_over", "a coordinator owns the job"};
constexpr Landmark sink_staged{"sink_staged", "rows are durable"};
constexpr Landmark published{"published", "rows are visible"};

const PlanSpace space{
    {"worker1", "worker2", "store"}, {&took_over, &sink_staged, &published}, 800ms, 10};

constexpr std::uint64_t most_seeds = 3000;

Plan plan_of(std::uint64_t seed, const PlanSpace& from = space) {
  sim::Draws draws(sim::Seed{seed}, sim::Domain::plan, "case");
  return generate_plan(from, draws);
}

std::chrono::nanoseconds span_of(const Fault& fault) {
  if (const auto* kill = std::get_if<Kill>(&fault)) return kill->down;
  if (const auto* loss = std::get_if<PowerLoss>(&fault)) return loss->down;
  return std::get<Pause>(fault).lasts;
}

/// What many plans hold, counted.
struct Census {
  std::map<std::size_t, int> sizes;
  std::array<int, std::variant_size_v<Fault>> kinds{};
  std::map<std::string, int> nodes;
  std::map<std::string, int> anchors;
  std::map<std::uint64_t, int> nth;
  int faults = 0;
  int anchored = 0;
  int long_spans = 0;
  std::set<std::int64_t> instants_ns;
  std::set<std::chrono::nanoseconds> spans;

  void add(const Plan& plan) {
    ++sizes[plan.faults.size()];
    for (const Fault& fault : plan.faults) {
      ++faults;
      ++kinds[fault.index()];
      ++nodes[node_of(fault)];
      spans.insert(span_of(fault));
      if (span_of(fault) >= 2s) ++long_spans;
      if (const auto* anchor = std::get_if<Anchor>(&moment_of(fault))) {
        ++anchored;
        ++anchors[anchor->landmark];
        ++nth[anchor->nth];
      } else {
        instants_ns.insert(std::get<Instant>(moment_of(fault)).ns);
      }
    }
  }
};

Census census_of(const PlanSpace& from) {
  Census census;
  for (std::uint64_t seed = 0; seed < most_seeds; ++seed) census.add(plan_of(seed, from));
  return census;
}

/// Whether `part` is about one in `whole` of `all`.
bool is_about(int part, int all, int whole) {
  return part * whole * 10 > all * 9 && part * whole * 10 < all * 11;
}

}  // namespace

TEST_CASE("the same draws give the same plan, and others another", "[faults][generator]") {
  int equal = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CHECK(plan_of(seed) == plan_of(seed));
    if (plan_of(seed) == plan_of(seed + 1)) ++equal;
  }
  CHECK(equal == 0);
}

TEST_CASE("plans of every size, kind, node and anchor come, about equally often",
          "[faults][generator]") {
  const Census census = census_of(space);

  REQUIRE(census.sizes.size() == 4);
  for (const auto& [size, count] : census.sizes) {
    CAPTURE(size);
    CHECK(size >= 1);
    CHECK(size <= 4);
    CHECK(is_about(count, static_cast<int>(most_seeds), 4));
  }
  for (const int count : census.kinds) CHECK(is_about(count, census.faults, 3));
  REQUIRE(census.nodes.size() == 3);
  for (const std::string& node : space.nodes) {
    CAPTURE(node);
    CHECK(is_about(census.nodes.at(node), census.faults, 3));
  }
  REQUIRE(census.anchors.size() == 3);
  for (const Landmark* landmark : space.anchors) {
    CHECK(is_about(census.anchors.at(std::string(landmark->name)), census.anchored, 3));
  }
}

TEST_CASE("most faults are aimed at an anchor, early ones more often", "[faults][generator]") {
  const Census census = census_of(space);

  CHECK(is_about(census.faults - census.anchored, census.faults, 4));
  REQUIRE(census.nth.size() == space.checkpoints + 1);
  for (const auto& [nth, count] : census.nth) {
    CAPTURE(nth);
    CHECK(nth >= 1);
    CHECK(nth <= space.checkpoints + 1);
    // The first two come in half of the cases, and in their share of the other half.
    if (nth <= 2) CHECK(count > census.nth.at(3) * 4);
  }
}

TEST_CASE("instants are whole microseconds inside the span, all over it", "[faults][generator]") {
  const Census census = census_of(space);

  REQUIRE(census.instants_ns.size() > 500);
  CHECK(*census.instants_ns.begin() >= 0);
  CHECK(*census.instants_ns.rbegin() < std::chrono::nanoseconds(space.span).count());
  CHECK(*census.instants_ns.begin() < 20'000'000);
  CHECK(*census.instants_ns.rbegin() > 780'000'000);
  for (const std::int64_t ns : census.instants_ns) CHECK(ns % 1000 == 0);
}

TEST_CASE("most faults are shorter than a second, some longer than a lease",
          "[faults][generator]") {
  const Census census = census_of(space);

  CHECK(is_about(census.long_spans, census.faults, 4));
  for (const auto span : census.spans) {
    CAPTURE(span.count());
    CHECK(span % 1ms == 0ns);
    const bool is_short = span >= 1ms && span <= 1000ms;
    const bool is_long = span >= 2000ms && span < 7000ms;
    CHECK((is_short || is_long));
  }
  CHECK(*census.spans.begin() < 10ms);
  CHECK(*census.spans.rbegin() > 6900ms);
}

TEST_CASE("a drawn plan survives being written down and read back", "[faults][generator]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const Fault& fault : plan_of(seed).faults) {
      CHECK(parse_fault(to_text(fault)) == fault);
    }
  }
}

TEST_CASE("a larger space moves no other decision", "[faults][generator]") {
  PlanSpace larger = space;
  larger.nodes.push_back("worker3");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Plan before = plan_of(seed);
    const Plan after = plan_of(seed, larger);
    REQUIRE(before.faults.size() == after.faults.size());
    for (std::size_t i = 0; i < before.faults.size(); ++i) {
      CHECK(before.faults[i].index() == after.faults[i].index());
      CHECK(moment_of(before.faults[i]) == moment_of(after.faults[i]));
      CHECK(span_of(before.faults[i]) == span_of(after.faults[i]));
    }
  }
}

TEST_CASE("where nothing is left to chance the plan is the most harmless one",
          "[faults][generator]") {
  sim::Draws quiet(sim::Seed{7, true}, sim::Domain::plan, "case");

  CHECK(generate_plan(space, quiet) == Plan{{Kill{"worker1", Instant{0}, 1ms}}});
}
