#include "millrace/sqlite/fence_decision.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

constexpr Lineage ours{1, 2};
constexpr Lineage theirs{3, 4};
constexpr Term term{5};

FenceFacts facts(std::optional<Marker> marker) {
  FenceFacts found;
  found.request = {ours, term, false, false};
  found.marker = marker;
  return found;
}

/// Every combination of everything that the decision may look at.
std::vector<FenceFacts> all_facts() {
  std::vector<std::optional<Marker>> markers{std::nullopt};
  for (const Lineage lineage : {ours, theirs}) {
    for (const Term fence : {Term{4}, Term{5}, Term{6}}) {
      for (const CheckpointId id : {CheckpointId::genesis(), CheckpointId{{4}, 9}}) {
        markers.push_back(Marker{lineage, fence, id});
      }
    }
  }
  std::vector<FenceFacts> all;
  for (const auto& marker : markers) {
    for (int bits = 0; bits < 8; ++bits) {
      FenceFacts found = facts(marker);
      found.request.from_genesis = (bits & 1) != 0;
      found.request.adopt = (bits & 2) != 0;
      found.has_rows = (bits & 4) != 0;
      all.push_back(found);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a fence keeps what our lineage has published", "[sqlite][fence]") {
  const Fenced fenced = decide_fence(facts(Marker{ours, {4}, {{4}, 9}}));

  CHECK(fenced.outcome == FenceOutcome::fenced);
  CHECK(fenced.marker == Marker{ours, term, {{4}, 9}});
}

TEST_CASE("a fence of the same term may be repeated", "[sqlite][fence]") {
  const Marker fenced_before{ours, term, {{4}, 9}};

  CHECK(decide_fence(facts(fenced_before)).outcome == FenceOutcome::fenced);
  CHECK(decide_fence(facts(fenced_before)).marker == fenced_before);
}

TEST_CASE("a fence finds that a later term was faster", "[sqlite][fence]") {
  CHECK(decide_fence(facts(Marker{ours, {6}, {{4}, 9}})).outcome == FenceOutcome::superseded);
}

TEST_CASE("a job with a past does not begin anew at a sink without a marker", "[sqlite][fence]") {
  FenceFacts found = facts(std::nullopt);
  CHECK(decide_fence(found).outcome == FenceOutcome::absent);
  found.request.adopt = true;  // To take over rows is not to forget rows.
  CHECK(decide_fence(found).outcome == FenceOutcome::absent);
}

TEST_CASE("a new job takes rows without a marker only if told to", "[sqlite][fence]") {
  FenceFacts found = facts(std::nullopt);
  found.request.from_genesis = true;
  found.has_rows = true;
  CHECK(decide_fence(found).outcome == FenceOutcome::occupied);

  found.request.adopt = true;
  CHECK(decide_fence(found).outcome == FenceOutcome::fenced);
  CHECK(decide_fence(found).marker == Marker{ours, term, CheckpointId::genesis()});
}

TEST_CASE("a sink of another lineage is taken only if told to", "[sqlite][fence]") {
  FenceFacts found = facts(Marker{theirs, {4}, {{4}, 9}});
  CHECK(decide_fence(found).outcome == FenceOutcome::foreign);

  found.request.adopt = true;
  CHECK(decide_fence(found).outcome == FenceOutcome::fenced);
  // Nothing of what this lineage has staged may pass for published.
  CHECK(decide_fence(found).marker == Marker{ours, term, CheckpointId::genesis()});

  // Terms of two lineages are not comparable: a new job begins at term 1, whatever the old one was
  // at, and the lineage alone shuts the old one out.
  found.marker->fence_term = {6};
  CHECK(decide_fence(found).marker == Marker{ours, term, CheckpointId::genesis()});
}

TEST_CASE("whatever a fence finds, its law holds", "[sqlite][fence]") {
  int fenced_count = 0;
  for (const FenceFacts& found : all_facts()) {
    const auto [outcome, marker] = decide_fence(found);
    CAPTURE(found.marker.has_value(), found.request.from_genesis, found.request.adopt,
            found.has_rows);
    if (outcome != FenceOutcome::fenced) {
      CHECK(marker == found.marker);  // A refusal changes nothing.
      continue;
    }
    ++fenced_count;
    REQUIRE(marker.has_value());
    CHECK(marker->lineage == found.request.lineage);
    CHECK(marker->fence_term == found.request.term);
    if (!found.marker) {
      CHECK(found.request.from_genesis);
      CHECK((!found.has_rows || found.request.adopt));
      CHECK(marker->published == CheckpointId::genesis());
    } else {
      const bool was_ours = found.marker->lineage == ours;
      CHECK((was_ours || found.request.adopt));
      // Within a lineage a fence never sinks.
      CHECK((!was_ours || found.marker->fence_term <= marker->fence_term));
      CHECK(marker->published == (was_ours ? found.marker->published : CheckpointId::genesis()));
    }
  }
  // Without a marker: 3 of 8. Ours, not above: 4 markers, all 8. Theirs: 6 markers, half of 8.
  CHECK(fenced_count == 3 + 4 * 8 + 6 * 4);
}
