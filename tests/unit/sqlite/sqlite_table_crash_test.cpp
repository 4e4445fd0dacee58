#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

constexpr Instant whenever = Instant::never();
constexpr CheckpointId first{{1}, 1};
constexpr CheckpointId second{{1}, 2};

/// Rows of the second checkpoint: some pages full, so that its commit is many writes.
std::vector<WordCount> rows() { return many_words(300); }

/// Copies a database after every call that touches its files: each copy is what a kill -9 at that
/// moment leaves.
class Camera {
 public:
  Camera(WatchedFiles& files, const TemporaryDirectory& directory, std::string path)
      : directory_(directory), path_(std::move(path)) {
    files.after = [this](const WatchedFiles::Event&) { copy_database(path_, copy(count_++)); };
  }
  int count() const { return count_; }
  std::string copy(int index) const { return directory_ / ("copy" + std::to_string(index)); }

 private:
  const TemporaryDirectory& directory_;
  std::string path_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("a kill at any moment of a publish leaves all of it or nothing", "[sqlite][crash]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  SqliteTable sink(directory / "a.db", files.name(), word_counts());
  start(sink, {1});
  publish(sink, {1}, first, {{"first", 1}});
  const Camera camera(files, directory, directory / "a.db");

  REQUIRE(publish(sink, {1}, second, rows()) == PublishOutcome::published);
  files.after = nullptr;

  int before = 0;
  int after = 0;
  for (int i = 0; i < camera.count(); ++i) {
    CAPTURE(i);
    const std::string path = camera.copy(i);
    const auto found = visible_marker(path);
    REQUIRE(found.has_value());
    const bool is_after = found->published == second;
    ++(is_after ? after : before);
    CHECK(visible(path).size() == (is_after ? 301 : 1));

    // And whoever takes over from there ends with every row once.
    SqliteTable successor(path, "", word_counts());
    CHECK(successor.fence(from_past({2}), whenever).marker == Marker{ours, {2}, found->published});
    CHECK(publish(successor, {2}, second, rows()) == PublishOutcome::published);
    CHECK(visible(path).size() == 301);
  }
  CHECK(before > 10);
  CHECK(after > 0);
}

TEST_CASE("a kill before the commit leaves nothing of the publish", "[sqlite][crash]") {
  const TemporaryDirectory directory;
  SqliteTable sink(directory / "a.db", "", word_counts());
  start(sink, {1});
  publish(sink, {1}, first, {{"first", 1}});
  StagedList batches({{second, {block(rows())}}});
  batches.at_end = [&] { copy_database(directory / "a.db", directory / "copy"); };

  sink.publish(ours, {1}, second, batches, whenever);

  CHECK(visible_marker(directory / "copy") == Marker{ours, {1}, first});
  CHECK(visible(directory / "copy") == std::vector<std::string>{"first 1"});
}

TEST_CASE("a kill at any moment of a checkpoint changes nothing that is seen", "[sqlite][crash]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  SqliteTable sink(directory / "a.db", "", word_counts());
  start(sink, {1});
  publish(sink, {1}, first, rows());
  Database database(directory / "a.db", files.name(), Database::Access::write);
  database.make_durable();
  const Camera camera(files, directory, directory / "a.db");

  REQUIRE(database.checkpoint());
  files.after = nullptr;

  CHECK(camera.count() > 10);
  for (int i = 0; i < camera.count(); ++i) {
    CAPTURE(i);
    CHECK(visible_marker(camera.copy(i)) == Marker{ours, {1}, first});
    CHECK(visible(camera.copy(i)).size() == 300);
  }
}

TEST_CASE("a kill at any moment of the first start leaves what a second start can use",
          "[sqlite][crash]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  const Camera camera(files, directory, directory / "a.db");
  SqliteTable sink(directory / "a.db", files.name(), word_counts());
  start(sink, {1});
  files.after = nullptr;

  CHECK(camera.count() > 10);
  for (int i = 0; i < camera.count(); ++i) {
    CAPTURE(i);
    SqliteTable successor(camera.copy(i), "", word_counts());
    start(successor, {2});
    CHECK(publish(successor, {2}, {{2}, 1}, {{"a", 1}}) == PublishOutcome::published);
    CHECK(visible(camera.copy(i)) == std::vector<std::string>{"a 1"});
  }
}

TEST_CASE("an unknown publish is found whole by a restart, or not at all", "[sqlite][crash]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  SqliteTable sink(directory / "a.db", files.name(), word_counts());
  start(sink, {1});
  // The commit is written; its sync fails.
  files.before = [](const WatchedFiles::Event& event) {
    return event.call == WatchedFiles::Call::sync ? 10 : 0;
  };
  REQUIRE(publish(sink, {1}, first, rows()) == PublishOutcome::unknown);
  copy_database(directory / "a.db", directory / "copy");
  CHECK(visible(directory / "a.db").empty());
  CHECK(visible(directory / "copy").size() == 300);

  SqliteTable successor(directory / "copy", "", word_counts());
  successor.fence(from_past({2}), whenever);
  CHECK(publish(successor, {2}, first, rows()) == PublishOutcome::published);
  CHECK(visible(directory / "copy").size() == 300);
}

TEST_CASE("whichever call to the disk fails, a publish that is tried again publishes once",
          "[sqlite][crash]") {
  int failures = 0;
  for (int failing = 0; failures == failing; ++failing) {
    const TemporaryDirectory directory;
    WatchedFiles files;
    SqliteTable sink(directory / "a.db", files.name(), word_counts());
    start(sink, {1});
    publish(sink, {1}, first, {{"first", 1}});
    int calls = 0;
    files.before = [&](const WatchedFiles::Event&) {
      if (calls++ != failing) return 0;
      ++failures;
      return 10;
    };

    CAPTURE(failing);
    const PublishOutcome outcome = publish(sink, {1}, second, rows());
    CHECK(outcome == (failures == failing ? PublishOutcome::published : PublishOutcome::unknown));
    files.before = nullptr;
    CHECK(publish(sink, {1}, second, rows()) == PublishOutcome::published);
    CHECK(visible(directory / "a.db").size() == 301);
  }
  CHECK(failures > 10);
}
