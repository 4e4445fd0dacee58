#include "millrace/runtime/sink/sink_recovery.hpp"

#include <catch2/catch.hpp>

#include "violations.hpp"

using namespace millrace;

namespace {

constexpr Lineage ours{1, 2};
constexpr Lineage theirs{3, 4};
constexpr CheckpointId marker_at(std::uint64_t n) { return {{2}, n}; }

StagedObject staged(CheckpointId id, std::uint32_t subtask = 0) {
  StagedObject object;
  object.sink = "sink";
  object.id = id;
  object.subtask = subtask;
  object.name = "staged/" + to_text(id) + "-sink." + std::to_string(subtask);
  object.rows = 7;
  return object;
}

std::vector<StagedObject> list(std::vector<CheckpointId> ids) {
  std::vector<StagedObject> objects;
  for (const CheckpointId id : ids) objects.push_back(staged(id));
  return objects;
}

/// A sink that was fenced, with a marker at `published`, for a job restored at 2.3.
SinkRecoveryFacts fenced(CheckpointId published) {
  SinkRecoveryFacts facts;
  facts.restored = {{2}, 3};
  facts.lineage = ours;
  facts.fenced = {FenceOutcome::fenced, Marker{ours, {3}, published}};
  return facts;
}

}  // namespace

TEST_CASE("a takeover publishes what the crash left staged", "[runtime][sink_recovery]") {
  SinkRecoveryFacts facts = fenced({{2}, 1});
  facts.listed = list({{{2}, 2}, {{2}, 3}});

  CHECK(decide_sink_recovery(facts) == SinkRecovery{PublishListed{facts.listed}});
}

TEST_CASE("a sink that shows everything has nothing to publish", "[runtime][sink_recovery]") {
  SinkRecoveryFacts facts = fenced({{2}, 3});
  facts.listed = list({{{2}, 2}, {{2}, 3}});
  facts.missing = {facts.listed[0].name, facts.listed[1].name};  // Swept, as visible rows are.

  CHECK(decide_sink_recovery(facts) == SinkRecovery{PublishListed{}});
}

TEST_CASE("what is published lies above the marker, by checkpoint and then subtask",
          "[runtime][sink_recovery]") {
  const std::vector<StagedObject> listed{staged({{2}, 10}, 0), staged({{2}, 9}, 1),
                                         staged({{1}, 99}, 0), staged({{2}, 9}, 0),
                                         staged({{2}, 8}, 0)};

  CHECK(above({{2}, 8}, listed) ==
        std::vector<StagedObject>{staged({{2}, 9}, 0), staged({{2}, 9}, 1), staged({{2}, 10}, 0)});
  CHECK(above({{2}, 9}, listed) == std::vector<StagedObject>{staged({{2}, 10}, 0)});
  CHECK(above({{2}, 10}, listed).empty());
  CHECK(above(CheckpointId::genesis(), listed).size() == 5);
  CHECK(above(CheckpointId::genesis(), listed).front() == staged({{1}, 99}, 0));
}

TEST_CASE("a marker is compared with the restored checkpoint at -1, 0 and +1",
          "[runtime][sink_recovery]") {
  CHECK(std::holds_alternative<PublishListed>(decide_sink_recovery(fenced({{2}, 2}))));
  CHECK(std::holds_alternative<PublishListed>(decide_sink_recovery(fenced({{2}, 3}))));
  CHECK(decide_sink_recovery(fenced({{2}, 4})) ==
        SinkRecovery{
            RefuseSink{Refusal::sink_ahead, "the sink shows checkpoint 2.4, the state is at 2.3"}});
  CHECK(std::holds_alternative<PublishListed>(decide_sink_recovery(fenced({{1}, 9}))));
  CHECK(std::holds_alternative<RefuseSink>(decide_sink_recovery(fenced({{3}, 1}))));
}

TEST_CASE("staged rows that are gone, and were not published, are a named refusal",
          "[runtime][sink_recovery]") {
  SinkRecoveryFacts facts = fenced({{2}, 1});
  facts.listed = list({{{2}, 2}, {{2}, 3}});
  facts.missing = {facts.listed[1].name};

  CHECK(decide_sink_recovery(facts) ==
        SinkRecovery{RefuseSink{Refusal::staged_rows_missing, "staged/2.3-sink.0 with 7 rows"}});
}

TEST_CASE("a sink that cannot be fenced is refused by name, or given up to a later term",
          "[runtime][sink_recovery]") {
  SinkRecoveryFacts facts = fenced({{2}, 1});
  facts.fenced = {FenceOutcome::superseded, Marker{ours, {9}, {{2}, 1}}};
  CHECK(decide_sink_recovery(facts) == SinkRecovery{SinkSuperseded{}});

  facts.fenced = {FenceOutcome::absent, std::nullopt};
  CHECK(decide_sink_recovery(facts) ==
        SinkRecovery{RefuseSink{Refusal::marker_missing, "the job is at checkpoint 2.3"}});

  facts.fenced = {FenceOutcome::foreign, Marker{theirs, {9}, {{2}, 1}}};
  CHECK(decide_sink_recovery(facts) ==
        SinkRecovery{RefuseSink{Refusal::sink_foreign,
                                "the state is of lineage 00000000000000010000000000000002, the "
                                "sink of 00000000000000030000000000000004"}});

  facts.fenced = {FenceOutcome::occupied, std::nullopt};
  CHECK(decide_sink_recovery(facts) ==
        SinkRecovery{RefuseSink{Refusal::sink_occupied, "it has rows already"}});
}

TEST_CASE("what is listed and what is gone do not matter at a sink that was not fenced",
          "[runtime][sink_recovery]") {
  for (const FenceOutcome outcome : {FenceOutcome::superseded, FenceOutcome::absent,
                                     FenceOutcome::foreign, FenceOutcome::occupied}) {
    SinkRecoveryFacts facts = fenced({{2}, 1});
    facts.fenced = {outcome, Marker{theirs, {9}, {{2}, 1}}};
    const SinkRecovery alone = decide_sink_recovery(facts);
    facts.listed = list({{{2}, 2}, {{2}, 3}});
    CHECK(decide_sink_recovery(facts) == alone);
    facts.missing = {facts.listed[0].name};
    CHECK(decide_sink_recovery(facts) == alone);
    CHECK_FALSE(std::holds_alternative<PublishListed>(alone));
  }
}

TEST_CASE("a fenced sink without a marker breaks an invariant", "[runtime][sink_recovery]") {
  SinkRecoveryFacts facts = fenced({{2}, 1});
  facts.fenced.marker.reset();

  CHECK(broken_invariant([&] { decide_sink_recovery(facts); }) == "a fenced sink has a marker");
}

TEST_CASE("whatever a recovery finds, it publishes all that is listed above the marker, or refuses",
          "[runtime][sink_recovery]") {
  const std::vector<CheckpointId> ids{marker_at(1), marker_at(2), marker_at(3)};
  int published = 0;
  int ahead = 0;
  int missing = 0;
  // Every marker, every restored checkpoint, every list, every subset of it that is gone.
  for (std::uint64_t marker = 0; marker <= 4; ++marker) {
    for (std::uint64_t restored = 1; restored <= 4; ++restored) {
      for (unsigned listed = 0; listed < 8; ++listed) {
        for (unsigned gone = 0; gone < 8; ++gone) {
          if ((gone & ~listed) != 0) continue;
          SinkRecoveryFacts facts =
              fenced(marker == 0 ? CheckpointId::genesis() : marker_at(marker));
          facts.restored = marker_at(restored);
          std::vector<StagedObject> wanted;
          bool lacks_one = false;
          for (unsigned i = 0; i < 3; ++i) {
            if ((listed >> i & 1) == 0) continue;
            facts.listed.push_back(staged(ids[i]));
            const bool is_needed = i + 1 > marker;
            if (is_needed) wanted.push_back(staged(ids[i]));
            if ((gone >> i & 1) == 0) continue;
            facts.missing.push_back(staged(ids[i]).name);
            lacks_one = lacks_one || is_needed;
          }

          const SinkRecovery step = decide_sink_recovery(facts);

          const auto* refuse = std::get_if<RefuseSink>(&step);
          if (marker > restored) {
            ++ahead;
            REQUIRE(refuse != nullptr);
            REQUIRE(refuse->why == Refusal::sink_ahead);
          } else if (lacks_one) {
            ++missing;
            REQUIRE(refuse != nullptr);
            REQUIRE(refuse->why == Refusal::staged_rows_missing);
          } else {
            ++published;
            REQUIRE(step == SinkRecovery{PublishListed{wanted}});
          }
        }
      }
    }
  }
  CHECK(ahead == 6 * 27);
  CHECK(missing > 0);
  CHECK(published + missing == 14 * 27);
}
