#include "leftovers.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::properties;

namespace {

using Names = std::set<std::string>;

constexpr CheckpointId last{{2}, 3};

/// A job in its second term, whose newest checkpoint is 2.3.
LeftoversJudge judge_at_end(const Names& at_takeover = {"head", "manifest/1.4",
                                                        "state/1.4-window.0"}) {
  LeftoversJudge judge;
  judge.took_over({2}, {{1}, 4}, at_takeover);
  judge.swept({2}, {});
  Witness witness;
  witness.id = last;
  witness.states = {"state/2.3-window.0", "state/2.3-source.0"};
  judge.claimed(witness);
  return judge;
}

const Names clean{"head", "heartbeat/2", "manifest/2.3", "state/2.3-source.0",
                  "state/2.3-window.0"};

/// Of what is there after the last sweep, and at the end.
std::string complaint(LeftoversJudge judge, Names names, const std::string& more) {
  names.insert(more);
  judge.swept({3}, names);
  const auto breach = judge.judge(last, names);
  if (!breach) return "";
  CHECK(breach->judge == "leftovers");
  return breach->what;
}

}  // namespace

TEST_CASE("what the last manifest reaches is left, and is no leftover", "[properties][leftovers]") {
  CHECK(complaint(judge_at_end(), clean, "head").empty());
}

TEST_CASE("what the last manifest keeps of earlier checkpoints is left, and must be",
          "[properties][leftovers]") {
  Witness witness;
  witness.id = last;
  witness.states = {"state/2.3-window.0", "state/2.3-source.0"};
  witness.kept = {"manifest/1.2", "state/1.2-window.0"};
  LeftoversJudge judge = judge_at_end({"manifest/1.2", "state/1.2-window.0", "manifest/1.1"});
  judge.claimed(witness);
  Names names = clean;
  names.insert({"manifest/1.2", "state/1.2-window.0"});
  CHECK(complaint(judge, names, "head").empty());
  LeftoversJudge untold = judge;  // The owner died of the swap that finished the job.
  untold.swept({3}, names);
  CHECK(untold.judge(last, {}) == std::nullopt);
  CHECK(complaint(judge, names, "manifest/1.1") ==
        "the job is finished at checkpoint 2.3 in term 2, and the store still holds 1 objects "
        "that nobody needs: manifest/1.1");

  names.erase("state/1.2-window.0");
  CHECK(complaint(judge, names, "head") ==
        "the job is finished at checkpoint 2.3, which keeps state/1.2-window.0, and the store does "
        "not hold that any more");
}

TEST_CASE("a sweep leaves what the restored manifest keeps", "[properties][leftovers]") {
  const Names names{"head", "manifest/1.4", "manifest/1.3", "state/1.3-window.0"};
  for (const bool is_kept : {true, false}) {
    LeftoversJudge judge;
    Witness restored;
    restored.id = {{1}, 4};
    if (is_kept) restored.kept = {"manifest/1.3", "state/1.3-window.0"};
    judge.claimed(restored);
    judge.took_over({2}, {{1}, 4}, names);
    judge.swept({2}, names);
    judge.swept({3}, {});
    CHECK(judge.judge(last, {}).has_value() != is_kept);
  }
}

TEST_CASE("whatever else a finished job leaves is told by name", "[properties][leftovers]") {
  for (const std::string name :
       {"state/2.2-window.0", "manifest/2.2", "staged/2.3-sink.0", "state/2.3-window.1",
        "manifest/1.4", "state/1.4-window.0", "notes"}) {
    CAPTURE(name);
    CHECK(complaint(judge_at_end(), clean, name) ==
          "the job is finished at checkpoint 2.3 in term 2, and the store still holds 1 objects "
          "that nobody needs: " +
              name);
  }
}

TEST_CASE("a few leftovers are named of many", "[properties][leftovers]") {
  const Names names{"head", "state/2.1-a.0", "state/2.1-a.1", "state/2.1-a.2", "state/2.1-a.3"};
  LeftoversJudge judge = judge_at_end();
  judge.swept({3}, names);
  const auto breach = judge.judge(last, names);
  REQUIRE(breach);
  CHECK(breach->what ==
        "the job is finished at checkpoint 2.3 in term 2, and the store still holds 4 objects that "
        "nobody needs: state/2.1-a.0, state/2.1-a.1, state/2.1-a.2 and more");
}

TEST_CASE("what zombies wrote after the last takeover is not held against the job",
          "[properties][leftovers]") {
  CHECK(complaint(judge_at_end(), clean, "state/1.5-window.0").empty());
  CHECK(complaint(judge_at_end(), clean, "heartbeat/1").empty());
  // But a heartbeat that was there must have been swept.
  CHECK(!complaint(judge_at_end({"heartbeat/1"}), clean, "heartbeat/1").empty());

  LeftoversJudge swept = judge_at_end({"heartbeat/1"});
  swept.saw({});
  CHECK(complaint(swept, clean, "heartbeat/1").empty());
}

TEST_CASE("what came back after the last sweep is not held against the job",
          "[properties][leftovers]") {
  Names returned = clean;
  returned.insert("state/2.2-window.0");
  LeftoversJudge judge = judge_at_end();
  judge.swept({3}, clean);
  CHECK_FALSE(judge.judge(last, returned));
  judge.swept({3}, returned);
  CHECK(judge.judge(last, returned));
}

TEST_CASE("a job that does not sweep at its end is told of", "[properties][leftovers]") {
  const auto breach = judge_at_end().judge(last, clean);
  REQUIRE(breach);
  CHECK(breach->what == "the job is finished, and term 2 has not swept at its end");
}

TEST_CASE(
    "a takeover's sweep leaves what the restored manifest reaches, and nothing else of before",
    "[properties][leftovers]") {
  const CheckpointId restored{{1}, 4};
  Witness witness;
  witness.id = restored;
  witness.states = {"state/1.4-window.0"};
  witness.staged = {"staged/1.3-sink.0"};
  const Names reached{"head", "manifest/1.4", "state/1.4-window.0", "staged/1.3-sink.0"};
  const auto complaint_after = [&](Names names, const Names& after_sweep) {
    LeftoversJudge judge;
    judge.claimed(witness);
    names.insert(reached.begin(), reached.end());
    judge.took_over({2}, restored, names);
    judge.swept({2}, after_sweep);
    judge.swept({3}, {});
    const auto breach = judge.judge(last, {});
    return breach ? breach->what : "";
  };

  CHECK(complaint_after({}, reached).empty());
  CHECK(complaint_after({"staged/1.5-sink.0"}, reached).empty());  // It is gone.
  CHECK(complaint_after({}, {"staged/1.5-sink.0"}).empty());       // A zombie's, and new.
  CHECK(complaint_after({"staged/1.5-sink.0"}, {"staged/1.5-sink.0"}) ==
        "term 2 has swept the store, which still holds staged/1.5-sink.0, and nothing that it "
        "restored reaches that");
}

TEST_CASE("who learns late that it took over does not count", "[properties][leftovers]") {
  LeftoversJudge judge = judge_at_end();
  judge.took_over({1}, {}, {});
  CHECK(complaint(judge, clean, "head").empty());
}

TEST_CASE("a takeover that never sweeps is told of", "[properties][leftovers]") {
  LeftoversJudge judge;
  judge.took_over({2}, {}, {});
  judge.swept({1}, {});  // Another's.
  const auto breach = judge.judge(last, {});
  REQUIRE(breach);
  CHECK(breach->what == "the job is finished, and term 2 has never swept the store");
}

TEST_CASE("tasks that still run are leftovers", "[properties][leftovers]") {
  LeftoversJudge judge = judge_at_end();
  judge.swept({3}, clean);
  judge.still_runs("worker1: window.0");
  const auto breach = judge.judge(last, clean);
  REQUIRE(breach);
  CHECK(breach->what == "the job is finished, and tasks of it still run: worker1: window.0");
}
