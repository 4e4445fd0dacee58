#include "millrace/runtime/sink/staged_rows.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/sink/staging.hpp"

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

Bytes cells_of(std::int64_t value, std::uint64_t rows) {
  CellWriter writer;
  for (std::uint64_t i = 0; i < rows; ++i) {
    writer.integer(value);
    writer.text("x");
    writer.end_row();
  }
  return writer.take();
}

/// Puts rows into the store, all of the same number, and says what a manifest would list.
StagedObject stage(FakeWorld& world, CheckpointId id, std::uint32_t subtask, std::int64_t value,
                   std::uint64_t rows = 2) {
  const Bytes sealed = seal_rows(rows, cells_of(value, rows));
  StagedObject object{"sink", id, subtask, "", rows, sealed.size()};
  object.name = to_text(id) + "/" + std::to_string(subtask);
  world.store.objects[object.name] = sealed;
  return object;
}

/// The first value of every block of a batch.
std::vector<std::int64_t> blocks_of(StoredBatches& batches) {
  std::vector<std::int64_t> values;
  for (auto block = batches.next_block(); !block.empty(); block = batches.next_block()) {
    values.push_back(std::get<std::int64_t>(CellReader(block).next()));
  }
  return values;
}

using Values = std::vector<std::int64_t>;

/// A writer of a staged sink, as a task drives it.
struct Writer {
  FakeWorld world;
  Staging staging{{world.env("sink.1"), {1, 2}, {{3}, 4}}, "sink"};

  void write(std::int64_t rows) {
    for (std::int64_t i = 0; i < rows; ++i) {
      staging.cells().integer(i);
      staging.cells().end_row();
    }
  }
  Snapshot save(std::uint64_t n) {
    Snapshot snapshot;
    snapshot.acknowledgement.id = {{4}, n};
    staging.save(snapshot);
    return snapshot;
  }
};

std::vector<std::string> names_of(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const StagedObject& object : snapshot.acknowledgement.staged) names.push_back(object.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

// Who changes these bytes changes the format's version, and STAGED.md.
TEST_CASE("the bytes of staged rows are what they have always been", "[runtime][staged_rows]") {
  CHECK(checksum(seal_rows(2, cells_of(7, 2))) == 0x1BF5DE4E2E6ABABEU);
}

TEST_CASE("staged rows are pulled batch by batch, and object by object within a batch",
          "[runtime][staged_rows]") {
  FakeWorld world;
  Env env = world.env();
  const std::vector<StagedObject> objects{
      stage(world, {{1}, 1}, 0, 10), stage(world, {{1}, 1}, 1, 11), stage(world, {{1}, 3}, 1, 31),
      stage(world, {{2}, 1}, 0, 20)};
  StoredBatches batches(env, objects, 1s);

  CHECK(batches.next_batch() == CheckpointId{{1}, 1});
  CHECK(blocks_of(batches) == Values{10, 11});
  CHECK(batches.next_block().empty());  // The end stays the end.
  CHECK(batches.next_batch() == CheckpointId{{1}, 3});
  CHECK(blocks_of(batches) == Values{31});
  CHECK(batches.next_batch() == CheckpointId{{2}, 1});
  CHECK(blocks_of(batches) == Values{20});
  CHECK(batches.next_batch() == std::nullopt);
  CHECK(batches.next_batch() == std::nullopt);
  CHECK(world.landmarks.times("publish_loaded") == 4);
  CHECK(world.landmarks.counted("publish_loaded") == 8);
}

TEST_CASE("a batch that is left early, or not looked at, is passed over",
          "[runtime][staged_rows]") {
  FakeWorld world;
  Env env = world.env();
  const std::vector<StagedObject> objects{
      stage(world, {{1}, 1}, 0, 10), stage(world, {{1}, 1}, 1, 11), stage(world, {{1}, 2}, 0, 20),
      stage(world, {{1}, 3}, 0, 30)};
  StoredBatches batches(env, objects, 1s);

  CHECK(batches.next_batch() == CheckpointId{{1}, 1});
  CHECK_FALSE(batches.next_block().empty());
  CHECK(batches.next_batch() == CheckpointId{{1}, 2});
  CHECK(batches.next_batch() == CheckpointId{{1}, 3});
  CHECK(blocks_of(batches) == Values{30});
}

TEST_CASE("before the first batch, and without any, there are no rows", "[runtime][staged_rows]") {
  FakeWorld world;
  Env env = world.env();
  const std::vector<StagedObject> objects{stage(world, {{1}, 1}, 0, 10)};
  StoredBatches batches(env, objects, 1s);
  StoredBatches none(env, {}, 1s);

  CHECK(batches.next_block().empty());
  CHECK(none.next_batch() == std::nullopt);
  CHECK(none.next_block().empty());
}

TEST_CASE("staged rows with any byte changed, or cut short, are refused before one is handed on",
          "[runtime][staged_rows]") {
  FakeWorld world;
  Env env = world.env();
  const std::vector<StagedObject> objects{stage(world, {{1}, 1}, 0, 10)};
  const Bytes sealed = world.store.objects.at(objects[0].name);
  const auto pull = [&](std::span<const std::byte> bytes) {
    world.store.objects[objects[0].name] = Bytes(bytes.begin(), bytes.end());
    StoredBatches batches(env, objects, 1s);
    batches.next_batch();
    batches.next_block();
  };

  CHECK(find_unnoticed_change(sealed, pull) == std::nullopt);
  CHECK(find_unnoticed_cut(sealed, pull) == std::nullopt);
}

TEST_CASE("staged rows that are not those of the manifest are refused by name",
          "[runtime][staged_rows]") {
  FakeWorld world;
  Env env = world.env();
  std::vector<StagedObject> objects{stage(world, {{1}, 1}, 0, 10)};
  const auto complaint = [&] {
    return message_of<WorldError>([&] {
      StoredBatches batches(env, objects, 1s);
      batches.next_batch();
      batches.next_block();
    });
  };

  CHECK(complaint().empty());
  objects[0].rows = 3;
  CHECK(complaint() == "1.1/0: it has 2 rows where the manifest lists 3");
  world.store.objects[objects[0].name] = seal(Content::state, 1, {});
  CHECK(complaint() == "1.1/0: it holds content of kind 3 where 4 was expected");
  world.store.objects.clear();
  CHECK(complaint() == "1.1/0: staged rows have gone");
}

TEST_CASE("a writer stages the rows since the last barrier under a name of their own",
          "[runtime][staging]") {
  Writer writer;
  writer.write(3);

  const Snapshot snapshot = writer.save(1);

  REQUIRE(snapshot.rows.size() == 1);
  const StagedObject& object = snapshot.rows[0].object;
  CHECK(object.sink == "sink");
  CHECK(object.id == CheckpointId{{4}, 1});
  CHECK(object.subtask == 1);
  CHECK(object.name == "staged/4.1-sink.1");
  CHECK(object.rows == 3);
  CHECK(object.size_bytes == snapshot.rows[0].bytes.size());
  CHECK(snapshot.acknowledgement.staged == std::vector<StagedObject>{object});
  CHECK(snapshot.sinks == Names{"sink"});

  // What was staged is what will be pulled.
  writer.world.store.objects[object.name] = snapshot.rows[0].bytes;
  Env env = writer.world.env();
  StoredBatches batches(env, snapshot.acknowledgement.staged, 1s);
  batches.next_batch();
  CellReader cells(batches.next_block());
  for (std::int64_t i = 0; i < 3; ++i) CHECK(cells.next() == Cell{i});
  CHECK(cells.at_end());
}

TEST_CASE("an interval without rows stages nothing", "[runtime][staging]") {
  Writer writer;

  const Snapshot first = writer.save(1);
  CHECK(first.rows.empty());
  CHECK(first.acknowledgement.staged.empty());
  CHECK(first.sinks == Names{"sink"});  // It acknowledges all the same.
  writer.write(1);
  writer.save(2);
  CHECK(writer.save(3).rows.empty());
}

TEST_CASE("a writer lists all that it staged and does not know to be visible",
          "[runtime][staging]") {
  Writer writer;
  writer.write(1);
  CHECK(names_of(writer.save(1)) == Names{"staged/4.1-sink.1"});
  writer.write(1);
  // Nobody said what became of 4.1: it was given up, or is being published. It rides along.
  CHECK(names_of(writer.save(2)) == Names{"staged/4.1-sink.1", "staged/4.2-sink.1"});

  writer.staging.published({{4}, 1});
  CHECK(names_of(writer.save(3)) == Names{"staged/4.2-sink.1"});
  writer.staging.published({{3}, 99});  // Old news.
  CHECK(names_of(writer.save(4)) == Names{"staged/4.2-sink.1"});
  writer.staging.published({{4}, 4});
  CHECK(names_of(writer.save(5)).empty());
}

TEST_CASE("the moments of a writer are told, with the number of its rows", "[runtime][staging]") {
  Writer writer;
  writer.write(3);
  writer.save(1);
  writer.save(2);

  const std::vector<RecordedLandmarks::Reached> expected{
      {"sink_started", "sink.1", {{3}, 4}, 0},
      {"sink_checkpoint_begun", "sink.1", {{4}, 1}, 0},
      {"sink_flushed", "sink.1", {{4}, 1}, 3},
      {"sink_checkpoint_begun", "sink.1", {{4}, 2}, 0},
      {"sink_flushed", "sink.1", {{4}, 2}, 0}};
  CHECK(writer.world.landmarks.list == expected);
}

TEST_CASE("a writer without rows tells of none, although another writer has some",
          "[runtime][staging]") {
  Writer writer;
  Staging other({writer.world.env("other.1"), {1, 2}, {{3}, 4}}, "other");
  writer.write(3);
  Snapshot snapshot;
  snapshot.acknowledgement.id = {{4}, 1};
  writer.staging.save(snapshot);
  other.save(snapshot);

  CHECK(writer.world.landmarks.list.back() ==
        RecordedLandmarks::Reached{"sink_flushed", "other.1", {{4}, 1}, 0});
}
