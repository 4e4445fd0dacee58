#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/properties/case.hpp"
#include "millrace/runtime/landmarks.hpp"

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t seeds = 2000;

Case generated(std::uint64_t seed) {
  return generate_case(spec_of(SmallJob{}), input_of({record("a", 0)}), seed);
}

}  // namespace

TEST_CASE("the seeds of a campaign's runs are what they have always been",
          "[properties][generator]") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

  CHECK(run_seed(1, 0) == 0xF1DE308C8D713);
  CHECK(run_seed(1, 1) == 0x08DAB1DF6DAD1);
  CHECK(run_seed(1, 2) == 0xD63346216BE0F);
  CHECK(run_seed(2, 0) == 0x6BFFCBCCAD654);
  CHECK(run_seed(1, 1'000'000) == 0x464DCAFB9D422);
  CHECK(run_seed(0, 0) == 0x0A6B7704C1297);
  CHECK(run_seed(most, most) == 0xB578BB84483E7);
}

TEST_CASE("seeds are of 52 bits, use all of them, and differ", "[properties][generator]") {
  std::set<std::uint64_t> seen;
  std::uint64_t bits_set = 0;
  std::uint64_t bits_always_set = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t campaign = 0; campaign < 10; ++campaign) {
    for (std::uint64_t index = 0; index < seeds; ++index) {
      const std::uint64_t seed = run_seed(campaign, index);
      seen.insert(seed);
      bits_set |= seed;
      bits_always_set &= seed;
    }
  }
  CHECK(seen.size() == 10 * seeds);
  CHECK(bits_set == (std::uint64_t{1} << 52) - 1);
  CHECK(bits_always_set == 0);
}

TEST_CASE("a case is a function of job, input and seed", "[properties][generator]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case one = generated(seed);
    const Case two = generated(seed);
    CHECK(setting_text(one) == setting_text(two));
    CHECK(one.seed == seed);
    CHECK(one.job == spec_of(SmallJob{}));
    CHECK(one.input == input_of({record("a", 0)}));
    CHECK_FALSE(one.is_quiet);
    CHECK(one.expect == Verdict::held);
    CHECK_FALSE(one.trace_hash.has_value());
    CHECK(setting_text(one) != setting_text(generated(seed + 1)));
  }
}

TEST_CASE("cluster, timing and plan of a seed are the same for every job",
          "[properties][generator]") {
  SmallJob other;
  other.window = "1h";
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CHECK(setting_text(generate_case(spec_of(other), Input{}, seed)) ==
          setting_text(generated(seed)));
  }
}

TEST_CASE("clusters and timings of every size come, and no others", "[properties][generator]") {
  std::set<std::uint32_t> workers;
  std::set<std::uint32_t> parallelisms;
  std::set<std::int64_t> intervals_ms;
  std::set<std::int64_t> checkpoints;
  std::set<std::int64_t> of_long_runs;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case made = generated(seed);
    workers.insert(made.cluster.workers);
    parallelisms.insert(made.cluster.parallelism);
    REQUIRE(made.checkpoint.interval % 1ms == 0ns);
    REQUIRE(made.arrival % made.checkpoint.interval == 0ns);
    intervals_ms.insert(made.checkpoint.interval / 1ms);
    const std::int64_t count = made.arrival / made.checkpoint.interval;
    (count < 50 ? checkpoints : of_long_runs).insert(count);
  }
  CHECK(workers == std::set<std::uint32_t>{1, 2, 3});
  CHECK(parallelisms == std::set<std::uint32_t>{1, 2, 3});
  CHECK(*intervals_ms.begin() == 100);
  CHECK(*intervals_ms.rbegin() == 499);
  CHECK(*checkpoints.begin() == 5);
  CHECK(*checkpoints.rbegin() == 17);
  CHECK(checkpoints.size() == 13);
  REQUIRE_FALSE(of_long_runs.empty());
  for (const std::int64_t count : of_long_runs) {
    CHECK(count % 10 == 0);
    CHECK(checkpoints.contains(count / 10));
  }
}

TEST_CASE("every fourth case has options of its own, and the rest of it is as without them",
          "[properties][generator]") {
  std::set<std::uint32_t> tolerable;
  std::set<std::uint32_t> retained;
  std::set<std::int64_t> timeouts_s;
  std::size_t with_options = 0;
  std::size_t fixed = 0;
  std::size_t within = 0;
  const CheckpointOptions defaults;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Case made = generated(seed);
    CheckpointOptions plain = defaults;
    plain.interval = made.checkpoint.interval;
    if (made.checkpoint == plain && made.restart == RestartOptions{}) continue;
    ++with_options;
    tolerable.insert(made.checkpoint.tolerable_failures);
    retained.insert(made.checkpoint.retained);
    timeouts_s.insert(made.checkpoint.timeout / 1s);
    CHECK(made.checkpoint.timeout >= 1s);
    CHECK(made.checkpoint.timeout <= 10s);
    CHECK(made.checkpoint.min_pause <= made.checkpoint.interval);
    const bool is_fixed = made.restart.strategy == RestartOptions::Strategy::fixed;
    const auto longest = is_fixed ? made.restart.delay : made.restart.max_delay;
    CHECK(made.restart.attempts * longest >= std::chrono::seconds(25));
    CHECK(made.restart.delay <= made.restart.max_delay);
    fixed += is_fixed ? 1 : 0;
    within += made.restart.within ? 1 : 0;
  }
  CHECK(with_options > seeds / 5);
  CHECK(with_options < seeds / 3);
  CHECK(tolerable == std::set<std::uint32_t>{0, 1, 2, 3});
  CHECK(retained == std::set<std::uint32_t>{1, 2, 3, 4});
  CHECK(timeouts_s.size() >= 9);
  CHECK(fixed > with_options / 3);
  CHECK(within > with_options / 8);
}

TEST_CASE("faults are aimed at nodes that there are, each of them, and at every protocol landmark",
          "[properties][generator]") {
  std::set<std::string> nodes;
  std::set<std::string> anchors;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case made = generated(seed);
    const std::int64_t arrival_ns = made.arrival.count();
    for (const faults::Fault& fault : made.plan.faults) {
      const std::string& node = node_of(fault);
      nodes.insert(node);
      if (node.starts_with("worker")) {
        CHECK(std::stoul(node.substr(6)) <= made.cluster.workers);
      }
      if (const auto* anchor = std::get_if<Anchor>(&moment_of(fault))) {
        anchors.insert(anchor->landmark);
      } else if (const auto* instant = std::get_if<Instant>(&moment_of(fault))) {
        CHECK(instant->ns < arrival_ns);
      }
      const std::string* const peer = peer_of(fault);
      if (peer != nullptr && peer->starts_with("worker")) {
        CHECK(std::stoul(peer->substr(6)) <= made.cluster.workers);
      }
    }
  }
  CHECK(nodes == std::set<std::string>{"coordinator1", "coordinator2", "database", "here", "log",
                                       "store", "worker1", "worker2", "worker3"});
  for (const Landmark* landmark : landmarks::all) {
    CAPTURE(landmark->name);
    const bool is_protocol = landmark->kind == Landmark::Kind::protocol;
    CHECK((anchors.count(std::string(landmark->name)) == 1) == is_protocol);
  }
}
