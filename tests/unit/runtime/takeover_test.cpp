#include "millrace/runtime/coordinator/takeover.hpp"

#include <catch2/catch.hpp>

using namespace millrace;
using namespace std::chrono_literals;

namespace {

constexpr auto lease = 2s;

Instant at(std::chrono::nanoseconds span) { return Instant{} + span; }

Head head_of(Term term, JobStatus status) {
  Head head;
  head.term = term;
  head.status = status;
  return head;
}

std::uint64_t term_of(const TakeoverPlan& plan) {
  if (const auto* anew = std::get_if<BeginAnew>(&plan)) return anew->term.number;
  if (const auto* resume = std::get_if<Resume>(&plan)) return resume->term.number;
  return 0;
}

JobFacts::Partition partition(std::string name, std::int64_t end, std::uint64_t hash) {
  return {"source", {std::move(name), end, hash}};
}

JobFacts job_facts() {
  return {{{"source.files", "a.jsonl"}, {"window.tumbling", "1h"}},
          {partition("a", 100, 1), partition("b", 5000, 2)}};
}

Manifest genesis() { return make_genesis({1, 2}, job_facts(), 3); }

}  // namespace

TEST_CASE("a candidate may take over when nothing moved for a lease, and not a moment earlier",
          "[runtime][takeover]") {
  Candidacy candidacy(lease);

  CHECK_FALSE(candidacy.observe(4, 9, at(10s)));
  CHECK_FALSE(candidacy.observe(4, 9, at(12s - 1ns)));
  CHECK(candidacy.observe(4, 9, at(12s)));
  CHECK(candidacy.observe(4, 9, at(12s + 1ns)));
}

TEST_CASE("whatever moves makes a candidate begin anew", "[runtime][takeover]") {
  Candidacy candidacy(lease);
  candidacy.observe(4, 9, at(10s));

  CHECK_FALSE(candidacy.observe(5, 9, at(12s)));   // The head.
  CHECK_FALSE(candidacy.observe(5, 10, at(13s)));  // The heart.
  CHECK_FALSE(candidacy.observe(5, 10, at(15s - 1ns)));
  CHECK(candidacy.observe(5, 10, at(15s)));
  CHECK_FALSE(candidacy.observe(5, 0, at(16s)));  // Also back to nothing.
}

TEST_CASE("a candidate that came too late waits longer than a lease", "[runtime][takeover]") {
  Candidacy candidacy(lease);
  candidacy.observe(4, 9, at(10s));
  candidacy.observe(4, 9, at(12s));

  candidacy.lost(500ms);

  CHECK_FALSE(candidacy.observe(4, 9, at(12s)));  // The first look after that.
  CHECK_FALSE(candidacy.observe(4, 9, at(14s)));
  CHECK_FALSE(candidacy.observe(4, 9, at(14500ms - 1ns)));
  CHECK(candidacy.observe(4, 9, at(14500ms)));
}

TEST_CASE("a job without a head begins at term 1", "[runtime][takeover]") {
  for (const bool fresh : {false, true}) {
    const auto plan = decide_takeover(std::nullopt, fresh);
    CHECK(std::holds_alternative<BeginAnew>(plan));
    CHECK(term_of(plan) == 1);
  }
}

TEST_CASE("a job that runs or was stopped is resumed in the next term", "[runtime][takeover]") {
  for (const JobStatus status : {JobStatus::running, JobStatus::stopped}) {
    const auto plan = decide_takeover(head_of({7}, status), false);
    CHECK(std::holds_alternative<Resume>(plan));
    CHECK(term_of(plan) == 8);
  }
}

TEST_CASE("in a finished job there is nothing left to do", "[runtime][takeover]") {
  const auto plan = decide_takeover(head_of({7}, JobStatus::finished), false);
  CHECK(std::holds_alternative<NothingLeft>(plan));
}

TEST_CASE("a fresh start takes the next term, because names hold terms", "[runtime][takeover]") {
  for (const JobStatus status : {JobStatus::running, JobStatus::finished, JobStatus::stopped}) {
    const auto plan = decide_takeover(head_of({7}, status), true);
    CHECK(std::holds_alternative<BeginAnew>(plan));
    CHECK(term_of(plan) == 8);
  }
}

TEST_CASE("genesis holds what the job found, and nothing read", "[runtime][takeover]") {
  const Manifest manifest = genesis();

  CHECK(manifest.id == CheckpointId::genesis());
  CHECK(manifest.lineage == Lineage{1, 2});
  CHECK(manifest.fingerprint == job_facts().fingerprint);
  CHECK(manifest.key_groups == 128);
  CHECK(manifest.parallelism == 3);
  REQUIRE(manifest.partitions.size() == 2);
  CHECK(manifest.partitions[1].facts.name == "b");
  CHECK(manifest.partitions[1].facts.end == 5000);
  CHECK(manifest.partitions[1].facts.head_hash == 2);
  CHECK(manifest.partitions[1].progress.name == "b");
  CHECK(manifest.partitions[1].progress.position == Position{0, 1});
  CHECK(manifest.partitions[1].progress.newest == EventTime::min());
  CHECK_FALSE(manifest.partitions[1].progress.ended);
  CHECK(manifest.states.empty());
  CHECK(manifest.staged.empty());
  CHECK_FALSE(find_mismatch(manifest, job_facts()).has_value());
}

TEST_CASE("a job that changed is refused naming the first difference", "[runtime][takeover]") {
  const auto mismatch = [](auto change) {
    JobFacts job = job_facts();
    change(job.fingerprint);
    const auto found = find_mismatch(genesis(), job);
    REQUIRE(found.has_value());
    CHECK(found->why == Refusal::job_changed);
    return found->what;
  };

  CHECK(mismatch([](auto& parts) { parts[1].value = "2h"; }) ==
        "`window.tumbling` is `2h` now and was `1h` when the state was written");
  CHECK(mismatch([](auto& parts) { parts.pop_back(); }) ==
        "`window.tumbling` is nothing now and was `1h` when the state was written");
  CHECK(mismatch([](auto& parts) {
          parts.push_back({"filter 1", "x == 1"});
        }) == "`filter 1` is `x == 1` now and was nothing when the state was written");
  // The first of several.
  CHECK(mismatch([](auto& parts) {
          parts[0].value = "b.jsonl";
          parts[1].value = "2h";
        }) == "`source.files` is `b.jsonl` now and was `a.jsonl` when the state was written");
  // A value that reads like the word for none is one all the same.
  CHECK(mismatch([](auto& parts) { parts[1].value = "nothing"; }) ==
        "`window.tumbling` is `nothing` now and was `1h` when the state was written");
}

TEST_CASE("input that changed is refused naming the partition", "[runtime][takeover]") {
  const auto mismatch = [](auto change) {
    JobFacts job = job_facts();
    change(job.partitions);
    const auto found = find_mismatch(genesis(), job);
    if (!found) return std::string("none");
    CHECK(found->why == Refusal::input_changed);
    return found->what;
  };

  CHECK(mismatch([](auto& found) { found.erase(found.begin()); }) ==
        "partition a is not there any more");
  CHECK(mismatch([](auto& found) { found[0].facts.end = 99; }) ==
        "partition a has 99 bytes now and had 100");
  CHECK(mismatch([](auto& found) { found[0].facts.head_hash = 9; }) ==
        "partition a begins with other bytes now");
  CHECK(mismatch([](auto& found) { found[1].facts.head_hash = 9; }) ==
        "partition b begins with other bytes now");
  // Grown, but its first 4 KiB were there at genesis and may not have changed.
  CHECK(mismatch([](auto& found) {
          found[1].facts.end = 6000;
          found[1].facts.head_hash = 9;
        }) == "partition b begins with other bytes now");
}

TEST_CASE("partitions of one name belong to whoever reads them", "[runtime][takeover]") {
  JobFacts job = job_facts();
  job.partitions.push_back({"other", {"a", 100, 1}});
  const Manifest manifest = make_genesis({1, 2}, job, 3);
  CHECK_FALSE(find_mismatch(manifest, job));

  job.partitions[2].facts.end = 99;
  REQUIRE(find_mismatch(manifest, job));
  job.partitions[2].source = "third";
  CHECK(find_mismatch(manifest, job)->what == "partition a is not there any more");
}

TEST_CASE("input that has only grown is accepted", "[runtime][takeover]") {
  JobFacts job = job_facts();
  job.partitions[0] = partition("a", 101, 77);  // More of its first 4 KiB, so another hash.
  job.partitions[1] = partition("b", 5001, 2);
  job.partitions.push_back(partition("c", 1, 3));

  CHECK_FALSE(find_mismatch(genesis(), job).has_value());
}

TEST_CASE("a beginning is compared once 4 KiB of it were there", "[runtime][takeover]") {
  for (const std::int64_t end : {hashed_head_bytes - 1, hashed_head_bytes, hashed_head_bytes + 1}) {
    JobFacts job{{}, {partition("a", end, 1)}};
    const Manifest manifest = make_genesis({}, job, 1);
    job.partitions[0] = partition("a", end + 1, 2);

    CHECK(find_mismatch(manifest, job).has_value() == (end >= hashed_head_bytes));
  }
}

TEST_CASE("state of another number of key groups cannot be read", "[runtime][takeover]") {
  for (const std::uint32_t groups : {127U, 129U}) {
    Manifest manifest = genesis();
    manifest.key_groups = groups;

    const auto found = find_mismatch(manifest, job_facts());
    REQUIRE(found.has_value());
    CHECK(found->why == Refusal::state_unreadable);
    CHECK(found->what == "its state is divided into " + std::to_string(groups) +
                             " key groups, and this program's into 128");
  }
}
