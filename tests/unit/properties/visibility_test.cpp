#include "millrace/properties/visibility.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "visibility_trial.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Checkpoint `n` of term 1.
CheckpointId at(std::uint64_t n) { return {{1}, n}; }

RowCounts lost(std::uint64_t rows) {
  RowCounts counts;
  counts.lost = rows;
  return counts;
}
RowCounts duplicated(std::uint64_t rows) {
  RowCounts counts;
  counts.duplicated = rows;
  return counts;
}
RowCounts altered(std::uint64_t rows) {
  RowCounts counts;
  counts.altered = rows;
  return counts;
}
RowCounts unexpected(std::uint64_t rows) {
  RowCounts counts;
  counts.unexpected = rows;
  return counts;
}

/// A row of the usual job as the reference tells it.
std::string told(const std::string& key, int start, int count) {
  return "k=" + key + ", window_start=" + std::to_string(start) +
         ", window_end=" + std::to_string(start + 1000) + ", n=" + std::to_string(count);
}

/// What is said of a table that shows two rows at 1.1, as it should, and then was changed.
struct Conviction {
  std::string breach;
  RowCounts rows;
};
Conviction convict(const std::vector<std::string>& changes) {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  for (const std::string& change : changes) trial.execute(change);
  trial.judge().look();
  return {trial.breach(), trial.judge().rows()};
}

const std::string late_a = record("a", 900);
const std::string second_a = record("a", 1500);

}  // namespace

TEST_CASE("a table that shows one checkpoint after another is acquitted", "[visibility]") {
  VisibilityTrial trial;
  CHECK(trial.breach_after_look().empty());  // There is no database yet.
  trial.fence();
  CHECK(trial.breach_after_look().empty());
  for (int lines = 0; lines <= 5; ++lines) {
    trial.publish(at(static_cast<std::uint64_t>(lines) + 1), lines);
    CHECK(trial.breach_after_look().empty());
    CHECK(trial.breach_after_look().empty());  // Looking changes nothing.
  }
  trial.publish({{3}, 1}, 5, true);
  CHECK(trial.breach_after_look().empty());
  CHECK(trial.judge().look_at_the_end());

  CHECK_FALSE(trial.judge().breach().has_value());
  CHECK(trial.judge().rows() == RowCounts{});
  CHECK(trial.judge().looks() == 15);
}

TEST_CASE("rows of a checkpoint may be in the table in any order", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 5);
  trial.execute("DELETE FROM results WHERE k = 'a' AND window_start = 0");
  trial.add_row("'a', 0, 1000, 1");

  CHECK(trial.breach_after_look().empty());
}

TEST_CASE("a row that is missing convicts", "[visibility]") {
  const auto [breach, rows] = convict({"DELETE FROM results WHERE k = 'b'"});

  CHECK(breach == "visibility: at checkpoint 1.1, 1 rows were visible where 2 belong; lost: " +
                      told("b", 0, 1));
  CHECK(rows == lost(1));
}

TEST_CASE("all rows that are missing are counted, and the first three are told", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 5, true);
  trial.execute("DELETE FROM results");

  CHECK(trial.breach_after_look() ==
        "visibility: at checkpoint 1.1, 0 rows were visible where 5 belong; lost: " +
            told("a", 0, 1) + "; lost: " + told("a", 1000, 1) + "; lost: " + told("a", 3000, 1));
  CHECK(trial.judge().rows() == lost(5));
}

TEST_CASE("a row that is there twice convicts", "[visibility]") {
  const std::string again = "INSERT INTO results SELECT * FROM results WHERE k = 'a'";
  const auto [breach, rows] = convict({again});

  CHECK(breach ==
        "visibility: at checkpoint 1.1, 3 rows were visible where 2 belong; duplicated: " +
            told("a", 0, 1));
  CHECK(rows == duplicated(1));
  CHECK(convict({again, again}).rows == duplicated(3));  // Four of one row.
  CHECK(convict({"INSERT INTO results SELECT * FROM results"}).rows == duplicated(2));
}

TEST_CASE("a row with another value convicts, and both values are told", "[visibility]") {
  const auto [breach, rows] = convict({"UPDATE results SET n = 2 WHERE k = 'b'"});

  CHECK(breach == "visibility: at checkpoint 1.1, 2 rows were visible where 2 belong; altered: " +
                      told("b", 0, 2) + "; expected: " + told("b", 0, 1));
  CHECK(rows == altered(1));
  CHECK(convict({"UPDATE results SET window_end = 999 WHERE k = 'b'"}).rows == altered(1));
  CHECK(convict({"UPDATE results SET n = n - 1"}).rows == altered(2));
}

TEST_CASE("a row that is there right and wrong is one too many and not altered", "[visibility]") {
  const auto [breach, rows] = convict({"INSERT INTO results VALUES ('a', 0, 1000, 7)"});

  CHECK(rows == duplicated(1));
  CHECK(breach.find("duplicated: " + told("a", 0, 7)) != std::string::npos);
}

TEST_CASE("a row that is there twice and wrong both times is both", "[visibility]") {
  const auto [breach, rows] = convict({"INSERT INTO results SELECT * FROM results WHERE k = 'a'",
                                       "UPDATE results SET n = 7 WHERE k = 'a'"});
  RowCounts both = duplicated(1);
  both.altered = 1;

  CHECK(rows == both);
  CHECK(rows.wrong() == 2);
}

TEST_CASE("a row that no input explains convicts", "[visibility]") {
  const auto [breach, rows] = convict({"INSERT INTO results VALUES ('c', 0, 1000, 1)"});

  CHECK(breach ==
        "visibility: at checkpoint 1.1, 3 rows were visible where 2 belong; unexpected: " +
            told("c", 0, 1));
  CHECK(rows == unexpected(1));
  // A known key in a window that it is not in, twice.
  CHECK(convict({"INSERT INTO results VALUES ('b', 1000, 2000, 1)",
                 "INSERT INTO results VALUES ('b', 1000, 2000, 1)"})
            .rows == unexpected(2));
}

TEST_CASE("a row whose window has not ended yet convicts", "[visibility]") {
  const auto [breach, rows] = convict({"INSERT INTO results VALUES ('a', 1000, 2000, 1)"});

  CHECK(breach == "visibility: at checkpoint 1.1, 3 rows were visible where 2 belong; too early: " +
                      told("a", 1000, 1));
  CHECK(rows == unexpected(1));
}

TEST_CASE("everything that is wrong is counted in one look", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 4);
  trial.execute("DELETE FROM results WHERE k = 'a' AND window_start = 0");
  trial.execute("UPDATE results SET n = 9 WHERE k = 'b'");
  trial.add_row("'a', 1000, 2000, 1");
  trial.add_row("'b', 2000, 3000, 1");
  trial.add_row("'z', 0, 1000, 1");
  trial.judge().look();

  const RowCounts& rows = trial.judge().rows();
  CHECK(rows.lost == 1);
  CHECK(rows.altered == 1);
  CHECK(rows.duplicated == 1);
  CHECK(rows.unexpected == 2);
  CHECK(rows.unjudged == 0);
  CHECK(rows.wrong() == 5);
}

TEST_CASE("rows that vanish again convict", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  REQUIRE(trial.breach_after_look().empty());
  trial.execute("DELETE FROM results");

  CHECK(trial.breach_after_look().find("at checkpoint 1.1, 0 rows were visible where 2 belong") !=
        std::string::npos);
  CHECK(trial.judge().rows() == lost(2));
}

TEST_CASE("a marker that goes on without its rows, or rows without it, convict", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  trial.claim(at(2), 4);
  trial.decide(at(2));
  REQUIRE(trial.breach_after_look().empty());

  SECTION("the marker alone") {
    trial.set_marker(at(2));
    CHECK(trial.breach_after_look() ==
          "visibility: at checkpoint 1.2, 2 rows were visible where 3 belong; lost: " +
              told("a", 1000, 1));
  }
  SECTION("the rows alone") {
    trial.show_rows(3);
    CHECK(trial.breach_after_look() ==
          "visibility: at checkpoint 1.1, 3 rows were visible where 2 belong; too early: " +
              told("a", 1000, 1));
  }
}

TEST_CASE("a marker that goes back convicts, whatever the rows", "[visibility]") {
  for (const CheckpointId earlier : {at(1), CheckpointId{{1}, 9}, CheckpointId::genesis()}) {
    VisibilityTrial trial;
    trial.fence();
    trial.publish(at(1), 3);
    trial.publish(at(9), 3);
    trial.publish({{2}, 1}, 4);
    REQUIRE(trial.breach_after_look().empty());
    trial.show_rows(2);
    trial.set_marker(earlier);

    CHECK(trial.breach_after_look() ==
          "visibility: a reader saw checkpoint 2.1 and then " + to_text(earlier));
    CHECK(trial.judge().rows() == RowCounts{});
  }
}

TEST_CASE("a marker or a table that goes away convicts", "[visibility]") {
  VisibilityTrial emptied;
  emptied.fence();
  emptied.publish(at(1), 5);
  CHECK(emptied.breach_after_look().empty());
  emptied.execute("DELETE FROM results");
  emptied.execute("DELETE FROM millrace_sinks");
  CHECK(emptied.breach_after_look() ==
        "visibility: a reader saw checkpoint 1.1 and then no marker");

  VisibilityTrial dropped;
  dropped.fence();
  dropped.publish(at(1), 5);
  CHECK(dropped.breach_after_look().empty());
  dropped.execute("DROP TABLE results");
  CHECK(dropped.breach_after_look() ==
        "visibility: a reader saw checkpoint 1.1 and then no table at all");
}

TEST_CASE("a checkpoint that has read less than the one before it convicts", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 5);
  CHECK(trial.breach_after_look().empty());
  trial.claim(at(2), 3);
  trial.decide(at(2));
  trial.show_rows(2);
  trial.set_marker(at(2));

  const std::string breach = trial.breach_after_look();
  CHECK(breach.find("visibility: checkpoint 1.2 had read less of ") == 0);
  CHECK(breach.find(" than 1.1 before it") != std::string::npos);
}

// Sinks that write at once.

TEST_CASE("a direct sink may show any row early, and must show what is decided", "[visibility]") {
  for (const char* const mode : {"upsert", "insert"}) {
    CAPTURE(mode);
    SmallJob job;
    job.mode = mode;
    VisibilityTrial trial(job);
    trial.fence();
    trial.show_rows(3);  // Nothing is decided yet.
    CHECK(trial.breach_after_look().empty());
    trial.claim(at(1), 5);
    trial.decide(at(1));
    trial.show_rows(5);
    CHECK(trial.breach_after_look().empty());  // Not even the marker has followed.
    trial.set_marker(at(1));
    CHECK(trial.breach_after_look().empty());

    trial.execute("DELETE FROM results WHERE k = 'b' AND window_start = 0");
    CHECK(trial.breach_after_look() ==
          "visibility: at checkpoint 1.1, 4 rows were visible where at least 4 belong; lost: " +
              told("b", 0, 1));
    CHECK(trial.judge().rows() == lost(1));
  }
}

TEST_CASE("a direct sink shows no row that the reference does not have", "[visibility]") {
  for (const char* const mode : {"upsert", "insert"}) {
    SmallJob job;
    job.mode = mode;
    VisibilityTrial altered_row(job);
    altered_row.fence();
    altered_row.show_rows(1);
    altered_row.execute("UPDATE results SET n = 9");
    altered_row.breach_after_look();
    CHECK(altered_row.judge().rows() == altered(1));

    VisibilityTrial stranger(job);
    stranger.fence();
    stranger.add_row("'z', 0, 1000, 1");
    CHECK(stranger.breach_after_look().find("unexpected: ") != std::string::npos);
  }
}

TEST_CASE("duplicates of an insert sink convict it at the end", "[visibility]") {
  SmallJob job;
  job.mode = "insert";
  VisibilityTrial trial(job);
  trial.fence();
  trial.publish(at(1), 5, true);
  trial.add_row("'b', 0, 1000, 1");
  CHECK(trial.breach_after_look().empty());
  CHECK(trial.judge().look_at_the_end());
  CHECK(trial.breach().find("rows: at the end 6 rows are visible where 5 belong; duplicated: ") ==
        0);
  CHECK(trial.judge().rows() == duplicated(1));
}

TEST_CASE("a checkpoint that is not decided must not be visible", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.claim({{2}, 2}, 3);
  trial.show_rows(2);
  trial.set_marker({{2}, 2});

  SECTION("nothing is") {
    CHECK(trial.breach_after_look() ==
          "visibility: rows of checkpoint 2.2 were visible before it was decided");
  }
  SECTION("an earlier one of its term is") {
    trial.decide({{2}, 1});
    CHECK(trial.breach_after_look() ==
          "visibility: rows of checkpoint 2.2 were visible before it was decided");
  }
  SECTION("one of an earlier term is, with a higher number") {
    trial.decide({{1}, 7});
    CHECK(trial.breach_after_look() ==
          "visibility: rows of checkpoint 2.2 were visible before it was decided");
  }
  SECTION("it is") {
    trial.decide({{2}, 2});
    CHECK(trial.breach_after_look().empty());
  }
  SECTION("a later one is already") {
    trial.decide({{3}, 1});
    CHECK(trial.breach_after_look().empty());
  }
}

TEST_CASE("a checkpoint whose manifest nobody has written must not be visible", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.claim(at(1), 3);
  trial.claim(at(3), 3);
  trial.decide(at(3));
  trial.show_rows(2);
  trial.set_marker(at(2));

  CHECK(trial.breach_after_look() ==
        "visibility: checkpoint 1.2 was visible, and nobody has written its manifest");
}

TEST_CASE("a checkpoint that claims to have read more or less than it shows convicts itself",
          "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 4);

  SECTION("more") {
    trial.claim(at(1), 5);
    CHECK(trial.breach_after_look().find("; lost: " + told("b", 2000, 1)) != std::string::npos);
  }
  SECTION("less") {
    trial.claim(at(1), 3);
    CHECK(trial.breach_after_look().find("; too early: " + told("a", 1000, 1)) !=
          std::string::npos);
  }
  SECTION("to be at the end") {
    trial.claim(at(1), 5, true);
    CHECK(trial.breach_after_look().find("3 rows were visible where 5 belong") !=
          std::string::npos);
  }
  SECTION("of another partition") {
    trial.judge().claimed(at(1), {{"q.jsonl", 1'000'000, true}});
    CHECK(trial.breach_after_look().find("3 rows were visible where 0 belong") !=
          std::string::npos);
  }
}

TEST_CASE("rows before the sink was fenced, and before any checkpoint, convict", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();

  SECTION("there is no marker") {
    trial.execute("DELETE FROM millrace_sinks");
    CHECK(trial.breach_after_look().empty());
    trial.show_rows(1);
    CHECK(trial.breach_after_look() ==
          "visibility: before the sink was ever fenced, 1 rows were visible where 0 belong; "
          "too early: " +
              told("a", 0, 1));
  }
  SECTION("the marker is that of genesis") {
    trial.show_rows(2);
    CHECK(trial.breach_after_look() ==
          "visibility: before any checkpoint, 2 rows were visible where 0 belong; too early: " +
              told("a", 0, 1) + "; too early: " + told("b", 0, 1));
  }
  CHECK(trial.judge().rows().unexpected == trial.judge().rows().wrong());
}

TEST_CASE("the first breach is what is said, and nothing is looked at after it", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  trial.execute("DELETE FROM results WHERE k = 'b'");
  const std::string first = trial.breach_after_look();
  REQUIRE_FALSE(first.empty());
  REQUIRE(trial.judge().looks() == 1);
  trial.execute("DELETE FROM results");

  CHECK(trial.breach_after_look() == first);
  CHECK(trial.judge().looks() == 1);
  CHECK(trial.judge().rows() == lost(1));
}

TEST_CASE("a reader who is not let in, or finds nobody, has seen nothing wrong", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  trial.execute("DELETE FROM results");

  SECTION("nobody answers") {
    trial.break_connection();
    CHECK(trial.breach_after_look().empty());
    trial.mend_connection();
  }
  SECTION("somebody has the database for himself") {
    trial.execute("PRAGMA journal_mode = DELETE");
    Database owner(trial.path(), "", Database::Access::write);
    owner.execute("BEGIN EXCLUSIVE");
    CHECK(trial.breach_after_look().empty());
    CHECK_FALSE(trial.judge().look_at_the_end());
    CHECK(trial.breach().empty());
    owner.execute("COMMIT");
  }
  // It is found out with the next look.
  CHECK(trial.breach_after_look().find("0 rows were visible where 2 belong") != std::string::npos);
}

TEST_CASE("at the end all rows of the input must be there, whatever was claimed", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 5);  // Not to the end: one window is open.
  REQUIRE(trial.breach_after_look().empty());

  CHECK(trial.judge().look_at_the_end());
  CHECK(trial.breach() ==
        "rows: at the end 4 rows are visible where 5 belong; lost: " + told("a", 3000, 1));
  CHECK(trial.judge().rows() == lost(1));
}

TEST_CASE("at the end every kind of wrong row convicts", "[visibility]") {
  const std::vector<std::pair<std::string, RowCounts>> changes{
      {"DELETE FROM results WHERE window_start >= 2000", lost(2)},
      {"INSERT INTO results SELECT * FROM results WHERE k = 'b'", duplicated(2)},
      {"UPDATE results SET n = 0 WHERE window_start = 1000", altered(1)},
      {"INSERT INTO results VALUES ('b', 9000, 10000, 1)", unexpected(1)},
  };
  for (const auto& [change, counts] : changes) {
    CAPTURE(change);
    VisibilityTrial trial;
    trial.fence();
    trial.publish(at(1), 5, true);
    trial.execute(change);

    CHECK(trial.judge().look_at_the_end());
    CHECK(trial.breach().starts_with("rows: at the end "));
    CHECK(trial.judge().rows() == counts);
  }
}

TEST_CASE("a table that is gone at the end has lost everything", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 5, true);
  trial.execute("DROP TABLE results");

  CHECK(trial.judge().look_at_the_end());
  CHECK(trial.breach().starts_with("rows: at the end 0 rows are visible where 5 belong; lost: "));
  CHECK(trial.judge().rows() == lost(5));
}

TEST_CASE("the end counts what was left, and says what was wrong first", "[visibility]") {
  VisibilityTrial trial;
  trial.fence();
  trial.publish(at(1), 3);
  trial.execute("DELETE FROM results WHERE k = 'b'");
  const std::string first = trial.breach_after_look();
  REQUIRE(trial.judge().rows() == lost(1));

  SECTION("all is well in the end") {
    trial.show_rows(5);
    CHECK(trial.judge().look_at_the_end());
    CHECK(trial.judge().rows() == RowCounts{});
  }
  SECTION("other rows are wrong in the end") {
    trial.show_rows(5);
    trial.add_row("'a', 0, 1000, 1");
    CHECK(trial.judge().look_at_the_end());
    CHECK(trial.judge().rows() == duplicated(1));
  }
  CHECK(trial.breach() == first);
}

TEST_CASE("a row that depends on a late record may be there or not, with any value",
          "[visibility]") {
  // The third record is late if the window has fired before it comes.
  VisibilityTrial trial(SmallJob{}, {record("a", 0), second_a, late_a, record("b", 100)});
  REQUIRE_FALSE(trial.reference().is_exact());
  trial.fence();
  trial.publish(at(1), 4, true);
  RowCounts none_judged;

  SECTION("it was counted") { CHECK(trial.breach_after_look().empty()); }
  SECTION("it was late") {
    trial.execute("UPDATE results SET n = 1 WHERE k = 'a' AND window_start = 0");
    CHECK(trial.breach_after_look().empty());
    none_judged.unjudged = 1;
  }
  SECTION("its row is missing, as if all of it were late") {
    trial.execute("DELETE FROM results WHERE k = 'b'");
    CHECK(trial.breach_after_look().empty());
    none_judged.unjudged = 1;
  }
  CHECK(trial.judge().look_at_the_end());
  CHECK(trial.breach().empty());
  CHECK(trial.judge().rows() == none_judged);
}

TEST_CASE("late records excuse no other row", "[visibility]") {
  VisibilityTrial trial(SmallJob{}, {record("a", 0), second_a, late_a});
  trial.fence();
  trial.publish(at(1), 3, true);

  SECTION("a certain row that is missing") {
    trial.execute("DELETE FROM results WHERE window_start = 1000");
    CHECK(trial.breach_after_look().find("lost: " + told("a", 1000, 1)) != std::string::npos);
  }
  SECTION("an uncertain row that is there twice") {
    trial.execute("INSERT INTO results SELECT * FROM results WHERE window_start = 0");
    CHECK(trial.breach_after_look().find("duplicated: " + told("a", 0, 2)) != std::string::npos);
  }
  SECTION("a row that nothing explains") {
    trial.add_row("'c', 0, 1000, 1");
    CHECK(trial.breach_after_look().find("unexpected: " + told("c", 0, 1)) != std::string::npos);
  }
  CHECK(trial.judge().rows().wrong() == 1);
  CHECK(trial.judge().rows().unjudged == 0);
}

TEST_CASE("an uncertain row that comes too early convicts all the same", "[visibility]") {
  VisibilityTrial trial(SmallJob{}, {record("a", 0), second_a, late_a});
  trial.fence();
  trial.publish(at(1), 1);
  trial.add_row("'a', 0, 1000, 1");

  CHECK(trial.breach_after_look().find("too early: " + told("a", 0, 1)) != std::string::npos);
}

TEST_CASE("rows are told apart by the sink's key", "[visibility]") {
  SmallJob job;
  SECTION("a key of all that a row is grouped by") { job.sink_key = R"("k", "window_end")"; }
  SECTION("no key: by all of the row") { job.sink_key = ""; }
  VisibilityTrial trial(job);
  trial.fence();
  trial.publish(at(1), 3);
  REQUIRE(trial.breach_after_look().empty());
  trial.execute("UPDATE results SET n = 2 WHERE k = 'b'");

  trial.judge().look();
  RowCounts instead = unexpected(1);
  instead.lost = 1;
  CHECK(trial.judge().rows() == (job.sink_key.empty() ? instead : altered(1)));
}

TEST_CASE("every type of cell is compared, also where it is null", "[visibility]") {
  SmallJob job;
  job.aggregate = R"-(n = "count()", largest = "max(i)", mean = "avg(r)")-";
  const std::vector<std::string> lines{record("a", 0, R"("i": 3, "r": 0.1)"), record("b", 0)};
  for (const auto& [change, is_right] : std::vector<std::pair<std::string, bool>>{
           {"UPDATE results SET n = n", true},
           {"UPDATE results SET mean = 0.1 WHERE k = 'a'", true},
           {"UPDATE results SET mean = 0.10000000000000002 WHERE k = 'a'", false},
           {"UPDATE results SET mean = NULL WHERE k = 'a'", false},
           {"UPDATE results SET mean = 0 WHERE k = 'b'", false},
           {"UPDATE results SET largest = 4 WHERE k = 'a'", false},
           {"UPDATE results SET largest = 0 WHERE k = 'b'", false},
           {"UPDATE results SET k = 'A' WHERE k = 'a'", false}}) {
    CAPTURE(change);
    VisibilityTrial trial(job, lines);
    trial.fence();
    trial.publish(at(1), 2, true);
    trial.execute(change);
    CHECK(trial.breach_after_look().empty() == is_right);
  }
}

TEST_CASE("seen rows are compared with so many of the first that are expected", "[visibility]") {
  const Reference reference(spec_of(SmallJob{}),
                            input_of({record("a", 0), record("b", 1000), record("c", 2000)}));
  std::vector<OwnedRow> all;
  for (const auto& row : reference.rows()) all.push_back(row.cells);
  REQUIRE(all.size() == 3);
  for (std::size_t expected = 0; expected <= 3; ++expected) {
    for (std::size_t shown = 0; shown <= 3; ++shown) {
      CAPTURE(expected, shown);
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(shown);
      const RowCounts counts =
          compare_rows(reference, expected, expected, {all.begin(), end}).counts;
      CHECK(counts == (shown < expected ? lost(expected - shown) : unexpected(shown - expected)));
    }
  }
  const auto nothing = compare_rows(reference, 3, 3, {all[2], all[0], all[1]});
  CHECK(nothing.counts == RowCounts{});
  CHECK(nothing.examples.empty());
}
