#include "millrace/sqlite/publish_decision.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

constexpr Lineage ours{1, 2};
constexpr Lineage theirs{3, 4};

PublishDecision decide(const Marker& marker, Term term, CheckpointId id) {
  return decide_publish(marker, ours, term, id);
}

}  // namespace

TEST_CASE("a publish inserts what is above the marker", "[sqlite][publish]") {
  const Marker marker{ours, {2}, {{1}, 7}};

  CHECK(decide(marker, {2}, {{1}, 8}) == PublishDecision::insert);
  CHECK(decide(marker, {2}, {{2}, 1}) == PublishDecision::insert);  // A smaller number, later term.
  CHECK(decide(marker, {2}, {{1}, 7}) == PublishDecision::repeat);
  CHECK(decide(marker, {2}, {{1}, 6}) == PublishDecision::repeat);
}

TEST_CASE("a publish needs a marker of its lineage and a fence not above its term",
          "[sqlite][publish]") {
  CHECK(decide_publish(std::nullopt, ours, {2}, {{2}, 1}) == PublishDecision::refuse);
  CHECK(decide({theirs, {2}, {}}, {2}, {{2}, 1}) == PublishDecision::refuse);
  CHECK(decide({ours, {3}, {}}, {2}, {{2}, 1}) == PublishDecision::refuse);
  CHECK(decide({ours, {2}, {}}, {2}, {{2}, 1}) == PublishDecision::insert);
  CHECK(decide({ours, {1}, {}}, {2}, {{2}, 1}) == PublishDecision::insert);
}

TEST_CASE("who may write at once is whoever has fenced the sink, and nobody else",
          "[sqlite][publish]") {
  const Marker marker{{1, 2}, {5}, {{4}, 3}};
  CHECK(may_write(marker, {1, 2}, {5}));
  CHECK_FALSE(may_write(marker, {1, 2}, {4}));
  CHECK_FALSE(may_write(marker, {1, 2}, {6}));
  CHECK_FALSE(may_write(marker, {3, 4}, {5}));
  CHECK_FALSE(may_write(std::nullopt, {1, 2}, {5}));
}

TEST_CASE("whatever a publish finds, it inserts only as the owner and above the marker",
          "[sqlite][publish]") {
  const CheckpointId ids[] = {{{0}, 0}, {{1}, 1}, {{1}, 2}, {{2}, 1}, {{2}, 2}, {{3}, 1}};
  for (const Lineage lineage : {ours, theirs}) {
    for (std::uint64_t fence = 0; fence < 4; ++fence) {
      for (std::uint64_t term = 0; term < 4; ++term) {
        for (const CheckpointId published : ids) {
          for (const CheckpointId id : ids) {
            CAPTURE(fence, term, to_text(published), to_text(id));
            const PublishDecision decision = decide({lineage, {fence}, published}, {term}, id);
            const bool is_owner = lineage == ours && fence <= term;
            CHECK((decision == PublishDecision::refuse) == !is_owner);
            CHECK((decision == PublishDecision::insert) == (is_owner && id > published));
          }
        }
      }
    }
  }
}
