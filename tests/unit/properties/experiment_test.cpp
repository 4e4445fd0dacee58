#include "millrace/properties/experiment.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "calm_run.hpp"
#include "corpus_subject.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kill_kind = 0;
constexpr std::size_t power_loss_kind = 1;
constexpr std::size_t pause_kind = 2;

/// Two partitions of records of three keys, one every 50 ms of event time: 150 each.
Input small_input() {
  Input input;
  for (const char* name : {"p.jsonl", "q.jsonl"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 150; ++i) {
      lines.push_back(record(std::string(1, static_cast<char>('a' + i % 3)), i * 50));
    }
    input.partitions.push_back(partition_of(name, lines));
  }
  return input;
}

const Subject& small_subject() {
  static const Subject subject(spec_of(SmallJob{}), small_input());
  return subject;
}

std::uint64_t times_reached(const Outcome& outcome, const Landmark& landmark) {
  const auto* const found =
      std::find(std::begin(landmarks::all), std::end(landmarks::all), &landmark);
  return outcome.statistics.landmarks[static_cast<std::size_t>(found - std::begin(landmarks::all))];
}

/// Makes every coordinator end without a word when it has got somewhere.
Observers coordinators_end_at(const Landmark& landmark) {
  Observers observers;
  observers.on_landmark = [&landmark](Instant, std::string_view, const sim::LandmarkEvent& event) {
    if (&event.landmark == &landmark) throw Killed{};
  };
  return observers;
}

}  // namespace

TEST_CASE("a job ends without waiting for its interval, however soon its input does",
          "[properties][experiment]") {
  // So soon that whoever leads hears of it before it has heard that all tasks run.
  const Subject subject(spec_of(SmallJob{}), head_of(small_input(), 2));
  Case scenario = case_of(subject, {"pause node=coordinator1 at='task_restored' lasts=1s",
                                    "pause node=coordinator2 at='task_restored' lasts=1s"});
  scenario.arrival = 0ms;
  scenario.checkpoint.interval = 1h;
  const Outcome outcome = run(scenario, subject);
  CHECK(story_of(outcome) == "held");
  CHECK(outcome.unfired.empty());
  CHECK(outcome.statistics.virtual_ns < std::chrono::nanoseconds(10min).count());
}

TEST_CASE("a job restarts when one checkpoint more has failed in a row than is tolerable",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::uint32_t tolerable : {0U, 1U, 4U}) {
    CAPTURE(tolerable);
    Case scenario = case_of(subject);
    scenario.checkpoint.timeout = 1s;
    scenario.checkpoint.tolerable_failures = tolerable;
    // An uploader of the first term dies without a word, and nothing but a restart brings it back.
    Observers observers;
    observers.on_landmark = [](Instant, std::string_view, const sim::LandmarkEvent& event) {
      if (&event.landmark == &landmarks::upload_begun && event.fields.id.term.number == 1) {
        throw Killed{};
      }
    };
    const Outcome outcome = run(scenario, subject, observers);
    CHECK(story_of(outcome) == "held");
    CHECK(times_reached(outcome, landmarks::checkpoint_aborted) == tolerable + 1);
    CHECK(times_reached(outcome, landmarks::restarting) == 1);
  }
}

TEST_CASE("a store that is away for several checkpoints costs no restart",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    Case scenario =
        case_of(subject, {"pause node=store at='checkpoint_triggered n=2' lasts=1500ms"}, seed);
    scenario.checkpoint.timeout = 300ms;
    scenario.checkpoint.tolerable_failures = 10;
    const Outcome outcome = run(scenario, subject);
    CHECK(story_of(outcome) == "held");
    CHECK(outcome.unfired.empty());
    CHECK(times_reached(outcome, landmarks::checkpoint_aborted) >= 2);
    CHECK(times_reached(outcome, landmarks::restarting) == 0);
  }
}

TEST_CASE("a job that may not restart fails with its first failure", "[properties][experiment]") {
  const Subject& subject = small_subject();
  Case scenario = case_of(subject, {"kill node=worker1 at='published' down=100ms"});
  scenario.restart.attempts = 0;

  CHECK(story_of(run(scenario, subject)) ==
        "failed; gave up after 0 restarts without a completed checkpoint; the last failure: "
        "worker1 is gone");
}

TEST_CASE("how long a job may be without progress follows from its options",
          "[properties][experiment]") {
  CheckpointOptions checkpoint;
  RestartOptions restart;
  checkpoint.interval = 100ms;
  // Three that are tolerated, and three times interval, timeout, lease, silence and back-off.
  CHECK(liveness_bound(checkpoint, restart) == 3 * 10s + 3 * (100ms + 10s + 2s + 2s + 5s));
  checkpoint.min_pause = 50ms;
  checkpoint.timeout = 1s;
  checkpoint.tolerable_failures = 0;
  restart.max_delay = 300ms;
  CHECK(liveness_bound(checkpoint, restart) == 3 * (100ms + 50ms + 1s + 2s + 2s + 300ms));
  restart.strategy = RestartOptions::Strategy::fixed;
  restart.delay = 7s;
  CHECK(liveness_bound(checkpoint, restart) == 3 * (100ms + 50ms + 1s + 2s + 2s + 7s));
}

TEST_CASE("a partition that falls idle is not waited for, and what it then gives may be late",
          "[properties][experiment]") {
  JobSpec spec = spec_of(SmallJob{});
  for (const bool falls_idle : {false, true}) {
    if (falls_idle) spec.sources[0].idle_after = 50ms;
    const Subject subject(spec, small_input());
    Case scenario = case_of(subject);
    scenario.arrival = 20s;  // With pauses that are longer.
    const Outcome outcome = run(scenario, subject);
    INFO(falls_idle);
    CHECK(story_of(outcome) == "held");
    CHECK((times_reached(outcome, landmarks::rows_late) > 0) == falls_idle);
  }
}

TEST_CASE("a run without faults holds, and its numbers are plausible", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const Outcome outcome = run(case_of(subject), subject);
  const RunStatistics& statistics = outcome.statistics;

  CHECK(story_of(outcome) == "held");
  CHECK(outcome.rows == RowCounts{});
  CHECK(outcome.unfired.empty());
  CHECK(outcome.trace_hash != 0);
  CHECK(statistics.records == 300);
  // The input arrives within a second, with a checkpoint every 100 ms.
  CHECK(statistics.checkpoints >= 3);
  CHECK(statistics.checkpoints <= 30);
  CHECK(statistics.checkpoints == times_reached(outcome, landmarks::manifest_written));
  CHECK(statistics.publishes >= 3);
  CHECK(statistics.publishes <= statistics.checkpoints);
  CHECK(statistics.virtual_ns > 500'000'000);
  CHECK(statistics.virtual_ns < 20'000'000'000);
  CHECK(statistics.events > statistics.messages);
  CHECK(statistics.switches > 100);
  CHECK(statistics.messages > 100);
  CHECK(statistics.firings == faults::Firings{});
}

TEST_CASE("a run counts the landmarks that were reached", "[properties][experiment]") {
  const Subject& subject = small_subject();
  std::map<std::string_view, std::uint64_t> seen;
  std::set<std::string> nodes;
  Observers observers;
  observers.on_landmark = [&](Instant, std::string_view node, const sim::LandmarkEvent& event) {
    ++seen[event.landmark.name];
    nodes.emplace(node);
  };
  const Outcome outcome = run(case_of(subject), subject, observers);

  for (const Landmark* landmark : landmarks::all) {
    CAPTURE(landmark->name);
    CHECK(times_reached(outcome, *landmark) == seen[landmark->name]);
  }
  CHECK(times_reached(outcome, landmarks::genesis_stored) >= 1);  // Two may begin it at once.
  CHECK(times_reached(outcome, landmarks::took_over) == 1);
  CHECK(times_reached(outcome, landmarks::job_finished) == 1);
  CHECK(times_reached(outcome, landmarks::restarting) == 0);
  CHECK(times_reached(outcome, landmarks::manifest_written) > 3);
  CHECK(times_reached(outcome, landmarks::window_fired) > 0);
  CHECK(nodes.count("worker1") == 1);
  CHECK(nodes.count("worker2") == 1);
}

TEST_CASE("the same case twice is the same run, event by event", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const std::vector<std::string> faults{"kill node=worker1 at='sink_staged nth=2' down=50ms",
                                        "power_loss node=database at=400ms down=100ms"};
  const auto events_of = [&](std::uint64_t seed) {
    std::vector<sim::TraceEvent> events;
    Observers observers;
    observers.on_event = [&](const sim::TraceEvent& event) { events.push_back(event); };
    const Outcome outcome = run(case_of(subject, faults, seed), subject, observers);
    CHECK(outcome.statistics.events == events.size());
    return std::pair(outcome.trace_hash, events);
  };
  const auto first = events_of(5);
  const auto second = events_of(5);
  const auto other = events_of(6);

  CHECK(first.first == second.first);
  CHECK(first.second == second.second);
  CHECK(first.first != other.first);
}

TEST_CASE("whoever looks at a run does not change it", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const Case scenario = case_of(subject, {"kill node=worker2 at='uploaded nth=3' down=20ms"});
  int looked = 0;
  Observers observers;
  observers.on_event = [&](const sim::TraceEvent&) { ++looked; };
  observers.on_note = [&](Instant, std::string_view, std::string_view) { ++looked; };
  observers.on_landmark = [&](Instant, std::string_view, const sim::LandmarkEvent&) { ++looked; };

  CHECK(run(scenario, subject, observers).trace_hash == run(scenario, subject).trace_hash);
  CHECK(looked > 1000);
}

TEST_CASE("what is in a case but decides nothing changes no run", "[properties][experiment]") {
  const Subject& subject = small_subject();
  Case scenario = case_of(subject);
  const std::uint64_t hash = run(scenario, subject).trace_hash;
  scenario.expect = Verdict::breached;
  scenario.build = "another";
  scenario.trace_hash = 7;

  CHECK(run(scenario, subject).trace_hash == hash);
}

TEST_CASE("all that decides a run changes it", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const auto hash_with = [&](auto change) {
    Case scenario = case_of(subject);
    change(scenario);
    const Outcome outcome = run(scenario, subject);
    CHECK(story_of(outcome) == "held");
    return outcome.trace_hash;
  };
  const std::vector<std::uint64_t> hashes{
      hash_with([](Case&) {}),
      hash_with([](Case& c) { c.seed = 2; }),
      hash_with([](Case& c) { c.is_quiet = true; }),
      hash_with([](Case& c) { c.cluster.workers = 1; }),
      hash_with([](Case& c) { c.cluster.parallelism = 3; }),
      hash_with([](Case& c) { c.cluster.database = DatabaseKind::memory; }),
      hash_with([](Case& c) { c.arrival = 1200ms; }),
      hash_with([](Case& c) { c.checkpoint.interval = 150ms; }),
      hash_with([](Case& c) { c.checkpoint.min_pause = 150ms; }),
      hash_with([](Case& c) {
        c.plan.faults.push_back(faults::parse_fault("kill node=worker1 at=300ms down=10ms"));
      }),
  };
  CHECK(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size() == hashes.size());
}

TEST_CASE("a quiet run does not depend on the seed", "[properties][experiment]") {
  const Subject& subject = small_subject();
  Case one = case_of(subject, {}, 1);
  Case two = case_of(subject, {}, 2);
  one.is_quiet = true;
  two.is_quiet = true;

  CHECK(run(one, subject).trace_hash == run(two, subject).trace_hash);
}

TEST_CASE("a quiet run of which all draws are explicit is the run of the seed they came from",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::uint64_t seed : {1, 2, 3}) {
    Case seeded = case_of(
        subject,
        {"kill node=worker1 at=300ms down=100ms", "power_loss node=store at='published' down=1s",
         "frames node=coordinator1 peer=worker2 at=0s lasts=1s lose=1/4 "
         "repeat=1/4 hold=1/4"},
        seed);
    std::vector<sim::Drawn> draws;
    Observers observers;
    observers.on_draws = [&](const std::vector<sim::Drawn>& all) { draws = all; };
    sim::StackPool stacks;
    const Outcome noted = run_case(seeded, subject, stacks, observers);
    REQUIRE(noted.trace_hash == run(seeded, subject).trace_hash);
    REQUIRE(draws.size() > 1000);

    Case listed = seeded;
    listed.seed = 0;
    listed.is_quiet = true;
    REQUIRE(run(listed, subject).trace_hash != noted.trace_hash);
    for (const sim::Drawn& drawn : draws) {
      CHECK(drawn.choice.value != 0);
      listed.choices.push_back(drawn.choice);
    }
    const Outcome again = run(listed, subject);
    CHECK(again.trace_hash == noted.trace_hash);
    CHECK(again.unasked.empty());
  }
}

TEST_CASE("a choice changes a run, and one that is never asked for is told",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  Case scenario = case_of(subject);
  scenario.is_quiet = true;
  const std::uint64_t usual = run(scenario, subject).trace_hash;
  const std::string never = "world site=network.latency entity=nobody draw=0 value=1";
  scenario.choices = {sim::parse_choice(never)};

  const Outcome same = run(scenario, subject);
  CHECK(same.trace_hash == usual);
  CHECK(same.unasked == std::vector<std::string>{never});

  scenario.choices = {
      sim::parse_choice("world site=disk.sync_time entity=store/store.session1/life1 draw=0 "
                        "value=1000000")};
  const Outcome other = run(scenario, subject);
  CHECK(story_of(other) == "held");
  CHECK(other.trace_hash != usual);
  CHECK(other.unasked.empty());
}

TEST_CASE("faults of every kind happen on every kind of node, and the job holds",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::string node :
       {"coordinator1", "coordinator2", "worker1", "worker2", "store", "database", "log"}) {
    const Outcome outcome = run(case_of(subject, {"kill node=" + node + " at=300ms down=100ms",
                                                  "power_loss node=" + node + " at=3s down=3s",
                                                  "pause node=" + node + " at=1200ms lasts=700ms"}),
                                subject);
    CAPTURE(node);
    CHECK(story_of(outcome) == "held");
    CHECK(outcome.statistics.firings[kill_kind] == 1);
    CHECK(outcome.statistics.firings[pause_kind] + outcome.statistics.firings[power_loss_kind] +
              outcome.unfired.size() ==
          2);
  }
}

TEST_CASE("what goes wrong without anybody dying happens to a job, which holds",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::string fault :
       {"cut node=worker1 peer=* way=both at=400ms lasts=6s",
        "cut node=worker2 peer=store way=in at='stage_begun nth=2' lasts=7s",
        "cut node=coordinator1 peer=* way=out at=400ms lasts=6s",
        "reset node=worker1 peer=worker2 at=400ms", "reset node=store peer=* at='head_swap_begun'",
        "slow node=worker1 peer=* at=400ms lasts=2s by=300ms",
        "lose_answer node=store op=swap at='manifest_written'",
        "lose_answer node=database op=publish at='publish_begun'",
        "late_answer node=store op=swap at='manifest_written' by=9s",
        "late_answer node=database op=publish at='publish_begun' by=9s",
        "disk_error node=store at=400ms lasts=2s", "disk_error node=database at=400ms lasts=2s",
        "disk_full node=store at=400ms lasts=2s", "disk_full node=database at=400ms lasts=2s",
        "frames node=coordinator1 peer=* at=0s lasts=3s lose=1/2 repeat=1/4 hold=1/4",
        "kill node=database at='publish_sent' io=2 down=100ms",
        "power_loss node=store at='manifest_begun' io=3 down=100ms"}) {
    CAPTURE(fault);
    const Outcome outcome = run(case_of(subject, {fault}), subject);
    CHECK(story_of(outcome) == "held");
    CHECK(outcome.unfired.empty());
  }
}

TEST_CASE("a job whose table is in memory holds through the same faults as one with SQLite",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::string fault :
       {"kill node=database at='publish_sent' down=100ms",
        "power_loss node=database at='publish_sent' io=2 down=100ms",
        "pause node=database at=400ms lasts=700ms", "power_loss node=worker1 at=400ms down=100ms",
        "lose_answer node=database op=publish at='publish_begun'",
        "late_answer node=database op=publish at='publish_begun' by=9s",
        "disk_error node=database at=400ms lasts=2s",
        "disk_full node=database at=400ms lasts=2s"}) {
    CAPTURE(fault);
    Case scenario = case_of(subject, {fault});
    scenario.cluster.database = DatabaseKind::memory;
    const Outcome outcome = run(scenario, subject);
    CHECK(story_of(outcome) == "held");
    CHECK(outcome.unfired.empty());
  }
}

TEST_CASE("a node that is away for longer than any lease comes back to a job that goes on",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const std::string node : {"coordinator1", "worker1", "store", "database", "log"}) {
    for (const std::string& fault : {"kill node=" + node + " at=400ms down=20s",
                                     "power_loss node=" + node + " at=400ms down=20s",
                                     "pause node=" + node + " at=400ms lasts=20s"}) {
      CAPTURE(fault);
      const Outcome outcome = run(case_of(subject, {fault}), subject);
      CHECK(story_of(outcome) == "held");
      CHECK(outcome.unfired.empty());
    }
  }
}

TEST_CASE("a device that is away for longer than a job waits ends it, by name",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  for (const auto& [node, reason] : std::vector<std::pair<std::string, std::string>>{
           {"store", "the checkpoint store is of no use for 60 s now"},
           {"database", "gave up after 10 restarts without a completed checkpoint"}}) {
    const Outcome outcome =
        run(case_of(subject, {"power_loss node=" + node + " at=400ms down=300s"}), subject);
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.reason.starts_with(reason));
    CHECK(outcome.breaches.empty());
  }
}

TEST_CASE("a run that finishes is judged when all nodes are up again", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const Outcome outcome =
      run(case_of(subject, {"power_loss node=database at=job_finished down=5s"}), subject);

  CHECK(story_of(outcome) == "held");
  CHECK(outcome.statistics.firings[power_loss_kind] == 1);
  CHECK(outcome.statistics.virtual_ns > 5'000'000'000);
}

TEST_CASE("a fault whose anchor never comes is told, and the run is judged",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  const std::vector<std::string> faults{"kill node=worker1 at='sink_staged nth=9999' down=1ms",
                                        "kill node=worker2 at='sink_staged nth=2' down=1ms",
                                        "pause node=log at='no_such_landmark' lasts=1ms",
                                        "pause node=log at=3600s lasts=1ms"};
  const Outcome outcome = run(case_of(subject, faults), subject);

  CHECK(story_of(outcome) == "held");
  CHECK(outcome.unfired ==
        std::vector<std::string>{"kill node=worker1 at='sink_staged nth=9999' down=1ms",
                                 "pause node=log at='no_such_landmark' lasts=1ms",
                                 "pause node=log at=3600s lasts=1ms"});
  CHECK(outcome.statistics.firings == faults::Firings{1, 0, 0});
}

TEST_CASE("what has not happened when the storm is over does not happen any more",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  // The job lives on until its database is back; the storm ends 20 s after the last record.
  const std::string outage = "power_loss node=database at=400ms down=40s";
  const std::string early = "pause node=worker1 at=15s lasts=1ms";
  const std::string late = "pause node=worker1 at=30s lasts=1ms";
  const Outcome outcome = run(case_of(subject, {outage, early, late}), subject);

  CHECK(story_of(outcome) == "held");
  CHECK(outcome.unfired == std::vector<std::string>{late});
  CHECK(outcome.statistics.virtual_ns > 40'000'000'000);
}

TEST_CASE("who waits for the last rows to become visible sleeps", "[properties][experiment]") {
  const Subject subject(spec_of(SmallJob{}), input_of({record("a", 0)}));
  Case scenario = case_of(subject, {"pause node=database at='head_swap_begun n=1' lasts=5s"});
  scenario.arrival = 0ns;  // So that the first checkpoint is the last one.
  const Outcome outcome = run(scenario, subject);

  CHECK(story_of(outcome) == "held");
  CHECK(outcome.statistics.checkpoints == 1);
  CHECK(outcome.statistics.virtual_ns > 5'000'000'000);
  CHECK(outcome.statistics.switches < 20'000);
}

TEST_CASE("a plan for a node that the cluster does not have is refused",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  const Case scenario = case_of(subject, {"kill node=worker3 at=1s down=1s"});

  CHECK(complaint_of([&] { run(scenario, subject); }) ==
        "fault `kill node=worker3 at=1s down=1s`: there is no node `worker3`");
}

TEST_CASE("a job with a bad record ends failed, and says where", "[properties][experiment]") {
  CHECK(complaint_of([] {
          const Subject subject(spec_of(SmallJob{}), input_of({record("a", 0), "what?"}));
        }).starts_with("p.jsonl:2: "));
  // The processor must find it out by itself.
  Subject subject(spec_of(SmallJob{}), small_input());
  subject.input.partitions[1].text += "what?\n";
  const Outcome outcome = run(case_of(subject), subject);

  CHECK(outcome.verdict == Verdict::failed);
  CHECK(outcome.reason.find("q.jsonl:151: ") != std::string::npos);
  CHECK(outcome.breaches.empty());
}

TEST_CASE("a job whose sum does not fit ends failed", "[properties][experiment]") {
  SmallJob job;
  job.aggregate = R"-(total = "sum(i)")-";
  Subject subject(spec_of(job), input_of({record("a", 0, R"("i": 9223372036854775807)")}));
  subject.input =
      input_of({record("a", 0, R"("i": 9223372036854775807)"), record("a", 1, R"("i": 1)")});
  const Outcome outcome = run(case_of(subject), subject);

  CHECK(outcome.verdict == Verdict::failed);
  CHECK_FALSE(outcome.reason.empty());
}

TEST_CASE("a job that refuses to go on says why by name", "[properties][experiment]") {
  const Subject& subject = small_subject();
  Observers observers;
  observers.on_landmark = [](Instant, std::string_view, const sim::LandmarkEvent& event) {
    if (&event.landmark == &landmarks::took_over) {
      throw Refused(Refusal::sink_foreign, "the sink is another's");
    }
  };
  const Outcome outcome = run(case_of(subject), subject, observers);

  CHECK(story_of(outcome) == "refused; sink_foreign: the sink is another's");
  CHECK(outcome.statistics.checkpoints == 0);
}

TEST_CASE("a breach counts more than a failure, and a violation more than a breach",
          "[properties][experiment]") {
  // Every row is wrong, and that is seen with the first publish; then the job ends otherwise.
  Subject subject(spec_of(SmallJob{}), small_input());
  subject.tables[0].reference = Reference(subject.spec, input_of({record("x", 0)}));
  int publishes = 0;
  const auto after_three_publishes = [&](auto end) {
    publishes = 0;
    Observers observers;
    observers.on_landmark = [&publishes, end](Instant, std::string_view,
                                              const sim::LandmarkEvent& event) {
      if (&event.landmark == &landmarks::published && event.fields.count != 0) ++publishes;
      if (publishes == 3 && event.role.starts_with("coordinator")) end();
    };
    return run(case_of(subject), subject, observers);
  };
  const Outcome failed = after_three_publishes([] { throw JobFailed("enough"); });
  CHECK(failed.verdict == Verdict::breached);
  CHECK(failed.reason == "enough");
  REQUIRE(failed.breaches.size() == 1);
  CHECK(failed.breaches[0].judge == "visibility");

  const Outcome violated = after_three_publishes([] { invariant(false, "nothing is wrong"); });
  CHECK(violated.verdict == Verdict::violated);
  REQUIRE(violated.breaches.size() == 2);
  CHECK(violated.breaches[0].judge == "visibility");
  CHECK(violated.breaches[1].judge == "invariants");
}

TEST_CASE("a job that nobody leads any more makes no progress", "[properties][experiment]") {
  const Subject& subject = small_subject();
  const Case scenario = case_of(subject);
  const Outcome outcome = run(scenario, subject, coordinators_end_at(landmarks::tasks_running));

  CHECK(story_of(outcome) ==
        "no_progress; progress: no checkpoint for " +
            faults::to_text(liveness_bound(scenario.checkpoint, scenario.restart)) +
            " of virtual time after the storm");
  CHECK(outcome.statistics.virtual_ns >=
        liveness_bound(scenario.checkpoint, scenario.restart).count());
  CHECK(outcome.statistics.checkpoints == 0);
}

TEST_CASE("a sentence about the design that does not hold ends a run at once",
          "[properties][experiment]") {
  const Subject& subject = small_subject();
  Instant at;
  Observers observers;
  observers.on_landmark = [&](Instant now, std::string_view, const sim::LandmarkEvent& event) {
    if (&event.landmark != &landmarks::sink_staged) return;
    at = now;
    invariant(false, "this run is sound", Where{"sound.cpp", 7});
  };
  const Outcome outcome = run(case_of(subject), subject, observers);

  CHECK(story_of(outcome) == "violated; invariants: this run is sound (sound.cpp:7)");
  CHECK(outcome.statistics.virtual_ns == at.ns);
  // Nothing of it is left for the next.
  CHECK(story_of(run(case_of(subject), subject)) == "held");
}

TEST_CASE("rows that are not what the input says are a breach at the first look",
          "[properties][experiment]") {
  Subject subject(spec_of(SmallJob{}), small_input());
  Input other = small_input();
  // Another key in the third line, of the first window.
  other.partitions[0].text.replace(other.partitions[0].text.find("\"c\""), 3, "\"b\"");
  subject.tables[0].reference = Reference(subject.spec, other);
  const Outcome outcome = run(case_of(subject), subject);

  CHECK(outcome.verdict == Verdict::breached);
  REQUIRE(outcome.breaches.size() == 1);
  CHECK(outcome.breaches[0].judge == "visibility");
  CHECK(outcome.breaches[0].what.starts_with("at checkpoint 1."));
  CHECK(outcome.rows.altered == 2);
  CHECK(outcome.rows.wrong() == 2);
}

TEST_CASE("a subject knows its job as the simulated world will", "[properties][experiment]") {
  JobSpec spec = spec_of(SmallJob{});
  spec.sources[0].address = "some/where/*.jsonl";
  spec.sinks[0].database = "/elsewhere/a.db";
  const Subject subject(spec, small_input());

  CHECK(subject.spec.sources[0].address == "input/*.jsonl");
  CHECK(subject.spec.sinks[0].database == "sink.db");
  CHECK(subject.input == small_input());
  CHECK(subject.reference().records() == 300);
  spec.sources[0].address = "plain.jsonl";
  CHECK(Subject(spec, small_input()).spec.sources[0].address == "input/plain.jsonl");
}

TEST_CASE("the corpus jobs hold without faults on all of their input", "[properties][experiment]") {
  for (const std::string job : {"quakes", "quakes_feed"}) {
    const Subject subject = tests::corpus_subject(job, 1'000'000);
    const Outcome outcome = run(case_of(subject), subject);
    CAPTURE(job);
    CHECK(story_of(outcome) == "held");
    CHECK(outcome.statistics.records == 1707);
  }
}
