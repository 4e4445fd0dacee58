#include "millrace/runtime/coordinator/kept.hpp"

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/coordinator/sweeper.hpp"

#include "violations.hpp"

using namespace millrace;

namespace {

constexpr CheckpointKind plain = CheckpointKind::periodic;
constexpr CheckpointKind pinned = CheckpointKind::savepoint;

Manifest manifest(std::uint64_t n, CheckpointKind kind = plain) {
  Manifest made;
  made.lineage = {1, 2};
  made.id = {{1}, n};
  made.kind = kind;
  StateObject state;
  state.name = "state/" + to_text(made.id) + "-window.0";
  state.sections.resize(2);
  state.sections[0].size_bytes = 30;
  state.sections[1].size_bytes = 12;
  made.states = {state};
  return made;
}

/// The numbers of what is kept when checkpoints of these kinds follow each other, the last of which
/// is the newest.
std::vector<std::uint64_t> kept_of(const std::vector<CheckpointKind>& kinds,
                                   std::uint32_t retained) {
  Manifest newest = manifest(1, kinds[0]);
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    Manifest next = manifest(i + 1, kinds[i]);
    next.kept = kept_after(newest, i, retained);
    newest = std::move(next);
  }
  std::vector<std::uint64_t> numbers;
  for (const KeptCheckpoint& kept : newest.kept) numbers.push_back(kept.id.n);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("of checkpoints that nobody pinned the newest are kept", "[runtime][kept]") {
  const std::vector<CheckpointKind> five(5, plain);
  CHECK(kept_of(five, 1) == Numbers{});
  CHECK(kept_of(five, 2) == Numbers{4});
  CHECK(kept_of(five, 3) == Numbers{3, 4});
  CHECK(kept_of(five, 5) == Numbers{1, 2, 3, 4});
  CHECK(kept_of(five, 100) == Numbers{1, 2, 3, 4});
}

TEST_CASE("a pinned checkpoint is kept, and takes nobody's place", "[runtime][kept]") {
  const std::vector<CheckpointKind> kinds{plain, pinned, plain, CheckpointKind::stop, plain, plain};
  CHECK(kept_of(kinds, 1) == Numbers{2, 4});
  CHECK(kept_of(kinds, 2) == Numbers{2, 4, 5});
  CHECK(kept_of(kinds, 3) == Numbers{2, 3, 4, 5});
  CHECK(kept_of(kinds, 4) == Numbers{1, 2, 3, 4, 5});
}

TEST_CASE("what is kept is told as it was completed", "[runtime][kept]") {
  Manifest previous = manifest(7, CheckpointKind::drain);
  previous.request = 5;
  const auto kept = kept_after(previous, 99, 1);

  REQUIRE(kept.size() == 1);
  CHECK(kept[0] ==
        KeptCheckpoint{
            {{1}, 7}, CheckpointKind::drain, 5, "manifest/1.7", 99, {"state/1.7-window.0"}, 42});
}

TEST_CASE("fewer are kept when fewer are to be", "[runtime][kept]") {
  Manifest previous = manifest(9);
  previous.kept = kept_after(manifest(8), 1, 9);
  REQUIRE(previous.kept.size() == 1);

  CHECK(kept_after(previous, 2, 1).empty());
  CHECK(kept_after(previous, 2, 3).size() == 2);
}

TEST_CASE("genesis is kept if there is something in it to go back to", "[runtime][kept]") {
  Manifest genesis;
  genesis.lineage = {1, 2};
  CHECK(kept_after(genesis, 1, 10).empty());
  genesis.states = manifest(1).states;
  REQUIRE(kept_after(genesis, 1, 10).size() == 1);
  CHECK(kept_after(genesis, 1, 10)[0].manifest == name_of(genesis));
}

TEST_CASE("to keep not even the newest checkpoint breaks an invariant", "[runtime][kept]") {
  CHECK(broken_invariant([] { kept_after(manifest(1), 1, 0); }) ==
        "the newest checkpoint is always kept");
}

TEST_CASE("what is kept is reached, and superseded when it is kept no longer", "[runtime][kept]") {
  Manifest older = manifest(2);
  older.kept = kept_after(manifest(1), 1, 2);
  older.staged = {{"sink", older.id, 0, "staged/1.2-sink.0", 1, 1}};
  CHECK(reached_by(older) == std::set<std::string>{"manifest/1.1", "manifest/1.2",
                                                   "state/1.1-window.0", "state/1.2-window.0",
                                                   "staged/1.2-sink.0"});

  Manifest newer = manifest(3);
  newer.kept = kept_after(older, 2, 2);
  // Its rows are visible, so that nobody needs them where it is gone back to.
  CHECK(superseded_names(older, newer, newer.id) ==
        std::vector<std::string>{"manifest/1.1", "staged/1.2-sink.0", "state/1.1-window.0"});
}
