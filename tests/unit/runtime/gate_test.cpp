#include "millrace/runtime/flow/gate.hpp"

#include <map>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "violations.hpp"

using namespace millrace;

namespace {

constexpr CheckpointId checkpoint(std::uint64_t n) { return {{1}, n}; }

// What a task does after a barrier, one word each.
constexpr GateAction nothing{};
constexpr GateAction holds_first{false, true, true, false};
constexpr GateAction holds{false, true, false, false};
constexpr GateAction completes{false, false, false, true};
constexpr GateAction begins_and_completes{false, false, true, true};
constexpr GateAction ends_older_and_holds{true, true, true, false};

/// The rules of alignment, written down from what was seen instead of from a state.
class NaiveGate {
 public:
  explicit NaiveGate(int lanes) : lanes_(lanes) {}

  GateAction barrier(int lane, CheckpointId id) {
    const bool is_over = completed_.contains(id) || aborted_.contains(id);
    if (id < newest_ || is_over) return {};
    GateAction action;
    action.begins = arrived_[id].empty();
    action.release_all = action.begins && !held_.empty();
    if (action.release_all) held_.clear();
    newest_ = id;
    arrived_[id].insert(lane);
    action.complete = static_cast<int>(arrived_[id].size()) == lanes_;
    action.hold = !action.complete;
    if (action.complete) {
      held_.clear();
      completed_.insert(id);
    } else {
      held_.insert(lane);
    }
    return action;
  }

  bool abort(CheckpointId id) {
    if (id < newest_) return false;
    newest_ = id;
    aborted_.insert(id);
    const bool had_held = !held_.empty();
    held_.clear();
    return had_held;
  }

  const std::set<int>& held() const { return held_; }
  const std::set<CheckpointId>& completed() const { return completed_; }

 private:
  int lanes_;
  CheckpointId newest_;
  std::map<CheckpointId, std::set<int>> arrived_;
  std::set<CheckpointId> completed_;
  std::set<CheckpointId> aborted_;
  std::set<int> held_;
};

/// Every order in which barriers can come on lanes, and abortions between them.
class Walk {
 public:
  struct Place {
    Gate gate;
    NaiveGate model;
    std::vector<std::vector<CheckpointId>> lanes;  ///< What is still to come, the next one last.
    std::set<CheckpointId> aborts;                 ///< What may still be given up.
  };

  void from(const Place& place) {
    bool is_end = true;
    for (std::size_t lane = 0; lane < place.lanes.size(); ++lane) {
      const bool is_held = place.model.held().contains(static_cast<int>(lane));
      if (place.lanes[lane].empty() || is_held) continue;
      is_end = false;
      Place next = place;
      const CheckpointId id = next.lanes[lane].back();
      next.lanes[lane].pop_back();
      if (next.gate.barrier(static_cast<int>(lane), id) !=
          next.model.barrier(static_cast<int>(lane), id)) {
        ++differences;
      }
      compare(next);
      from(next);
    }
    for (const CheckpointId id : place.aborts) {
      Place next = place;
      next.aborts.erase(id);
      if (next.gate.abort(id) != next.model.abort(id)) ++differences;
      compare(next);
      from(next);
    }
    if (is_end) at_end(place);
  }

  int walks = 0;
  int differences = 0;
  int stuck = 0;  ///< Walks that end while barriers still wait, or lanes are held for nothing.
  std::map<std::size_t, int> by_completed;

 private:
  void compare(const Place& place) {
    if (place.gate.is_aligning() != !place.model.held().empty()) ++differences;
  }
  void at_end(const Place& place) {
    ++walks;
    ++by_completed[place.model.completed().size()];
    for (const auto& lane : place.lanes) stuck += lane.empty() ? 0 : 1;
    stuck += place.model.held().empty() ? 0 : 1;
    // What misses a barrier is given up by the coordinator, and that opens everything.
    Place given_up = place;
    given_up.gate.abort(checkpoint(3));
    if (given_up.gate.is_aligning()) ++differences;
  }
};

std::vector<CheckpointId> reversed_stream(unsigned subset) {
  std::vector<CheckpointId> stream;
  for (unsigned n = 3; n >= 1; --n) {
    if ((subset >> (n - 1) & 1) != 0) stream.push_back(checkpoint(n));
  }
  return stream;
}

}  // namespace

TEST_CASE("one lane is aligned by its barrier alone", "[runtime][gate]") {
  Gate gate(1);

  CHECK(gate.barrier(0, checkpoint(1)) == begins_and_completes);
  CHECK_FALSE(gate.is_aligning());
  CHECK(gate.barrier(0, checkpoint(2)) == begins_and_completes);
}

TEST_CASE("lanes are held from the first barrier to the last", "[runtime][gate]") {
  Gate gate(3);

  CHECK(gate.barrier(1, checkpoint(1)) == holds_first);
  CHECK(gate.is_aligning());
  CHECK(gate.barrier(0, checkpoint(1)) == holds);
  CHECK(gate.barrier(2, checkpoint(1)) == completes);
  CHECK_FALSE(gate.is_aligning());
  CHECK(gate.barrier(2, checkpoint(2)) == holds_first);  // And the next begins anew.
}

TEST_CASE("a newer barrier ends an older alignment and then holds its own lane",
          "[runtime][gate]") {
  Gate gate(3);
  gate.barrier(0, checkpoint(1));
  gate.barrier(1, checkpoint(1));

  CHECK(gate.barrier(2, checkpoint(2)) == ends_older_and_holds);
  CHECK(gate.barrier(0, checkpoint(2)) == holds);
  CHECK(gate.barrier(1, checkpoint(2)) == completes);
}

TEST_CASE("a barrier may jump over several checkpoints", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(1));

  CHECK(gate.barrier(1, checkpoint(7)) == ends_older_and_holds);
  CHECK(gate.barrier(0, checkpoint(6)) == nothing);
  CHECK(gate.barrier(0, checkpoint(7)) == completes);
}

TEST_CASE("a barrier of a checkpoint that is over leaves its lane open", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(2));
  gate.barrier(1, checkpoint(2));

  CHECK(gate.barrier(0, checkpoint(1)) == nothing);
  CHECK(gate.barrier(0, checkpoint(2)) == nothing);
  CHECK(gate.barrier(0, checkpoint(3)) == holds_first);
  CHECK(gate.barrier(1, checkpoint(2)) == nothing);  // Late, while a newer one is aligned.
  CHECK(gate.barrier(1, checkpoint(3)) == completes);
}

TEST_CASE("checkpoints of two terms are ordered by term first", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, {{1}, 9});

  CHECK(gate.barrier(1, {{1}, 10}) == ends_older_and_holds);
  CHECK(gate.barrier(0, {{2}, 1}) == ends_older_and_holds);
  CHECK(gate.barrier(1, {{1}, 11}) == nothing);
  CHECK(gate.barrier(1, {{2}, 1}) == completes);
}

TEST_CASE("giving up a checkpoint opens the lanes that are held for it", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(1));

  CHECK(gate.abort(checkpoint(1)));
  CHECK_FALSE(gate.is_aligning());
  CHECK(gate.barrier(1, checkpoint(1)) == nothing);  // The one that was on its way.
  CHECK_FALSE(gate.abort(checkpoint(1)));
  CHECK(gate.barrier(1, checkpoint(2)) == holds_first);
}

TEST_CASE("a checkpoint that was given up before its first barrier never begins",
          "[runtime][gate]") {
  Gate gate(2);

  CHECK_FALSE(gate.abort(checkpoint(1)));
  CHECK(gate.barrier(0, checkpoint(1)) == nothing);
  CHECK(gate.barrier(1, checkpoint(1)) == nothing);
  CHECK(gate.barrier(0, checkpoint(2)) == holds_first);
}

TEST_CASE("giving up an older checkpoint does not touch a newer one", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(2));

  CHECK_FALSE(gate.abort(checkpoint(1)));
  CHECK(gate.is_aligning());
  CHECK(gate.barrier(1, checkpoint(2)) == completes);
  CHECK_FALSE(gate.abort(checkpoint(2)));  // Too late: it was taken.
}

TEST_CASE("giving up a newer checkpoint ends the older alignment", "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(1));

  CHECK(gate.abort(checkpoint(2)));
  CHECK(gate.barrier(1, checkpoint(1)) == nothing);
  CHECK(gate.barrier(1, checkpoint(2)) == nothing);
}

TEST_CASE("a lane that delivers a barrier while it is held breaks an invariant",
          "[runtime][gate]") {
  Gate gate(2);
  gate.barrier(0, checkpoint(1));

  CHECK(broken_invariant([&] { gate.barrier(0, checkpoint(1)); }) ==
        "a lane that has delivered its barrier is held");
}

TEST_CASE("barriers of three checkpoints on three lanes align in every order, whatever is given up",
          "[runtime][gate]") {
  const auto stream = reversed_stream(7);
  const auto all = std::set{checkpoint(1), checkpoint(2), checkpoint(3)};
  const std::vector<Walk::Place> beginnings{
      {Gate(3), NaiveGate(3), {stream, stream, stream}, {checkpoint(1), checkpoint(2)}},
      {Gate(3), NaiveGate(3), {stream, stream, stream}, {checkpoint(2), checkpoint(3)}},
      {Gate(2), NaiveGate(2), {stream, stream}, all},
  };
  for (const Walk::Place& beginning : beginnings) {
    Walk walk;
    walk.from(beginning);

    CHECK(walk.differences == 0);
    CHECK(walk.stuck == 0);
    CHECK(walk.walks > 1'000);
    CHECK(walk.by_completed[1] > 0);
    CHECK(walk.by_completed[3] > 0);  // Given up too late, all of them.
  }
}

TEST_CASE("without anything given up every checkpoint on every lane is completed",
          "[runtime][gate]") {
  const auto stream = reversed_stream(7);
  Walk walk;
  walk.from({Gate(3), NaiveGate(3), {stream, stream, stream}, {}});

  CHECK(walk.differences == 0);
  CHECK(walk.stuck == 0);
  CHECK(walk.by_completed.size() == 1);
  CHECK(walk.by_completed[3] == 6 * 6 * 6);  // Three orders of three lanes.
}

TEST_CASE("lanes on which barriers are missing align as the rules say", "[runtime][gate]") {
  int differences = 0;
  int walks = 0;
  for (unsigned combination = 0; combination < 512; ++combination) {
    Walk walk;
    walk.from({Gate(3),
               NaiveGate(3),
               {reversed_stream(combination & 7), reversed_stream(combination >> 3 & 7),
                reversed_stream(combination >> 6)},
               {}});
    differences += walk.differences;
    walks += walk.walks;
  }
  CHECK(differences == 0);
  CHECK(walks > 5'000);
}
