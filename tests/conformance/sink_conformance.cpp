#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "word_counts.hpp"
#include "worlds.hpp"

using namespace millrace;
using millrace::conformance::database_path;
using millrace::conformance::in_every_database;
using millrace::conformance::TestWorld;

namespace {

using Rows = std::vector<std::string>;

constexpr Instant whenever = Instant::never();
constexpr CheckpointId first{{1}, 1};
constexpr CheckpointId second{{1}, 2};
constexpr CheckpointId third{{1}, 3};

TableSchema words(SinkMode mode) {
  TableSchema schema = word_counts();
  schema.mode = mode;
  return schema;
}

/// A table on a connection of its own, and what others see of it.
class Sink {
 public:
  Sink(Env& env, TestWorld& world, const TableSchema& schema = word_counts())
      : table(env.sinks.open(database_path, schema)), world_(world), name_(schema.table) {}

  /// `a 1`, in the order of insertion.
  Rows rows() const {
    Rows rows;
    world_.look(name_, [&rows](std::int64_t, std::span<const Cell> cells) {
      rows.push_back(fmt::format("{} {}", std::get<std::string_view>(cells[0]),
                                 std::get<std::int64_t>(cells[1])));
    });
    return rows;
  }
  TableLook look() const {
    return world_.look(name_, [](std::int64_t, std::span<const Cell>) {});
  }
  std::optional<Marker> marker() const { return look().marker; }

  PublishOutcome publish_batches(CheckpointId id, std::vector<StagedBatch> staged) {
    StagedList batches(std::move(staged));
    return table->publish(ours, {1}, id, batches, whenever);
  }
  PublishOutcome write(const std::vector<WordCount>& rows, Term term = {1},
                       Lineage lineage = ours) {
    return table->write(lineage, term, block(rows), whenever);
  }

  std::unique_ptr<SinkTable> table;

 private:
  TestWorld& world_;
  std::string name_;
};

/// The same, ensured and fenced by term 1.
Sink started(Env& env, TestWorld& world, const TableSchema& schema = word_counts()) {
  Sink sink(env, world, schema);
  start(*sink.table, {1});
  return sink;
}

bool says(const std::string& text, std::string_view part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ensure makes a table without rows or marker, and agrees with it",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink(env, world, unique_word_counts());
    CHECK(sink.look().outcome == TableLook::Outcome::absent);
    sink.table->ensure(whenever);
    CHECK_NOTHROW(sink.table->ensure(whenever));
    CHECK_NOTHROW(Sink(env, world, unique_word_counts()).table->ensure(whenever));

    CHECK(sink.look().outcome == TableLook::Outcome::seen);
    CHECK(sink.rows().empty());
    CHECK(sink.marker() == std::nullopt);
  });
}

TEST_CASE("ensure names how a table of that name differs, and changes nothing",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    publish(*sink.table, {1}, first, {{"a", 1}});
    const auto complaint = [&](auto change) {
      TableSchema schema = word_counts();
      change(schema);
      return text_of<UsageError>([&] { Sink(env, world, schema).table->ensure(whenever); });
    };
    using S = TableSchema&;

    CHECK(says(complaint([](S s) { s.columns[2].name = "part"; }),
               "column 3 is `share` REAL; expected `part` REAL"));
    CHECK(says(complaint([](S s) { s.columns[1].type = TableSchema::Type::real; }),
               "column 2 is `count` INTEGER NOT NULL; expected `count` REAL NOT NULL"));
    CHECK(says(complaint([](S s) { s.columns[2].nullable = false; }),
               "column 3 is `share` REAL; expected `share` REAL NOT NULL"));
    CHECK(says(complaint([](S s) { s.columns.push_back({"more"}); }),
               "column 4 is missing; expected `more` INTEGER NOT NULL"));
    CHECK(says(complaint([](S s) { s.columns.pop_back(); }),
               "column 3 is `share` REAL; expected no more than 2 columns"));
    CHECK(says(complaint([](S s) { s.table = "Words"; }), "it is spelt `words`"));
    CHECK(says(complaint([](S s) { s.key = {"count"}; }),
               "is INDEX (`word`); expected INDEX (`count`)"));
    CHECK(says(complaint([](S s) { s.unique_key = true; }),
               "is INDEX (`word`); expected UNIQUE INDEX (`word`)"));
    CHECK(sink.rows() == Rows{"a 1"});
    CHECK(sink.marker() == Marker{ours, {1}, first});
  });
}

TEST_CASE("ensure refuses what cannot be a table", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    const auto refusal = [&](auto change) {
      TableSchema schema = word_counts();
      change(schema);
      return text_of<UsageError>([&] { Sink(env, world, schema).table->ensure(whenever); });
    };
    using S = TableSchema&;

    CHECK(says(refusal([](S s) { s.table = "millrace_sinks"; }), "are reserved"));
    CHECK(says(refusal([](S s) { s.columns.clear(); }), "it has no columns"));
    CHECK(says(refusal([](S s) { s.key = {"colour"}; }), "its key names `colour`"));
    CHECK(says(refusal([](S s) { s.key.clear(), s.unique_key = true; }), "expected it to be"));
    CHECK(says(refusal([](S s) { s.mode = SinkMode::upsert, s.columns[0].nullable = true; }),
               "its key has `word`, which may be null"));
  });
}

TEST_CASE("a table that nobody has ensured cannot be used", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink(env, world);
    CHECK_THROWS_AS(sink.table->fence(from_genesis({1}), whenever), WorldError);
    CHECK_THROWS_AS(publish(*sink.table, {1}, first, {{"a", 1}}), WorldError);
    CHECK(sink.look().outcome == TableLook::Outcome::absent);
  });
}

TEST_CASE("a fence writes the marker of a new job, and tells a takeover what is published",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink(env, world);
    sink.table->ensure(whenever);

    const Fenced fenced = sink.table->fence(from_genesis({1}), whenever);
    CHECK(fenced.outcome == FenceOutcome::fenced);
    CHECK(fenced.marker == Marker{ours, {1}, CheckpointId::genesis()});
    CHECK(sink.marker() == fenced.marker);

    publish(*sink.table, {1}, first, {{"a", 1}});
    const Fenced taken = Sink(env, world).table->fence(from_past({2}), whenever);
    CHECK(taken.outcome == FenceOutcome::fenced);
    CHECK(taken.marker == Marker{ours, {2}, first});
    CHECK(sink.marker() == taken.marker);
  });
}

TEST_CASE("a fence that is refused leaves marker and rows", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink(env, world);
    sink.table->ensure(whenever);
    const Fenced absent = sink.table->fence(from_past({2}), whenever);
    CHECK(absent.outcome == FenceOutcome::absent);
    CHECK(absent.marker == std::nullopt);
    CHECK(sink.marker() == std::nullopt);

    const Marker marker{ours, {3}, {{3}, 1}};
    start(*sink.table, {3});
    publish(*sink.table, {3}, {{3}, 1}, {{"a", 1}});
    Sink late(env, world);
    const Fenced superseded = late.table->fence(from_past({2}), whenever);
    CHECK(superseded.outcome == FenceOutcome::superseded);
    CHECK(superseded.marker == marker);
    const Fenced foreign = late.table->fence({theirs, {9}, false, false}, whenever);
    CHECK(foreign.outcome == FenceOutcome::foreign);
    CHECK(foreign.marker == marker);
    CHECK(sink.marker() == marker);
    CHECK(sink.rows() == Rows{"a 1"});
  });
}

TEST_CASE("a sink that is adopted keeps its rows and shuts out its old owner",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink old_owner = started(env, world);
    publish(*old_owner.table, {1}, {{1}, 5}, {{"a", 1}});
    Sink sink(env, world);

    const Fenced fenced = sink.table->fence({theirs, {1}, true, true}, whenever);

    CHECK(fenced.outcome == FenceOutcome::fenced);
    CHECK(fenced.marker == Marker{theirs, {1}, CheckpointId::genesis()});
    CHECK(publish(*old_owner.table, {1}, {{1}, 6}, {{"b", 1}}) == PublishOutcome::fenced);
    CHECK(sink.rows() == Rows{"a 1"});
  });
}

TEST_CASE("a publish makes all batches visible with their marker", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);

    // Two subtasks, one of them with two blocks.
    CHECK(sink.publish_batches(first, {{first, {block({{"a", 1}, {"b", 2}}), block({{"c", 3}})}},
                                       {first, {block({{"a", 4}})}}}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"a 1", "b 2", "c 3", "a 4"});
    CHECK(sink.marker() == Marker{ours, {1}, first});

    // Nothing is a checkpoint, too.
    CHECK(sink.publish_batches(second, {}) == PublishOutcome::published);
    CHECK(sink.publish_batches(third, {{third, {}}}) == PublishOutcome::published);
    CHECK(sink.rows().size() == 4);
    CHECK(sink.marker() == Marker{ours, {1}, third});
  });
}

TEST_CASE("a publish that is repeated changes nothing", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    publish(*sink.table, {1}, first, {{"a", 1}});
    publish(*sink.table, {1}, second, {{"b", 2}});

    CHECK(publish(*sink.table, {1}, second, {{"b", 2}}) == PublishOutcome::published);
    CHECK(publish(*sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"a 1", "b 2"});
    CHECK(sink.marker() == Marker{ours, {1}, second});
  });
}

TEST_CASE("a publish carries the batches of earlier ones that were lost, and passes over the rest",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    publish(*sink.table, {1}, first, {{"a", 1}});

    CHECK(sink.publish_batches(third, {{first, {block({{"a", 1}})}},
                                       {second, {block({{"b", 2}})}},
                                       {third, {block({{"c", 3}})}}}) == PublishOutcome::published);

    CHECK(sink.rows() == Rows{"a 1", "b 2", "c 3"});
    CHECK(sink.marker() == Marker{ours, {1}, third});
  });
}

TEST_CASE("a zombie publishes nothing, and what it staged its successor may",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink zombie = started(env, world);
    publish(*zombie.table, {1}, first, {{"a", 1}});
    Sink owner(env, world);
    owner.table->fence(from_past({2}), whenever);

    CHECK(publish(*zombie.table, {1}, second, {{"z", 1}}) == PublishOutcome::fenced);
    CHECK(publish(*zombie.table, {1}, first, {{"a", 1}}) == PublishOutcome::fenced);
    CHECK(zombie.table->fence(from_past({1}), whenever).outcome == FenceOutcome::superseded);
    CHECK(publish(*owner.table, {2}, second, {{"b", 1}}) == PublishOutcome::published);
    CHECK(publish(*owner.table, {2}, {{2}, 1}, {{"c", 1}}) == PublishOutcome::published);
    CHECK(owner.rows() == Rows{"a 1", "b 1", "c 1"});
    CHECK(owner.marker() == Marker{ours, {2}, {{2}, 1}});
  });
}

TEST_CASE("nobody publishes or writes to a sink that was never fenced, or for another lineage",
          "[conformance][sink]") {
  for (const SinkMode mode : {SinkMode::staged, SinkMode::insert, SinkMode::upsert}) {
    in_every_database([mode](Env& env, TestWorld& world) {
      Sink sink(env, world, words(mode));
      const auto put = [&](Lineage lineage) {
        if (mode != SinkMode::staged) return sink.write({{"a", 1}}, {1}, lineage);
        StagedList batches({{first, {block({{"a", 1}})}}});
        return sink.table->publish(lineage, {1}, first, batches, whenever);
      };
      sink.table->ensure(whenever);
      CHECK(put(ours) == PublishOutcome::fenced);
      sink.table->fence(from_genesis({1}), whenever);
      CHECK(put(theirs) == PublishOutcome::fenced);
      CHECK(sink.rows().empty());
      CHECK(sink.marker() == Marker{ours, {1}, CheckpointId::genesis()});
    });
  }
}

TEST_CASE("every value that is published is seen bit for bit", "[conformance][sink]") {
  const std::vector<WordCount> rows{
      {"", std::numeric_limits<std::int64_t>::min(), std::nullopt},
      {std::string("a\0b\0", 4), std::numeric_limits<std::int64_t>::max(), 0.0},
      {"\xFF\xFE no text \x80", (std::int64_t{1} << 53) + 1, 3.0},
      {"123", 0, std::numeric_limits<double>::denorm_min()},
      {" 1e3 ", -1, std::numeric_limits<double>::max()},
      {"größe", 1, -std::numeric_limits<double>::infinity()},
      {"x", 2, 0.1},
      {std::string(100'000, 'x'), 3, -9223372036854775808.0},
  };
  in_every_database([&rows](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    publish(*sink.table, {1}, first, rows);

    std::size_t at = 0;
    world.look("words", [&](std::int64_t, std::span<const Cell> cells) {
      const WordCount& row = rows[at++];
      CAPTURE(at);
      CHECK(cells[0] == Cell{std::string_view(row.word)});
      CHECK(cells[1] == Cell{row.count});
      REQUIRE(std::holds_alternative<double>(cells[2]) == row.share.has_value());
      if (row.share) {
        CHECK(std::bit_cast<std::uint64_t>(std::get<double>(cells[2])) ==
              std::bit_cast<std::uint64_t>(*row.share));
      }
    });
    CHECK(at == rows.size());
  });
}

TEST_CASE("the sign of a zero is forgotten", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    publish(*sink.table, {1}, first, {{"a", 1, -0.0}});

    world.look("words", [](std::int64_t, std::span<const Cell> cells) {
      CHECK_FALSE(std::signbit(std::get<double>(cells[2])));
    });
  });
}

TEST_CASE("rows that break the unique key fail the job and show nothing", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world, unique_word_counts());
    publish(*sink.table, {1}, first, {{"a", 1}});

    for (const std::vector<WordCount>& rows :
         {std::vector<WordCount>{{"b", 1}, {"c", 1}, {"a", 2}}, {{"b", 1}, {"b", 2}}}) {
      const auto text = text_of<JobFailed>([&] { publish(*sink.table, {1}, second, rows); });
      CHECK(says(text, "UNIQUE constraint failed: words.word"));
      CHECK(sink.rows() == Rows{"a 1"});
      CHECK(sink.marker() == Marker{ours, {1}, first});
    }
    CHECK(publish(*sink.table, {1}, second, {{"b", 1}}) == PublishOutcome::published);
  });
}

TEST_CASE("keys that are null are all different", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    TableSchema schema = unique_word_counts();
    schema.key = {"word", "share"};
    Sink sink = started(env, world, schema);

    CHECK(publish(*sink.table, {1}, first, {{"a", 1}, {"a", 2}}) == PublishOutcome::published);
    CHECK(publish(*sink.table, {1}, second, {{"a", 3, 0.5}}) == PublishOutcome::published);
    CHECK_THROWS_AS(publish(*sink.table, {1}, third, {{"a", 4, 0.5}}), JobFailed);
    CHECK(sink.rows() == Rows{"a 1", "a 2", "a 3"});
  });
}

TEST_CASE("bytes that are no rows of the table are refused whole", "[conformance][sink]") {
  const auto refusal = [](auto second_row) {
    CellWriter writer;
    writer.text("whole");
    writer.integer(1);
    writer.null();
    second_row(writer);
    return writer.take();
  };
  const std::vector<std::pair<Bytes, std::string>> mistakes{
      {refusal([](CellWriter& w) { w.text("a"), w.integer(1); }),
       "row 2: the bytes end inside a value"},
      {refusal([](CellWriter& w) { w.text("a"), w.text("1"), w.null(); }),
       "row 2: column `count` is a TEXT; expected an INTEGER"},
      {refusal([](CellWriter& w) { w.null(), w.integer(1), w.null(); }),
       "row 2: column `word` is NULL; expected a TEXT"},
      {refusal([](CellWriter& w) {
         w.text("a"), w.integer(1), w.real(std::numeric_limits<double>::quiet_NaN());
       }),
       "row 2: column `share` is NaN"}};
  in_every_database([&mistakes](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    for (const auto& [bytes, part] : mistakes) {
      const auto text = text_of<CorruptObject>([&] {
        sink.publish_batches(first, {{first, {bytes}}});
      });
      CHECK(says(text, "rows staged for table `words` in checkpoint 1.1: " + part));
      CHECK(sink.rows().empty());
      CHECK(sink.marker() == Marker{ours, {1}, CheckpointId::genesis()});
    }
  });
}

TEST_CASE("rows that are inserted are there at once, and twice if written twice",
          "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world, words(SinkMode::insert));
    CHECK(sink.write({{"a", 1}, {"b", 2}}) == PublishOutcome::published);
    CHECK(sink.write({{"a", 1}}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"a 1", "b 2", "a 1"});
    CHECK(sink.marker() == Marker{ours, {1}, CheckpointId::genesis()});
  });
}

TEST_CASE("a row that is upserted replaces the one with its key", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world, words(SinkMode::upsert));
    CHECK(sink.write({{"a", 1}, {"b", 2}}) == PublishOutcome::published);
    CHECK(sink.write({{"b", 2}, {"a", 7}, {"c", 3}, {"c", 4}}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"a 7", "b 2", "c 4"});

    // A checkpoint of such a sink brings no rows.
    CHECK(sink.publish_batches(third, {}) == PublishOutcome::published);
    CHECK(sink.marker() == Marker{ours, {1}, third});
    CHECK(sink.rows() == Rows{"a 7", "b 2", "c 4"});
  });
}

TEST_CASE("only the term that has fenced a sink writes to it", "[conformance][sink]") {
  for (const SinkMode mode : {SinkMode::insert, SinkMode::upsert}) {
    in_every_database([mode](Env& env, TestWorld& world) {
      Sink sink = started(env, world, words(mode));
      Sink(env, world, words(mode)).table->fence(from_past({5}), whenever);

      CHECK(sink.write({{"late", 1}}, {1}) == PublishOutcome::fenced);
      CHECK(sink.write({{"early", 1}}, {6}) == PublishOutcome::fenced);
      CHECK(sink.write({{"now", 1}}, {5}) == PublishOutcome::published);
      CHECK(sink.rows() == Rows{"now 1"});
    });
  }
}

TEST_CASE("two tables of a database know nothing of each other", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world);
    TableSchema schema = word_counts();
    schema.table = "others";
    Sink others(env, world, schema);
    start(*others.table, {7});

    CHECK(publish(*sink.table, {1}, first, {{"a", 1}}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"a 1"});
    CHECK(others.rows().empty());
    CHECK(others.marker() == Marker{ours, {7}, CheckpointId::genesis()});
  });
}

TEST_CASE("thousands of rows become visible at once", "[conformance][sink]") {
  in_every_database([](Env& env, TestWorld& world) {
    Sink sink = started(env, world, unique_word_counts());
    CHECK(publish(*sink.table, {1}, first, many_words(5'000)) == PublishOutcome::published);

    const Rows rows = sink.rows();
    REQUIRE(rows.size() == 5'000);
    CHECK(rows.front() == "word0 0");
    CHECK(rows.back() == "word4999 4999");
  });
}
