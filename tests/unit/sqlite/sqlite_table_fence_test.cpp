#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

constexpr Instant whenever = Instant::never();

void execute(const std::string& path, const std::string& sql) {
  Database(path, "", Database::Access::write).execute(sql);
}

/// Counts the syncs of logs from now on.
int& count_syncs(WatchedFiles& files, int& count) {
  files.after = [&count](const WatchedFiles::Event& event) {
    if (event.call == WatchedFiles::Call::sync && event.of_log()) ++count;
  };
  return count;
}

}  // namespace

TEST_CASE("the first fence of a new job writes a marker", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  SqliteTable sink(directory / "a.db", "", word_counts());
  sink.ensure(whenever);

  const Fenced fenced = sink.fence(from_genesis({1}), whenever);

  CHECK(fenced.outcome == FenceOutcome::fenced);
  CHECK(fenced.marker == Marker{ours, {1}, CheckpointId::genesis()});
  CHECK(visible_marker(directory / "a.db") == fenced.marker);
}

TEST_CASE("a fence tells a takeover what is published", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  SqliteTable before(directory / "a.db", "", word_counts());
  start(before, {1});
  publish(before, {1}, {{1}, 1}, {{"a", 1}});
  SqliteTable sink(directory / "a.db", "", word_counts());

  const Fenced fenced = sink.fence(from_past({2}), whenever);

  CHECK(fenced.outcome == FenceOutcome::fenced);
  CHECK(fenced.marker == Marker{ours, {2}, {{1}, 1}});
  CHECK(visible_marker(directory / "a.db") == fenced.marker);
}

TEST_CASE("a refused fence leaves marker and rows", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable sink(path, "", word_counts());
  start(sink, {3});
  publish(sink, {3}, {{3}, 1}, {{"a", 1}});
  const Marker marker{ours, {3}, {{3}, 1}};
  SqliteTable late(path, "", word_counts());

  SECTION("superseded by a later term") {
    const Fenced fenced = late.fence(from_past({2}), whenever);
    CHECK(fenced.outcome == FenceOutcome::superseded);
    CHECK(fenced.marker == marker);
  }
  SECTION("the marker is of another lineage") {
    const Fenced fenced = late.fence({theirs, {9}, true, false}, whenever);
    CHECK(fenced.outcome == FenceOutcome::foreign);
    CHECK(fenced.marker == marker);
  }
  CHECK(visible_marker(path) == marker);
  CHECK(visible(path) == std::vector<std::string>{"a 1"});
  // And the owner goes on.
  CHECK(publish(sink, {3}, {{3}, 2}, {{"b", 1}}) == PublishOutcome::published);
}

TEST_CASE("a sink that was emptied is found out", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable sink(path, "", word_counts());
  start(sink, {1});
  execute(path, "DELETE FROM millrace_sinks");

  const Fenced fenced = sink.fence(from_past({2}), whenever);

  CHECK(fenced.outcome == FenceOutcome::absent);
  CHECK(fenced.marker == std::nullopt);
  CHECK(visible_marker(path) == std::nullopt);
}

TEST_CASE("rows that nobody accounts for are taken over only if told to", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable sink(path, "", word_counts());
  sink.ensure(whenever);
  execute(path, "INSERT INTO words VALUES ('old', 1, NULL)");

  CHECK(sink.fence(from_genesis({1}), whenever).outcome == FenceOutcome::occupied);
  CHECK(visible_marker(path) == std::nullopt);

  CHECK(sink.fence({ours, {1}, true, true}, whenever).outcome == FenceOutcome::fenced);
  CHECK(visible_marker(path) == Marker{ours, {1}, CheckpointId::genesis()});
  CHECK(visible(path) == std::vector<std::string>{"old 1"});
}

TEST_CASE("an adopted sink keeps its rows and shuts out its old owner", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable old_owner(path, "", word_counts());
  start(old_owner, {3});
  publish(old_owner, {3}, {{3}, 5}, {{"a", 1}});
  SqliteTable sink(path, "", word_counts());

  const Fenced fenced = sink.fence({theirs, {4}, true, true}, whenever);

  CHECK(fenced.outcome == FenceOutcome::fenced);
  CHECK(fenced.marker == Marker{theirs, {4}, CheckpointId::genesis()});
  CHECK(publish(old_owner, {3}, {{3}, 6}, {{"b", 1}}) == PublishOutcome::fenced);
  StagedList batches({{{{4}, 1}, {block({{"c", 1}})}}});
  CHECK(sink.publish(theirs, {4}, {{4}, 1}, batches, whenever) == PublishOutcome::published);
  CHECK(visible(path) == std::vector<std::string>{"a 1", "c 1"});
}

TEST_CASE("a fence that changes nothing still syncs the log it has read", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  SqliteTable sink(directory / "a.db", files.name(), word_counts());
  start(sink, {1});
  int syncs = 0;
  count_syncs(files, syncs);

  sink.fence(from_past({1}), whenever);
  CHECK(syncs == 1);
  sink.fence(from_past({1}), whenever);
  CHECK(syncs == 2);
  CHECK(sink.fence({theirs, {1}, false, false}, whenever).outcome == FenceOutcome::foreign);
  CHECK(syncs == 3);
}

TEST_CASE("a fence whose commit fails throws, and may be repeated", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  SqliteTable sink(directory / "a.db", files.name(), word_counts());
  start(sink, {1});
  files.before = [](const WatchedFiles::Event&) { return 10; };

  CHECK_THROWS_AS(sink.fence(from_past({2}), whenever), IoError);
  CHECK(visible_marker(directory / "a.db") == Marker{ours, {1}, CheckpointId::genesis()});

  files.before = nullptr;
  CHECK(sink.fence(from_past({2}), whenever).outcome == FenceOutcome::fenced);
}

TEST_CASE("a marker that is none is corruption", "[sqlite][fence]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable sink(path, "", word_counts());
  start(sink, {1});
  const std::string change = GENERATE("lineage = 'mine'", "term = -1", "fence_term = 'x'");
  execute(path, "UPDATE millrace_sinks SET " + change);

  const auto text = text_of<CorruptObject>([&] { sink.fence(from_past({2}), whenever); });
  CHECK(text.find("the marker of sink `words`") != std::string::npos);
}
