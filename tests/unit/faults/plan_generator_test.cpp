#include "millrace/faults/plan_generator.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::faults;
using namespace std::chrono_literals;

namespace {

constexpr Landmark took_over{"took_over", "a coordinator owns the job"};
constexpr Landmark sink_staged{"sink_staged", "rows are durable"};
constexpr Landmark published{"published", "rows are visible"};

const PlanSpace space{{"worker1", "worker2", "store"},
                      {{"worker1", "store"}, {"worker1", "worker2"}, {"worker2", "store"}},
                      {{"coordinator1", "worker1"}, {"coordinator1", "worker2"}},
                      {{"store", "put"}, {"database", "publish"}},
                      {"store", "database"},
                      {&took_over, &sink_staged, &published},
                      800ms,
                      10};

constexpr std::uint64_t most_seeds = 3000;

Plan plan_of(std::uint64_t seed, const PlanSpace& from = space) {
  sim::Draws draws(sim::Seed{seed}, sim::Domain::plan, "case");
  return generate_plan(from, draws);
}

/// How long a fault is there; of disk errors, which are mostly brief, nothing.
std::optional<std::chrono::nanoseconds> span_of(const Fault& fault) {
  return std::visit(
      [](const auto& f) -> std::optional<std::chrono::nanoseconds> {
        if constexpr (std::is_same_v<decltype(f), const DiskError&>) return std::nullopt;
        if constexpr (requires { f.down; }) return f.down;
        if constexpr (requires { f.lasts; }) return f.lasts;
        return std::nullopt;
      },
      fault);
}

/// Kinds that strike any node, unless they wait for an operation of a disk.
bool strikes_any_node(const Fault& fault) { return fault.index() < 3 && io_of(fault) == 0; }

/// What many plans hold, counted.
struct Census {
  std::map<std::size_t, int> sizes;
  std::array<int, std::variant_size_v<Fault>> kinds{};
  std::map<std::string, int> nodes;
  std::map<std::string, int> anchors;
  std::map<std::uint64_t, int> nth;
  int faults = 0;
  int anywhere = 0;
  int could_be_here = 0;
  int is_here = 0;
  int following = 0;
  int could_follow = 0;
  int with_io = 0;
  int anchored = 0;
  int with_span = 0;
  int long_spans = 0;
  std::set<std::int64_t> instants_ns;
  std::set<std::chrono::nanoseconds> spans;

  void add(const Plan& plan) {
    ++sizes[plan.faults.size()];
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
      const Fault& fault = plan.faults[i];
      ++faults;
      ++kinds[fault.index()];
      if (strikes_any_node(fault)) {
        const bool is_anchored = std::holds_alternative<Anchor>(moment_of(fault));
        if (is_anchored) ++could_be_here;
        if (node_of(fault) == here) {
          CHECK(is_anchored);
          ++is_here;
        } else {
          ++anywhere;
          ++nodes[node_of(fault)];
        }
      }
      if (io_of(fault) != 0) ++with_io;
      if (i != 0) ++could_follow;
      if (const auto span = span_of(fault)) {
        ++with_span;
        spans.insert(*span);
        if (*span >= 2s) ++long_spans;
      }
      if (const auto* after = std::get_if<After>(&moment_of(fault))) {
        ++following;
        CHECK(after->ordinal == i);
        CHECK(after->delay >= 1us);
        CHECK(after->delay <= 1100ms);
      } else if (const auto* anchor = std::get_if<Anchor>(&moment_of(fault))) {
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
  // Those that end lives most often, none of the others rarely.
  for (const int count : census.kinds) {
    CHECK(count * 30 > census.faults);
    CHECK(count * 5 < census.faults);
  }
  REQUIRE(census.nodes.size() == 3);
  for (const std::string& node : space.nodes) {
    CAPTURE(node);
    CHECK(is_about(census.nodes.at(node), census.anywhere, 3));
  }
  CHECK(is_about(census.is_here, census.could_be_here, 3));
  REQUIRE(census.anchors.size() == 3);
  for (const Landmark* landmark : space.anchors) {
    CHECK(is_about(census.anchors.at(std::string(landmark->name)), census.anchored, 3));
  }
}

TEST_CASE("most faults are aimed at an anchor, early ones more often", "[faults][generator]") {
  const Census census = census_of(space);

  const int free = census.faults - census.following;
  CHECK(is_about(free - census.anchored, free, 4));
  CHECK(is_about(census.following, census.could_follow, 4));
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

  CHECK(is_about(census.long_spans, census.with_span, 4));
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
  larger.links.push_back({"worker3", "store"});
  larger.operations.push_back({"store", "swap"});
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

TEST_CASE("faults are drawn for those whom they can strike, of all of them",
          "[faults][generator]") {
  std::set<std::string> struck;
  std::set<std::uint64_t> operations_waited_for;
  int links = 0;
  int for_all = 0;
  for (std::uint64_t seed = 0; seed < most_seeds; ++seed) {
    for (const Fault& fault : plan_of(seed).faults) {
      if (strikes_any_node(fault)) continue;
      std::string whom = std::string(kind_of(fault)) + " " + node_of(fault);
      if (io_of(fault) != 0) operations_waited_for.insert(io_of(fault));
      if (const auto* peer = peer_of(fault)) {
        ++links;
        if (*peer == everybody) ++for_all;
        whom += " " + *peer;
      }
      if (const auto* cut = std::get_if<Cut>(&fault)) {
        struck.insert("cut way " + std::to_string(static_cast<int>(cut->way)));
      }
      if (const auto* lost = std::get_if<LoseAnswer>(&fault)) whom += " " + lost->operation;
      if (const auto* late = std::get_if<LateAnswer>(&fault)) {
        whom += " " + late->operation;
        CHECK(late->by > 5s);  // Longer than a call waits.
        CHECK(late->by < 13s);
      }
      struck.insert(whom);
    }
  }
  CHECK(is_about(for_all, links, 4));
  CHECK(operations_waited_for.size() == 12);
  std::set<std::string> expected{"cut way 0", "cut way 1", "cut way 2"};
  for (const std::string kind : {"kill ", "power_loss ", "pause ", "disk_error ", "disk_full "}) {
    for (const std::string& node : space.disk_nodes) expected.insert(kind + node);
  }
  for (const std::string kind : {"cut ", "reset ", "slow "}) {
    for (const auto& [node, peer] : space.links) {
      expected.insert(kind + node + " " + peer);
      expected.insert(kind + node + " *");
    }
  }
  for (const auto& [node, peer] : space.control_links) {
    expected.insert("frames " + node + " " + peer);
    expected.insert("frames " + node + " *");
  }
  for (const std::string kind : {"lose_answer ", "late_answer "}) {
    for (const auto& [node, name] : space.operations) expected.insert(kind + node + " " + name);
  }
  CHECK(struck == expected);
}
