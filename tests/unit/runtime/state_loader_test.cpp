#include "millrace/runtime/worker/state_loader.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"
#include "millrace/runtime/state/key_hash.hpp"

#include "damage.hpp"
#include "fake_world.hpp"
#include "stored_state.hpp"

using namespace millrace;

namespace {

/// A snapshot of two operators that share a task, each with what it says as its state.
std::unique_ptr<Snapshot> snapshot_of(std::uint32_t subtask) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->acknowledgement.id = {{3}, 4};
  snapshot->acknowledgement.task = "window." + std::to_string(subtask);
  snapshot->subtask = static_cast<std::int32_t>(subtask);
  for (const std::string name : {"window", "other"}) {
    const auto bytes = as_bytes(name);
    snapshot->parts.push_back({name, "part", "text to int64",
                               std::make_unique<FrozenBytes>(Bytes(bytes.begin(), bytes.end()))});
  }
  return snapshot;
}

/// A checkpoint of so many subtasks.
Manifest stored(FakeWorld& world, std::uint32_t parallelism) {
  Manifest manifest;
  manifest.parallelism = parallelism;
  for (std::uint32_t i = 0; i < parallelism; ++i) {
    manifest.states.push_back(upload(world, snapshot_of(i)).state.value());
  }
  return manifest;
}

std::vector<std::uint32_t> writers_of(FakeWorld& world, const Manifest& manifest, Subtask at) {
  Env env = world.env();
  std::vector<std::uint32_t> writers;
  for (const auto& section : load_sections(env, manifest, "window", at)) {
    const auto first = static_cast<std::uint32_t>(section.groups.first);
    writers.push_back(
        static_cast<std::uint32_t>(owner_of(first, static_cast<int>(manifest.parallelism))));
  }
  return writers;
}

using Writers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("an operator finds its own sections, as they were written", "[runtime][state_loader]") {
  FakeWorld world;
  const Manifest manifest = stored(world, 1);
  Env env = world.env();

  const auto sections = load_sections(env, manifest, "other", {0, 1});

  REQUIRE(sections.size() == 1);
  CHECK(sections[0].part == "part");
  CHECK(sections[0].shape == "text to int64");
  CHECK(as_text(sections[0].bytes) == "other");
  CHECK(load_sections(env, manifest, "nobody", {0, 1}).empty());
}

TEST_CASE("the sections of a state object lie behind its envelope, one behind the other",
          "[runtime][state_loader]") {
  FakeWorld world;
  const Manifest manifest = stored(world, 1);
  const StateObject& object = manifest.states[0];

  CHECK(object.name == "state/3.4-window.0");
  REQUIRE(object.sections.size() == 2);
  CHECK(object.sections[0].offset == 24);
  CHECK(object.sections[0].size_bytes == 6);
  CHECK(object.sections[1].offset == 30);
  const Bytes& bytes = world.store.objects.at(object.name);
  CHECK(as_text(unseal(Content::state, 1, bytes, object.name)) == "windowother");
}

TEST_CASE("a subtask reads the sections of those whose keys may be its own",
          "[runtime][state_loader]") {
  FakeWorld world;
  const Manifest four = stored(world, 4);
  CHECK(writers_of(world, four, {0, 4}) == Writers{0});
  CHECK(writers_of(world, four, {3, 4}) == Writers{3});
  CHECK(writers_of(world, four, {0, 2}) == Writers{0, 1});
  CHECK(writers_of(world, four, {1, 2}) == Writers{2, 3});
  CHECK(writers_of(world, four, {0, 1}) == Writers{0, 1, 2, 3});
  CHECK(writers_of(world, four, {1, 3}) == Writers{1, 2});
  CHECK(writers_of(world, four, {5, 8}) == Writers{2});
}

TEST_CASE(
    "at every change of parallelism every key group is read by its owner, and only from "
    "where it was",
    "[runtime][state_loader]") {
  FakeWorld world;
  for (std::uint32_t before = 1; before <= 9; ++before) {
    const Manifest manifest = stored(world, before);
    for (int after = 1; after <= 9; ++after) {
      std::vector<Writers> read;
      for (int i = 0; i < after; ++i) read.push_back(writers_of(world, manifest, {i, after}));
      for (std::uint32_t group = 0; group < 128; ++group) {
        const auto writer = static_cast<std::uint32_t>(owner_of(group, static_cast<int>(before)));
        const auto& of_reader = read[static_cast<std::size_t>(owner_of(group, after))];
        REQUIRE(std::count(of_reader.begin(), of_reader.end(), writer) == 1);
      }
    }
  }
}

TEST_CASE("state with any byte changed, or cut short, is refused", "[runtime][state_loader]") {
  FakeWorld world;
  const Manifest manifest = stored(world, 1);
  Env env = world.env();
  const std::string name = manifest.states[0].name;
  const Bytes bytes = world.store.objects.at(name);
  const auto load = [&](std::span<const std::byte> changed) {
    world.store.objects[name] = Bytes(changed.begin(), changed.end());
    load_sections(env, manifest, "window", {0, 1});
    load_sections(env, manifest, "other", {0, 1});
  };

  // What lies in its sections; its envelope is looked at below.
  const auto change = find_unnoticed_change(
      Bytes(bytes.begin() + 24, bytes.end()), [&](std::span<const std::byte> payload) {
        Bytes whole(bytes.begin(), bytes.begin() + 24);
        whole.insert(whole.end(), payload.begin(), payload.end());
        load(whole);
      });
  CHECK(change == std::nullopt);
  CHECK(find_unnoticed_cut(bytes, load) == std::nullopt);
}

TEST_CASE("a state object of another kind or version is refused", "[runtime][state_loader]") {
  FakeWorld world;
  const Manifest manifest = stored(world, 1);
  Env env = world.env();
  const std::string name = manifest.states[0].name;
  const Bytes sealed = world.store.objects.at(name);
  const auto payload = unseal(Content::state, 1, sealed, name);

  world.store.objects[name] = seal(Content::state, 2, payload);
  CHECK_THROWS_AS(load_sections(env, manifest, "window", {0, 1}), CorruptObject);
  world.store.objects[name] = seal(Content::staged_rows, 1, payload);
  CHECK_THROWS_AS(load_sections(env, manifest, "window", {0, 1}), CorruptObject);
}

TEST_CASE("state that is not what the manifest says is refused by name",
          "[runtime][state_loader]") {
  FakeWorld world;
  Manifest manifest = stored(world, 1);
  Env env = world.env();
  const auto complaint = [&] {
    return message_of<CorruptObject>([&] { load_sections(env, manifest, "window", {0, 1}); });
  };

  CHECK(complaint().empty());
  manifest.states[0].sections[0].checksum ^= 1;
  CHECK(complaint() == "state/3.4-window.0: the state `part` of window is not what was written");
  world.store.objects.clear();
  CHECK(complaint() == "state/3.4-window.0: it is not there");
}

TEST_CASE("partition i belongs to subtask i mod p", "[runtime][state_loader]") {
  Manifest manifest;
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    ManifestPartition partition;
    partition.facts = {name, 100, 1};
    partition.progress.source = "source";
    partition.progress.name = name;
    partition.progress.position = {5, 2};
    manifest.partitions.push_back(partition);
    partition.progress.source = "other";  // Whose partitions are counted by themselves.
    manifest.partitions.push_back(partition);
  }
  const auto names = [&](Subtask at) {
    std::string joined;
    for (const auto& partition : partitions_of(manifest, "source", at)) {
      CHECK(partition.end == 100);
      CHECK(partition.progress.position == Position{5, 2});
      joined += partition.progress.name;
    }
    return joined;
  };

  CHECK(names({0, 1}) == "abcde");
  CHECK(names({0, 2}) == "ace");
  CHECK(names({1, 2}) == "bd");
  CHECK(names({1, 3}) == "be");
  CHECK(names({4, 7}) == "e");
  CHECK(names({5, 7}).empty());
}

TEST_CASE("an acknowledgement is told when all that it names is durable", "[runtime][uploader]") {
  FakeWorld world;
  auto snapshot = snapshot_of(2);
  snapshot->rows.push_back({{"sink", {{3}, 4}, 2, "staged/3.4-sink.2", 1, 3}, Bytes(3)});
  snapshot->acknowledgement.staged = {snapshot->rows[0].object};
  snapshot->sinks = {"sink"};

  const Acknowledgement acknowledgement = upload(world, std::move(snapshot));

  CHECK(world.store.objects.contains("staged/3.4-sink.2"));
  REQUIRE(acknowledgement.state.has_value());
  CHECK(acknowledgement.state->subtask == 2);
  CHECK(world.store.objects.contains(acknowledgement.state->name));
  std::vector<std::string> moments;
  for (const auto& reached : world.landmarks.list) moments.push_back(reached.name);
  CHECK(moments == std::vector<std::string>{"stage_begun", "sink_staged", "upload_begun",
                                            "uploaded", "acknowledged", "sink_acknowledged"});
}

TEST_CASE("a task without state uploads nothing and acknowledges", "[runtime][uploader]") {
  FakeWorld world;
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->acknowledgement.id = {{3}, 4};
  snapshot->acknowledgement.task = "source.0";

  const Acknowledgement acknowledgement = upload(world, std::move(snapshot));

  CHECK(acknowledgement.task == "source.0");
  CHECK_FALSE(acknowledgement.state.has_value());
  CHECK(world.store.objects.empty());
}
