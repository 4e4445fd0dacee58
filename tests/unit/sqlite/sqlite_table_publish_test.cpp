#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

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
using Rows = std::vector<std::string>;

/// A sink fenced by term 1, and the means to look at it.
struct Sink {
  explicit Sink(const TableSchema& schema = word_counts()) : table(path, files.name(), schema) {
    start(table, {1});
  }
  PublishOutcome publish_batches(CheckpointId id, std::vector<StagedBatch> staged) {
    StagedList batches(std::move(staged));
    return table.publish(ours, {1}, id, batches, whenever);
  }
  Rows rows() const { return visible(path); }
  CheckpointId published() const { return visible_marker(path)->published; }

  TemporaryDirectory directory;
  std::string path = directory / "a.db";
  WatchedFiles files;
  SqliteTable table;
};

constexpr CheckpointId first{{1}, 1};
constexpr CheckpointId second{{1}, 2};
constexpr CheckpointId third{{1}, 3};

}  // namespace

TEST_CASE("a publish makes all batches visible with their marker", "[sqlite][publish]") {
  Sink sink;

  // Two subtasks, one of them with two blocks.
  CHECK(sink.publish_batches(first, {{first, {block({{"a", 1}, {"b", 2}}), block({{"c", 3}})}},
                                     {first, {block({{"a", 4}})}}}) == PublishOutcome::published);

  CHECK(sink.rows() == Rows{"a 1", "b 2", "c 3", "a 4"});
  CHECK(visible_marker(sink.path) == Marker{ours, {1}, first});
}

TEST_CASE("a publish of nothing raises the marker", "[sqlite][publish]") {
  Sink sink;

  CHECK(sink.publish_batches(first, {}) == PublishOutcome::published);
  CHECK(sink.publish_batches(second, {{second, {}}}) == PublishOutcome::published);
  CHECK(sink.rows().empty());
  CHECK(sink.published() == second);
}

TEST_CASE("a publish that is repeated changes nothing", "[sqlite][publish]") {
  Sink sink;
  publish(sink.table, {1}, first, {{"a", 1}});
  publish(sink.table, {1}, second, {{"b", 2}});

  CHECK(publish(sink.table, {1}, second, {{"b", 2}}) == PublishOutcome::published);
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 1", "b 2"});
  CHECK(sink.published() == second);
}

TEST_CASE("a publish that is repeated syncs the log it has read", "[sqlite][publish]") {
  Sink sink;
  publish(sink.table, {1}, first, {{"a", 1}});
  int syncs = 0;
  sink.files.after = [&](const WatchedFiles::Event& event) {
    if (event.call == WatchedFiles::Call::sync && event.of_log()) ++syncs;
  };

  publish(sink.table, {1}, first, {{"a", 1}});
  CHECK(syncs == 1);
}

TEST_CASE("a publish carries the batches of earlier ones that were lost", "[sqlite][publish]") {
  Sink sink;
  publish(sink.table, {1}, first, {{"a", 1}});
  StagedList batches(
      {{first, {block({{"a", 1}})}}, {second, {block({{"b", 2}})}}, {third, {block({{"c", 3}})}}});

  CHECK(sink.table.publish(ours, {1}, third, batches, whenever) == PublishOutcome::published);

  CHECK(sink.rows() == Rows{"a 1", "b 2", "c 3"});
  CHECK(sink.published() == third);
  CHECK(batches.batches_taken == 3);
  CHECK(batches.blocks_taken == 2);  // What is published already is not even read.
}

TEST_CASE("a later owner publishes what an earlier one staged", "[sqlite][publish]") {
  Sink sink;
  SqliteTable later(sink.path, "", word_counts());
  later.fence(from_past({4}), whenever);

  CHECK(publish(later, {4}, first, {{"a", 1}}) == PublishOutcome::published);
  CHECK(publish(later, {4}, {{4}, 1}, {{"b", 1}}) == PublishOutcome::published);
  CHECK(visible_marker(sink.path) == Marker{ours, {4}, {{4}, 1}});
}

TEST_CASE("a zombie publishes nothing", "[sqlite][publish]") {
  Sink zombie;
  publish(zombie.table, {1}, first, {{"a", 1}});
  SqliteTable owner(zombie.path, "", word_counts());
  owner.fence(from_past({2}), whenever);

  CHECK(publish(zombie.table, {1}, second, {{"z", 1}}) == PublishOutcome::fenced);
  CHECK(publish(zombie.table, {1}, first, {{"a", 1}}) == PublishOutcome::fenced);
  CHECK(zombie.table.fence(from_past({1}), whenever).outcome == FenceOutcome::superseded);
  CHECK(publish(owner, {2}, {{2}, 1}, {{"b", 1}}) == PublishOutcome::published);
  CHECK(publish(zombie.table, {1}, second, {{"z", 1}}) == PublishOutcome::fenced);
  CHECK(zombie.rows() == Rows{"a 1", "b 1"});
}

TEST_CASE("a publish without its marker or of another lineage changes nothing",
          "[sqlite][publish]") {
  Sink sink;
  StagedList batches({{first, {block({{"a", 1}})}}});
  CHECK(sink.table.publish(theirs, {1}, first, batches, whenever) == PublishOutcome::fenced);
  CHECK(batches.batches_taken == 0);

  Database(sink.path, "", Database::Access::write).execute("DELETE FROM millrace_sinks");
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::fenced);
  CHECK(visible_marker(sink.path) == std::nullopt);
  CHECK(sink.rows().empty());
}

TEST_CASE("every value survives being published, bit for bit", "[sqlite][publish]") {
  Sink sink;
  const std::vector<WordCount> rows{
      {"", std::numeric_limits<std::int64_t>::min(), std::nullopt},
      {std::string("a\0b\0", 4), std::numeric_limits<std::int64_t>::max(), 0.0},
      {"\xFF\xFE no text \x80", (std::int64_t{1} << 53) + 1, 3.0},
      {"123", 0, std::numeric_limits<double>::denorm_min()},
      {" 1e3 ", -1, std::numeric_limits<double>::max()},
      {"größe", 1, -std::numeric_limits<double>::infinity()},
      {"x", 2, 9007199254740993.0},
      {"x", 2, 0.1},
      {std::string(100'000, 'x'), 3, -9223372036854775808.0},
  };
  publish(sink.table, {1}, first, rows);

  std::size_t at = 0;
  TableReader(sink.path, "", "words").look([&](std::int64_t rowid, std::span<const Cell> cells) {
    const WordCount& row = rows[at++];
    CAPTURE(at);
    CHECK(rowid == static_cast<std::int64_t>(at));
    CHECK(cells[0] == Cell{std::string_view(row.word)});
    CHECK(cells[1] == Cell{row.count});
    REQUIRE(std::holds_alternative<double>(cells[2]) == row.share.has_value());
    if (row.share) {
      CHECK(std::bit_cast<std::uint64_t>(std::get<double>(cells[2])) ==
            std::bit_cast<std::uint64_t>(*row.share));
    }
  });
  CHECK(at == rows.size());
}

TEST_CASE("SQLite forgets the sign of a zero", "[sqlite][publish]") {
  Sink sink;
  publish(sink.table, {1}, first, {{"a", 1, -0.0}});

  TableReader(sink.path, "", "words").look([](std::int64_t, std::span<const Cell> cells) {
    CHECK_FALSE(std::signbit(std::get<double>(cells[2])));
  });
}

TEST_CASE("a row that breaks the unique key fails the job and shows nothing", "[sqlite][publish]") {
  Sink sink(unique_word_counts());
  publish(sink.table, {1}, first, {{"a", 1}});

  const auto text = text_of<JobFailed>([&] {
    publish(sink.table, {1}, second, {{"b", 1}, {"c", 1}, {"a", 2}});
  });

  CHECK(text.find("UNIQUE constraint failed: words.word") != std::string::npos);
  CHECK(text.find("a.db") != std::string::npos);
  CHECK(sink.rows() == Rows{"a 1"});
  CHECK(sink.published() == first);
  CHECK(publish(sink.table, {1}, second, {{"b", 1}}) == PublishOutcome::published);
}

TEST_CASE("staged bytes that are no rows of the table are refused whole", "[sqlite][publish]") {
  Sink sink;
  CellWriter writer;
  std::string part;
  writer.text("whole");
  writer.integer(1);
  writer.null();
  SECTION("a row ends early") {
    writer.text("a");
    writer.integer(1);
    part = "row 2: the bytes end inside a value";
  }
  SECTION("a cell is of another type") {
    writer.text("a");
    writer.text("1");
    writer.null();
    part = "row 2: column `count` is a TEXT; expected an INTEGER";
  }
  SECTION("an integer stands for a real") {
    writer.text("a");
    writer.integer(1);
    writer.integer(1);
    part = "row 2: column `share` is an INTEGER; expected a REAL";
  }
  SECTION("a null stands where none may") {
    writer.null();
    part = "row 2: column `word` is NULL; expected a TEXT";
  }
  SECTION("a real is no number") {
    writer.text("a");
    writer.integer(1);
    writer.real(std::numeric_limits<double>::quiet_NaN());
    part = "row 2: column `share` is NaN";
  }
  const Bytes broken = writer.take();

  const auto text = text_of<CorruptObject>([&] {
    sink.publish_batches(second, {{first, {block({{"b", 1}})}}, {second, {broken}}});
  });
  UNSCOPED_INFO(text);
  CHECK(text.find("table `words` in checkpoint 1.2: " + part) != std::string::npos);
  CHECK(sink.rows().empty());
  CHECK(sink.published() == CheckpointId::genesis());
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
}

TEST_CASE("a publish that is cancelled between its batches leaves nothing", "[sqlite][publish]") {
  Sink sink;
  StagedList batches({{first, {block({{"a", 1}})}}});
  batches.at_end = [] { throw Cancelled{}; };

  CHECK_THROWS_AS(sink.table.publish(ours, {1}, first, batches, whenever), Cancelled);
  CHECK(sink.rows().empty());
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 1"});
}

TEST_CASE("a publish whose commit fails is unknown, and its repetition publishes once",
          "[sqlite][publish]") {
  Sink sink;
  const auto broken = GENERATE(WatchedFiles::Call::sync, WatchedFiles::Call::write);
  sink.files.before = [&](const WatchedFiles::Event& event) {
    return event.call == broken ? 10 : 0;
  };

  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::unknown);
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::unknown);
  CHECK(sink.rows().empty());

  sink.files.before = nullptr;
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 1"});
}

TEST_CASE("a publish waits for a writer, and then says who is in the way", "[sqlite][publish]") {
  Sink sink;
  Database other(sink.path, "", Database::Access::write);
  {
    const Transaction writing(other, Transaction::Kind::write);
    CHECK_THROWS_AS(publish(sink.table, {1}, first, {{"a", 1}}), Unavailable);
  }
  CHECK(publish(sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
}

TEST_CASE("a reader that keeps its state stops no publish", "[sqlite][publish]") {
  Sink sink;
  publish(sink.table, {1}, first, {{"a", 1}});
  Database reader(sink.path, "", Database::Access::read);
  std::optional<Transaction> reading;
  reading.emplace(reader, Transaction::Kind::read);
  Statement count(reader, "SELECT count(*) FROM words");
  const auto counted = [&] {
    count.reset();
    count.step();
    return std::get<std::int64_t>(count.column(0));
  };
  CHECK(counted() == 1);

  // More than one checkpoint's worth of log, none of which may be copied past the reader.
  CHECK(publish(sink.table, {1}, second, many_words(100'000)) == PublishOutcome::published);
  CHECK(publish(sink.table, {1}, third, {{"b", 1}}) == PublishOutcome::published);
  CHECK(counted() == 1);

  count.reset();
  reading.reset();
  CHECK(counted() == 100'002);
}

TEST_CASE("a log that has grown long is copied into the database", "[sqlite][publish]") {
  Sink sink;
  const auto database_bytes = [&] { return std::filesystem::file_size(sink.path); };
  publish(sink.table, {1}, first, many_words(1000));
  CHECK(database_bytes() < 50'000);

  publish(sink.table, {1}, second, many_words(100'000));
  CHECK(database_bytes() > 4'000'000);
}

TEST_CASE("a copy of the log that fails takes no published row back", "[sqlite][publish]") {
  Sink sink;
  sink.files.before = [](const WatchedFiles::Event& event) { return event.of_log() ? 0 : 10; };

  CHECK(publish(sink.table, {1}, first, many_words(100'000)) == PublishOutcome::published);
  sink.files.before = nullptr;
  CHECK(sink.rows().size() == 100'000);
  CHECK(publish(sink.table, {1}, second, {{"a", 1}}) == PublishOutcome::published);
  CHECK(sink.rows().size() == 100'001);
}
