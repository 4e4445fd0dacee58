#include "millrace/runtime/coordinator/pending_checkpoint.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/runtime/coordinator/takeover.hpp"

#include "violations.hpp"

using namespace millrace;

namespace {

constexpr CheckpointId id{{3}, 5};

PendingCheckpoint pending(std::set<std::string> tasks) {
  return {id, std::move(tasks), Instant{1'000}};
}

Acknowledgement acknowledgement(std::string task, CheckpointId of = id) {
  Acknowledgement ack;
  ack.id = of;
  ack.task = std::move(task);
  return ack;
}

PartitionProgress progress(std::string name, std::int64_t offset) {
  PartitionProgress progress;
  progress.source = "source";
  progress.name = std::move(name);
  progress.position = {offset, offset + 1};
  progress.newest = {offset * 10};
  progress.records = static_cast<std::uint64_t>(offset);
  return progress;
}

StagedObject staged(std::uint64_t n, std::uint32_t subtask) {
  StagedObject object;
  object.sink = "sink";
  object.id = {{3}, n};
  object.subtask = subtask;
  object.name = "staged/" + to_text(object.id) + "-sink." + std::to_string(subtask);
  object.rows = 10;
  return object;
}

StateObject state(std::uint32_t subtask) {
  StateObject object;
  object.name = "state/3.5-window." + std::to_string(subtask);
  object.subtask = subtask;
  return object;
}

Manifest previous() {
  JobFacts job{{{"window", "1h"}}, {{"source", {"a", 100, 1}}, {"source", {"b", 200, 2}}}};
  Manifest manifest = make_genesis({7, 8}, job, 2);
  manifest.id = {{3}, 4};
  manifest.partitions[0].progress = progress("a", 10);
  manifest.staged = {staged(4, 0)};
  manifest.states = {state(9)};
  manifest.watermarks = {{"window", {1}}};
  manifest.records_late = 100;
  return manifest;
}

}  // namespace

TEST_CASE("a checkpoint is complete when every task has acknowledged", "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"source.0", "window.0", "window.1"});

  CHECK(checkpoint.missing() == std::vector<std::string>{"source.0", "window.0", "window.1"});
  CHECK(checkpoint.acknowledge(acknowledgement("window.1")) == AckOutcome::accepted);
  CHECK(checkpoint.acknowledge(acknowledgement("source.0")) == AckOutcome::accepted);
  CHECK_FALSE(checkpoint.is_complete());
  CHECK(checkpoint.missing() == std::vector<std::string>{"window.0"});
  CHECK(checkpoint.acknowledge(acknowledgement("window.0")) == AckOutcome::accepted);
  CHECK(checkpoint.is_complete());
  CHECK(checkpoint.missing().empty());
  CHECK(checkpoint.deadline() == Instant{1'000});
}

TEST_CASE("a task counts once, however often it acknowledges", "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"window.0", "window.1"});
  Acknowledgement first = acknowledgement("window.0");
  first.records_late = 1;
  Acknowledgement second = acknowledgement("window.0");
  second.records_late = 50;

  CHECK(checkpoint.acknowledge(first) == AckOutcome::accepted);
  CHECK(checkpoint.acknowledge(second) == AckOutcome::duplicate);
  CHECK_FALSE(checkpoint.is_complete());
  checkpoint.acknowledge(acknowledgement("window.1"));
  CHECK(checkpoint.manifest_after(previous(), 2).records_late == 1);  // What came first counts.
}

TEST_CASE("acknowledgements of other checkpoints never complete this one", "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"window.0"});

  for (const CheckpointId other : {CheckpointId{{3}, 4}, CheckpointId{{3}, 6}, CheckpointId{{2}, 5},
                                   CheckpointId{{4}, 5}, CheckpointId::genesis()}) {
    CHECK(checkpoint.acknowledge(acknowledgement("window.0", other)) == AckOutcome::stale);
    // Stale also if nobody knows the task: whose it is matters only for this checkpoint.
    CHECK(checkpoint.acknowledge(acknowledgement("nobody", other)) == AckOutcome::stale);
  }
  CHECK_FALSE(checkpoint.is_complete());
}

TEST_CASE("an acknowledgement of a task that nobody asked changes nothing", "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"window.0"});
  Acknowledgement stranger = acknowledgement("window.1");
  stranger.staged = {staged(5, 1)};

  CHECK(checkpoint.acknowledge(stranger) == AckOutcome::unknown_task);
  CHECK_FALSE(checkpoint.is_complete());
  checkpoint.acknowledge(acknowledgement("window.0"));
  CHECK(checkpoint.manifest_after(previous(), 2).staged.empty());
}

TEST_CASE("a manifest takes the job from its predecessor and the rest from acknowledgements",
          "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"source.0", "window.0", "window.1"});
  Acknowledgement source = acknowledgement("source.0");
  source.partitions = {progress("b", 20)};
  Acknowledgement window0 = acknowledgement("window.0");
  window0.watermarks = {{"window", {500}}};
  window0.state = state(0);
  window0.staged = {staged(4, 0), staged(5, 0)};
  window0.records_late = 3;
  Acknowledgement window1 = acknowledgement("window.1");
  window1.watermarks = {{"window", {500}}, {"other", {9}}};
  window1.state = state(1);
  window1.staged = {staged(5, 1)};
  window1.records_late = 4;
  for (const auto& ack : {window1, source, window0}) checkpoint.acknowledge(ack);

  const Manifest manifest = checkpoint.manifest_after(previous(), 2);

  CHECK(manifest.id == id);
  CHECK(manifest.lineage == Lineage{7, 8});
  CHECK(manifest.fingerprint == previous().fingerprint);
  CHECK(manifest.key_groups == 128);
  CHECK(manifest.parallelism == 2);
  REQUIRE(manifest.partitions.size() == 2);
  CHECK(manifest.partitions[0].progress == progress("a", 10));  // Nobody read it: as it was.
  CHECK(manifest.partitions[1].progress == progress("b", 20));
  CHECK(manifest.partitions[1].facts.end == 200);
  CHECK(manifest.watermarks == std::vector<OperatorWatermark>{{"window", {500}}, {"other", {9}}});
  CHECK(manifest.states == std::vector<StateObject>{state(0), state(1)});
  // The predecessor's list is replaced: writers report all that is not known to be published.
  CHECK(manifest.staged == std::vector<StagedObject>{staged(4, 0), staged(5, 0), staged(5, 1)});
  CHECK(manifest.records_late == 7);
}

TEST_CASE("a manifest is the same in whatever order acknowledgements come", "[runtime][pending]") {
  std::vector<Acknowledgement> acks;
  for (std::uint32_t i = 0; i < 4; ++i) {
    Acknowledgement ack = acknowledgement("window." + std::to_string(i));
    ack.state = state(i);
    ack.staged = {staged(5, i)};
    ack.watermarks = {{"window", {500}}};
    acks.push_back(std::move(ack));
  }
  std::optional<Manifest> first;
  do {
    PendingCheckpoint checkpoint = pending({"window.0", "window.1", "window.2", "window.3"});
    for (const auto& ack : acks) checkpoint.acknowledge(ack);
    const Manifest manifest = checkpoint.manifest_after(previous(), 4);
    if (!first) first = manifest;
    CHECK(manifest == *first);
  } while (std::next_permutation(acks.begin(), acks.end(),
                                 [](const auto& a, const auto& b) { return a.task < b.task; }));
}

TEST_CASE("a manifest of a checkpoint that is not complete breaks an invariant",
          "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"window.0", "window.1"});
  checkpoint.acknowledge(acknowledgement("window.0"));

  CHECK(broken_invariant([&] { checkpoint.manifest_after(previous(), 2); }) ==
        "a manifest is made of all acknowledgements");
}

TEST_CASE("subtasks of one operator with two watermarks break an invariant", "[runtime][pending]") {
  for (const std::int64_t other : {499, 500, 501}) {
    PendingCheckpoint checkpoint = pending({"window.0", "window.1"});
    Acknowledgement one = acknowledgement("window.0");
    one.watermarks = {{"window", {500}}};
    Acknowledgement two = acknowledgement("window.1");
    two.watermarks = {{"window", {other}}};
    checkpoint.acknowledge(one);
    checkpoint.acknowledge(two);

    const auto broken = broken_invariant([&] { checkpoint.manifest_after(previous(), 2); });
    CHECK(broken.empty() == (other == 500));
  }
}

TEST_CASE("a source that goes back in a partition breaks an invariant", "[runtime][pending]") {
  for (const std::int64_t offset : {9, 10, 11}) {
    PendingCheckpoint checkpoint = pending({"source.0"});
    Acknowledgement source = acknowledgement("source.0");
    source.partitions = {progress("a", offset)};
    checkpoint.acknowledge(source);

    const auto broken = broken_invariant([&] { checkpoint.manifest_after(previous(), 2); });
    CHECK(broken == (offset < 10 ? "positions only ascend" : ""));
  }
}

TEST_CASE("a source that reads a partition which genesis has not seen breaks an invariant",
          "[runtime][pending]") {
  PendingCheckpoint checkpoint = pending({"source.0"});
  Acknowledgement source = acknowledgement("source.0");
  source.partitions = {progress("new", 1)};
  checkpoint.acknowledge(source);

  CHECK(broken_invariant([&] { checkpoint.manifest_after(previous(), 2); }) ==
        "a source reads only partitions that genesis has seen");
}
