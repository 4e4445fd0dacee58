// What the reference says of windows other than plain tumbling ones, and of rows without a window.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/properties/row_comparison.hpp"
#include "millrace/runtime/job_file.hpp"

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

using Rows = std::vector<std::string>;

/// A job with this `window`, beside its key, and the sink's key; without a window if it is empty.
Reference reference_of(const std::string& window, const std::string& sink_key, const Input& input,
                       const std::string& more = "") {
  const std::string step = window.empty()
                               ? ""
                               : "[[step]]\nwindow = { " + window +
                                     ", key = [\"k\"] }\naggregate = { n = \"count()\", d = "
                                     "\"count_distinct(i)\" }\n";
  return Reference(parse_job_file("[job]\nname = \"r\"\n[source]\nformat = \"jsonl\"\n"
                                  "files = \"*.jsonl\"\nevent_time = \"t\"\n"
                                  "fields = { k = \"string\", t = \"int64\", i = \"int64?\" }\n" +
                                      step + "[sink]\ntable = \"t\"\ndatabase = \"t.db\"\n" +
                                      "key = [" + sink_key + "]\n" + more,
                                  "r.toml"),
                   input);
}
Reference reference_of(const std::string& window, const Input& input) {
  return reference_of(window, "\"k\"", input);
}

OwnedRow row(std::initializer_list<OwnedCell> cells) { return cells; }

RowCounts counts_at_end(const Reference& reference, const std::vector<OwnedRow>& seen) {
  const std::size_t all = reference.rows().size();
  return compare_rows(reference, all, all, seen).counts;
}

const std::string hops = R"(sliding = "10ms", slide = "4ms")";
const std::string visits = R"(sessions = "10ms")";
const std::string lenient = R"(tumbling = "10ms", allowed_lateness = "10ms")";

}  // namespace

TEST_CASE("a record is in every window that slides over it, also before 1970",
          "[properties][window]") {
  CHECK(rows_of(reference_of(hops, input_of({record("a", 0)}))) ==
        Rows{"k=a, window_start=-8, window_end=2, n=1, d=0",
             "k=a, window_start=-4, window_end=6, n=1, d=0",
             "k=a, window_start=0, window_end=10, n=1, d=0"});
  CHECK(rows_of(reference_of(hops + R"(, offset = "1ms")", input_of({record("a", -1)}))) ==
        Rows{"k=a, window_start=-7, window_end=3, n=1, d=0",
             "k=a, window_start=-3, window_end=7, n=1, d=0"});
}

TEST_CASE("a late record is uncertain in the windows that may have ended, and certain in others",
          "[properties][lateness]") {
  const Reference reference = reference_of(
      hops, R"("k", "window_start")", input_of({record("a", 5), record("a", 6), record("a", 3)}));
  std::vector<bool> certain;
  for (const auto& expected : reference.rows()) certain.push_back(expected.is_certain);
  // [-4, 6) ends at the watermark 5, which is just before the last record.
  CHECK(certain == std::vector{false, true, true});
  CHECK(reference.may_be_late() == 0);  // It is in others.
}

TEST_CASE("sessions end when nothing comes for longer than their gap", "[properties][window]") {
  const Input input =
      input_of({record("a", 0), record("a", 9), record("b", 10), record("a", 30), record("a", 29)});
  CHECK(rows_of(reference_of(visits, input)) ==
        Rows{"k=a, window_start=0, window_end=19, n=2, d=0",
             "k=b, window_start=10, window_end=20, n=1, d=0",
             "k=a, window_start=29, window_end=40, n=2, d=0"});
}

TEST_CASE("rows that are just a gap apart are in one session, if it cannot have ended between them",
          "[properties][window]") {
  const Input input = input_of({record("a", 0), record("a", 10)});
  const Reference exact = reference_of(visits, input);
  CHECK(rows_of(exact) == Rows{"k=a, window_start=0, window_end=20, n=2, d=0"});
  CHECK(exact.is_exact());
  // Now the watermark is 9 before the second of them: the last instant of the first session.
  const Reference open =
      reference_of(visits, input_of({record("a", 0), record("b", 10), record("a", 10)}));
  CHECK_FALSE(open.is_exact());
  CHECK(open.families().open.size() == 1);
}

TEST_CASE("a late record makes all sessions of its key uncertain, and no others",
          "[properties][lateness]") {
  const Reference reference = reference_of(
      visits, input_of({record("a", 0), record("b", 0), record("b", 50), record("a", 5)}));
  for (const auto& expected : reference.rows()) {
    CHECK(expected.is_certain == (expected.cells.front() == OwnedCell("b")));
  }
  const OwnedCell a("a");
  const OwnedCell b("b");
  const std::vector<OwnedRow> others{row({b, 0, 10, 1, 0}), row({b, 50, 60, 1, 0})};
  const auto with_a = [&](const std::vector<OwnedRow>& of_a) {
    std::vector<OwnedRow> seen = others;
    seen.insert(seen.end(), of_a.begin(), of_a.end());
    return counts_at_end(reference, seen);
  };
  CHECK(with_a({row({a, 0, 15, 2, 0})}) == RowCounts{});
  CHECK(with_a({row({a, 0, 10, 1, 0}), row({a, 5, 15, 1, 0})}).wrong() == 0);
  CHECK(with_a({}).wrong() == 0);
  CHECK(with_a({row({a, 0, 10, 1, 0}), row({a, 0, 10, 1, 0})}).duplicated == 1);
  CHECK(with_a({row({a, 0, 10, 1, 0}), row({a, 5, 15, 1, 0}), row({a, 9, 15, 1, 0})}).duplicated ==
        1);  // More than there are records.
}

TEST_CASE("where every record must be counted in the end, the last pane is certain",
          "[properties][lateness]") {
  const Reference reference =
      reference_of(lenient, R"("k", "window_start")",
                   input_of({record("a", 0), record("b", 15), record("a", 5)}));
  REQUIRE(reference.rows().size() == 2);
  CHECK_FALSE(reference.rows()[0].is_certain);
  const OwnedCell a("a");
  const OwnedRow b = row({OwnedCell("b"), 10, 20, 0, 1, 0});
  const OwnedRow early = row({a, 0, 10, 0, 1, 0});
  const OwnedRow both = row({a, 0, 10, 0, 2, 0});
  const OwnedRow again = row({a, 0, 10, 1, 2, 0});
  CHECK(counts_at_end(reference, {both, b}) == RowCounts{});
  CHECK(counts_at_end(reference, {early, again, b}).wrong() == 0);
  CHECK(counts_at_end(reference, {again, b}).wrong() == 0);  // It replaced the other.
  CHECK(counts_at_end(reference, {early, b}).altered == 1);
  CHECK(counts_at_end(reference, {b}).lost == 1);
  CHECK(counts_at_end(reference, {early, row({a, 0, 10, 1, 1, 0}), b}).altered == 1);
  CHECK(counts_at_end(reference, {early, again, row({a, 0, 10, 2, 2, 0}), b}).duplicated == 1);

  // Until everything has come the late record may still be missing, and the row with it.
  ShownRows closed = reference.first_rows(2);
  closed.is_final = false;
  CHECK(compare_rows(reference, closed, closed, {b}).counts.wrong() == 0);
  CHECK(compare_rows(reference, closed, closed, {early, b}).counts.wrong() == 0);
  const ShownRows none = reference.first_rows(0);
  CHECK(compare_rows(reference, none, none, {early}).counts.unexpected == 1);
}

TEST_CASE("a record beyond the allowed lateness leaves nothing certain about its window",
          "[properties][lateness]") {
  const Reference reference =
      reference_of(lenient, R"("k", "window_start")",
                   input_of({record("a", 0), record("b", 25), record("a", 5)}));
  CHECK(reference.may_be_late() == 1);
  CHECK(counts_at_end(reference, {row({OwnedCell("b"), 20, 30, 0, 1, 0}),
                                  row({OwnedCell("a"), 0, 10, 0, 1, 0})})
            .wrong() == 0);
}

TEST_CASE("the global window tells its result at every n-th record, as soon as it is read",
          "[properties][claims]") {
  const Input input = input_of({record("a", 9), record("b", 0), record("a", 1), record("a", 5),
                                record("a", 5), record("a", 2)});
  const Reference reference = reference_of("global = true, every = 2", R"("k", "pane")", input);
  CHECK(rows_of(reference) == Rows{"k=a, pane=0, n=2, d=0", "k=a, pane=1, n=4, d=0"});
  CHECK(reference.is_exact());
  const auto line = static_cast<std::int64_t>(record("a", 0).size()) + 1;
  CHECK(reference.visible_rows({{"p.jsonl", 2 * line, false}}) == 0);
  CHECK(reference.visible_rows({{"p.jsonl", 3 * line, false}}) == 1);
  CHECK(reference.visible_rows({{"p.jsonl", 4 * line, false}}) == 1);
  CHECK(reference.visible_rows({{"p.jsonl", 5 * line, false}}) == 2);
}

TEST_CASE("which records of several partitions are first is not certain, but how many results are",
          "[properties][claims]") {
  const Input input{{partition_of("p.jsonl", {record("a", 0, R"("i": 1)")}),
                     partition_of("q.jsonl", {record("a", 0, R"("i": 2)"), record("a", 0)})}};
  const Reference reference = reference_of("global = true, every = 2", R"("k", "pane")", input);
  const OwnedCell a("a");
  CHECK(counts_at_end(reference, {row({a, 0, 2, 1})}).wrong() == 0);
  CHECK(counts_at_end(reference, {row({a, 0, 2, 2})}).wrong() == 0);
  CHECK(counts_at_end(reference, {}).lost == 1);
  CHECK(counts_at_end(reference, {row({a, 0, 2, 1}), row({a, 1, 2, 1})}).unexpected == 1);
}

TEST_CASE("rows without a window are due as soon as they are read", "[properties][claims]") {
  const Input input = input_of({record("a", 0), record("a", 0), record("b", 7)});
  const Reference reference = reference_of("", "", input);
  CHECK(reference.rows().size() == 3);
  CHECK(reference.is_exact());
  const auto line = static_cast<std::int64_t>(record("a", 0).size()) + 1;
  const ShownRows one = reference.shown_at({{"p.jsonl", line, false}});
  CHECK(one.count == 1);
  CHECK_FALSE(one.is_final);
  CHECK(one.hash == reference.hash_of_first(1));
  CHECK(reference.shown_at({{"p.jsonl", 3 * line, true}}).is_final);
  const OwnedRow a = row({OwnedCell("a"), 0, {}});
  CHECK(counts_at_end(reference, {a, a, row({OwnedCell("b"), 7, {}})}) == RowCounts{});
  CHECK(counts_at_end(reference, {a, row({OwnedCell("b"), 7, {}})}).lost == 1);
}

TEST_CASE("in an upsert table the last row of one of a key's partitions is left",
          "[properties][claims]") {
  const Input input{{partition_of("p.jsonl", {record("a", 1), record("a", 2)}),
                     partition_of("q.jsonl", {record("a", 3), record("a", 4)})}};
  const Reference reference = reference_of("", "\"k\"", input, "mode = \"upsert\"\n");
  REQUIRE(reference.rows().size() == 1);
  const auto a = [](std::int64_t time) { return row({OwnedCell("a"), time, {}}); };
  CHECK(counts_at_end(reference, {a(2)}).wrong() == 0);
  CHECK(counts_at_end(reference, {a(4)}).wrong() == 0);
  CHECK(counts_at_end(reference, {a(1)}).altered == 1);
  CHECK(counts_at_end(reference, {a(5)}).altered == 1);
  CHECK(counts_at_end(reference, {a(2), a(4)}).duplicated == 1);
  CHECK(counts_at_end(reference, {}).lost == 1);
  const ShownRows read = reference.shown_at({{"p.jsonl", 1'000, false}});
  CHECK(read.count == 1);
  CHECK(compare_rows(reference, read, read, {a(1)}).counts.wrong() == 0);
  CHECK(compare_rows(reference, read, read, {a(5)}).counts.altered == 1);
}
