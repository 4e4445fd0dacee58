// Each claim is on trial here: a healthy state breaks none, and one thing wrong breaks just the one
// that is about it.
#include "invariants.hpp"

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::model;

namespace {

constexpr Term one{1};
constexpr Term two{2};

/// A owns the job in term 1 and has decided checkpoint 1.1, with one record that is not yet
/// published. In its first swap it came to the genesis head.
struct Healthy {
  Rules rules;
  Bounds bounds;
  Catalogue catalogue{rules, bounds};
  HeadNumber begun = 0;
  ManifestNumber decided = 0;
  World world;

  Healthy() {
    const CheckpointId id{one, 1};
    const ManifestNumber genesis = catalogue.genesis(0);
    begun = catalogue.next_head(0, 0, 0, one, genesis);
    decided = catalogue.manifest_after(genesis, id, {catalogue.acknowledgement(id, 0, 1, 1 << 1)});
    world.head = catalogue.next_head(begun, 0, 1, one, decided);
    world.version = 2;
    for (const Needed& object : needed()) world.store[object.name] = object.edition;
    world.sink = {1, 1, {0, 0}, {}};
    Coordinator& owner = world.coordinators[0];
    owner.phase = Phase::leading;
    owner.reign = 1;
    owner.known = world.head;
    owner.known_version = 2;
    owner.has_won_known = 1;
  }

  /// Its manifest, a state and a staged object, in this order.
  std::vector<Needed> needed() const {
    const KnownManifest& manifest = catalogue.manifest(decided);
    return {{manifest.name, manifest.edition, {}, 0}, manifest.states.at(0), manifest.staged.at(0)};
  }

  void publish() {
    world.sink.published = {1, 1};
    world.sink.rows[0] = 1;
  }

  std::optional<Claim> broken() { return broken_in(world, rules, catalogue, ClaimSet::all()); }
  std::optional<Claim> broken_since(const World& before) const {
    return broken_by_step(before, world, catalogue, ClaimSet::all());
  }
  std::optional<Claim> broken_at_end() const {
    return model::broken_at_end(world, catalogue, ClaimSet::all());
  }
};

}  // namespace

TEST_CASE("a healthy state breaks no claim, before its rows are published and after", "[model]") {
  Healthy state;
  CHECK(state.broken() == std::nullopt);

  const World before = state.world;
  state.publish();
  CHECK(state.broken() == std::nullopt);
  CHECK(state.broken_since(before) == std::nullopt);
  CHECK(state.broken_at_end() == std::nullopt);
}

TEST_CASE("two who believe to have written one version are convicted", "[model]") {
  Healthy state;
  state.world.coordinators[1] = state.world.coordinators[0];
  CHECK(state.broken() == Claim::one_owner_a_version);
}

TEST_CASE("a winner from whom the head does not descend is convicted", "[model]") {
  Healthy state;
  Coordinator& other = state.world.coordinators[1];
  other.phase = Phase::loading;
  other.known = state.catalogue.next_head(state.begun, 1, 1, two, state.catalogue.genesis(0));
  other.known_version = 3;
  other.has_won_known = 1;
  CHECK(state.broken() == Claim::winners_are_ancestors);
}

TEST_CASE("a head is convicted if its manifest or state is gone, or is something else", "[model]") {
  for (const std::size_t object : {0, 1}) {
    for (const int change : {-1, 1}) {
      Healthy state;
      auto& found = state.world.store[state.needed().at(object).name];
      found = static_cast<Edition>(change < 0 ? 0 : found + 1);
      CHECK(state.broken() == Claim::head_is_readable);
    }
  }
}

TEST_CASE("staged rows that are gone, or are others, are missed until they are published",
          "[model]") {
  for (const Edition instead : {edition_of_record(3), Edition{0}}) {
    Healthy state;
    state.world.store[state.needed().at(2).name] = instead;
    CHECK(state.broken() == Claim::unpublished_is_kept);

    state.publish();
    CHECK(state.broken() == std::nullopt);
  }
}

TEST_CASE("a reader that sees anything but one decided checkpoint convicts", "[model]") {
  constexpr auto none = 0;
  constexpr auto once = 1;
  constexpr auto twice = 2;
  constexpr auto another_record = 1 << 2;
  const auto broken = [](SmallId marker, int rows) {
    Healthy state;
    state.world.sink.published = marker;
    state.world.sink.rows[0] = static_cast<std::uint16_t>(rows);
    return state.broken();
  };
  CHECK(broken({0, 0}, once) == Claim::visible_is_decided);
  CHECK(broken({1, 1}, none) == Claim::visible_is_decided);
  CHECK(broken({1, 1}, twice) == Claim::visible_is_decided);
  CHECK(broken({1, 1}, another_record) == Claim::visible_is_decided);
  CHECK(broken({1, 1}, once | another_record) == Claim::visible_is_decided);
  CHECK(broken({1, 2}, once | another_record) == Claim::visible_is_decided);
}

TEST_CASE("an owner that gives its job up is convicted", "[model]") {
  Healthy state;
  state.world.coordinators[0].phase = Phase::ended_in_refusal;
  CHECK(state.broken() == Claim::no_owner_is_refused);
}

TEST_CASE("a sink that a takeover would not get is convicted", "[model]") {
  Healthy foreign;
  foreign.world.sink.lineage = 2;
  CHECK(foreign.broken() == Claim::takeover_would_publish);

  Healthy fenced_for_nobody;
  fenced_for_nobody.world.sink.fence_term = 3;
  CHECK(fenced_for_nobody.broken() == Claim::takeover_would_publish);
}

TEST_CASE("a head that is not made of the one before it is convicted", "[model]") {
  Healthy state;
  const World before = state.world;
  state.world.head = state.catalogue.next_head(state.begun, 1, 1, two, state.catalogue.genesis(0));
  CHECK(state.broken_since(before) == Claim::decided_is_kept);
}

TEST_CASE("a marker or a row that goes back is convicted", "[model]") {
  Healthy state;
  state.publish();
  const World before = state.world;

  state.world.sink.published = {0, 0};
  CHECK(state.broken_since(before) == Claim::readers_go_forward);
  state.world.sink.published = {1, 1};
  state.world.sink.rows[0] = 0;
  CHECK(state.broken_since(before) == Claim::readers_go_forward);
}

TEST_CASE("an end is convicted at which an owner is left and something is not visible", "[model]") {
  Healthy state;
  CHECK(state.broken_at_end() == Claim::all_is_visible);

  // What dies before it has published leaves that to a takeover.
  state.world.coordinators[0] = {};
  state.world.coordinators[0].phase = Phase::dead;
  CHECK(state.broken_at_end() == std::nullopt);
}
