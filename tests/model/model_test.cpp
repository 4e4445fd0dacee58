#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "explorer.hpp"

using namespace millrace::model;

namespace {

/// Far more than there are: who meets it has not looked at all states.
constexpr std::uint64_t most_states = 4'000'000;

/// Bounds, and how many states there are within them. The numbers are what was counted once: they
/// are the same on every machine, and a model that comes to look at less is noticed.
struct Trial {
  std::string about;
  Bounds bounds;
  std::uint64_t states_with_fence;
  std::uint64_t states_without_fence;
};

const std::vector<Trial>& trials() {
  static const std::vector<Trial> list{
      {"two coordinators race for a job that nobody has begun",
       {.coordinators = 2, .writers = 1, .terms = 2, .checkpoints_in_all = 3},
       409'885,
       390'027},
      {"two writers, and two checkpoints in each of two terms",
       {.begins_owned = true, .coordinators = 2, .writers = 2, .terms = 2, .checkpoints_in_all = 4},
       1'079'596,
       1'048'430},
      {"two coordinators in three terms",
       {.begins_owned = true, .coordinators = 2, .writers = 1, .terms = 3, .checkpoints_in_all = 2},
       717'847,
       788'035},
      {"three coordinators in three terms",
       {.begins_owned = true,
        .owners_begin_again = false,
        .coordinators = 3,
        .writers = 1,
        .terms = 3,
        .checkpoints_in_all = 2},
       914'471,
       1'164'340},
  };
  return list;
}

constexpr Bounds small{
    .begins_owned = true, .coordinators = 2, .writers = 1, .terms = 2, .checkpoints_in_all = 3};

/// The claims that are about rows, and not about who believes what.
constexpr ClaimSet about_rows = ClaimSet::all()
                                    .without(Claim::decided_is_kept)
                                    .without(Claim::one_owner_a_version)
                                    .without(Claim::winners_are_ancestors);

Rules without_fence() {
  Rules rules;
  rules.database_fences = false;
  return rules;
}

std::array<std::uint64_t, sights>& operator+=(std::array<std::uint64_t, sights>& sum,
                                              const std::array<std::uint64_t, sights>& more) {
  for (std::size_t sight = 0; sight < sum.size(); ++sight) sum[sight] += more[sight];
  return sum;
}

/// Looks at all that there is, and expects that nothing is wrong.
Exploration explore_whole(const Rules& rules, const Trial& trial, ClaimSet held) {
  Exploration found = explore(rules, trial.bounds, held, most_states);
  INFO(trial.about << '\n' << report(found));
  CHECK_FALSE(found.counter_example);
  CHECK(found.exhausted);
  CHECK(found.ends_with_owner > 0);
  CHECK(found.states ==
        (rules.database_fences ? trial.states_with_fence : trial.states_without_fence));
  return found;
}

/// Leaves one rule out, and expects `broken` to be the first claim that this breaks.
void expect_broken(bool Rules::*rule, Claim broken, ClaimSet held = ClaimSet::all()) {
  Rules rules;
  rules.*rule = false;
  const Exploration found = explore(rules, small, held, most_states);
  INFO(report(found));
  REQUIRE(found.counter_example);
  CHECK(found.counter_example->broken == broken);
}

}  // namespace

TEST_CASE("whoever stalls, dies or is late, nothing decided is lost, and nothing else is shown",
          "[model]") {
  std::array<std::uint64_t, sights> seen{};
  for (const Trial& trial : trials()) seen += explore_whole({}, trial, ClaimSet::all()).seen;
  // The silence is worth something only if all of this has happened.
  for (int sight = 0; sight < sights; ++sight) {
    const auto which = static_cast<Sight>(sight);
    CAPTURE(to_text(which));
    CHECK((seen[static_cast<std::size_t>(sight)] > 0) == (which != Sight::owner_refused));
  }
}

TEST_CASE("even a database without a fence loses nothing, and shows nothing undecided", "[model]") {
  std::array<std::uint64_t, sights> seen{};
  for (const Trial& trial : trials()) {
    seen +=
        explore_whole(without_fence(), trial, ClaimSet::all().without(Claim::no_owner_is_refused))
            .seen;
  }
  for (int sight = 0; sight < sights; ++sight) {
    const auto which = static_cast<Sight>(sight);
    CAPTURE(to_text(which));
    CHECK((seen[static_cast<std::size_t>(sight)] > 0) == (which != Sight::zombie_turned_away));
  }
}

TEST_CASE("without a fence a recovery may be refused for rows that a zombie has just published",
          "[model]") {
  expect_broken(&Rules::database_fences, Claim::no_owner_is_refused);
}

TEST_CASE("a register that compares no versions forgets what was decided", "[model][ablation]") {
  expect_broken(&Rules::register_compares_versions, Claim::decided_is_kept);
  expect_broken(&Rules::register_compares_versions, Claim::head_is_readable, about_rows);
}

TEST_CASE("a loser of a swap that goes on owns what somebody else owns", "[model][ablation]") {
  expect_broken(&Rules::loser_stops, Claim::one_owner_a_version);
  expect_broken(&Rules::loser_stops, Claim::head_is_readable, about_rows);
}

TEST_CASE("a head that is swapped before its manifest is durable names nothing",
          "[model][ablation]") {
  expect_broken(&Rules::manifest_durable_before_swap, Claim::head_is_readable);
}

TEST_CASE("an unknown swap that is taken for refused lands when its manifest is gone",
          "[model][ablation]") {
  expect_broken(&Rules::unknown_swap_is_repeated, Claim::head_is_readable);
}

TEST_CASE("an acknowledgement without a term puts into a manifest what a sweep removes",
          "[model][ablation]") {
  expect_broken(&Rules::acknowledgement_has_term, Claim::head_is_readable);
}

TEST_CASE("a name that two terms use is written over while the head needs it",
          "[model][ablation]") {
  expect_broken(&Rules::name_has_term, Claim::head_is_readable);
}
