#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

using Rows = std::vector<std::string>;

/// Start and end of the only window of a record.
std::pair<std::int64_t, std::int64_t> window_of(std::int64_t time, const std::string& size) {
  SmallJob job;
  job.window = size;
  const Reference reference(spec_of(job), input_of({record("a", time)}));
  REQUIRE(reference.rows().size() == 1);
  const auto& row = reference.rows()[0];
  const auto end = std::get<std::int64_t>(row.cells[2]);
  CHECK(row.last_instant == end - 1);
  return {std::get<std::int64_t>(row.cells[1]), end};
}

/// Whether the row of each window is certain, for records at these times in one partition.
std::vector<bool> certainty(const SmallJob& job, const std::vector<std::int64_t>& times) {
  std::vector<std::string> lines;
  for (const std::int64_t time : times) lines.push_back(record("a", time));
  const Reference reference(spec_of(job), input_of(lines));
  std::vector<bool> certain;
  for (const auto& row : reference.rows()) certain.push_back(row.is_certain);
  CHECK(reference.is_exact() ==
        (std::find(certain.begin(), certain.end(), false) == certain.end()));
  return certain;
}
std::vector<bool> certainty(const std::string& disorder, const std::vector<std::int64_t>& times) {
  SmallJob job;
  job.disorder = disorder;
  return certainty(job, times);
}

/// The offset behind line `count` of a partition.
std::int64_t behind(const InputPartition& partition, int count) {
  std::size_t offset = 0;
  for (int i = 0; i < count; ++i) offset = partition.text.find('\n', offset) + 1;
  return static_cast<std::int64_t>(offset);
}

}  // namespace

TEST_CASE("a window begins at a multiple of its size", "[properties][window]") {
  using Window = std::pair<std::int64_t, std::int64_t>;

  CHECK(window_of(0, "1s") == Window{0, 1000});
  CHECK(window_of(1, "1s") == Window{0, 1000});
  CHECK(window_of(999, "1s") == Window{0, 1000});
  CHECK(window_of(1000, "1s") == Window{1000, 2000});
  CHECK(window_of(1999, "1s") == Window{1000, 2000});
  CHECK(window_of(7, "1ms") == Window{7, 8});
  CHECK(window_of(25, "7ms") == Window{21, 28});
  CHECK(window_of(1517677200000, "1h") == Window{1517677200000, 1517680800000});
  CHECK(window_of(1517677199999, "1h") == Window{1517673600000, 1517677200000});
}

TEST_CASE("also before 1970 a window holds its first instant and not its end",
          "[properties][window]") {
  using Window = std::pair<std::int64_t, std::int64_t>;

  CHECK(window_of(-1, "1s") == Window{-1000, 0});
  CHECK(window_of(-999, "1s") == Window{-1000, 0});
  CHECK(window_of(-1000, "1s") == Window{-1000, 0});
  CHECK(window_of(-1001, "1s") == Window{-2000, -1000});
  CHECK(window_of(-1, "7ms") == Window{-7, 0});
  CHECK(window_of(-7, "7ms") == Window{-7, 0});
  CHECK(window_of(-8, "7ms") == Window{-14, -7});
  CHECK(window_of(-1, "1ms") == Window{-1, 0});
  // The years 1 and 9999 have their windows, too.
  CHECK(window_of(-62'135'596'800'000, "100000d") ==
        Window{-69'120'000'000'000, -60'480'000'000'000});
  CHECK(window_of(253'402'300'799'999, "1s") == Window{253'402'300'799'000, 253'402'300'800'000});
}

TEST_CASE("rows are ordered by the instant at which they become visible", "[properties][window]") {
  SmallJob job;
  job.disorder = "1h";

  CHECK(rows_of(job, {record("b", 2500), record("a", 2500), record("c", -1), record("a", 0)}) ==
        Rows{"k=c, window_start=-1000, window_end=0, n=1",
             "k=a, window_start=0, window_end=1000, n=1",
             "k=a, window_start=2000, window_end=3000, n=1",
             "k=b, window_start=2000, window_end=3000, n=1"});
}

TEST_CASE("rows are told apart by the sink's key, or else by all columns", "[properties][window]") {
  SmallJob job;
  job.aggregate = R"-(n = "count()", most = "max(i)")-";
  const auto input = input_of({record("a", 0)});

  job.sink_key = R"("window_start", "k")";
  const Reference with_key(spec_of(job), input);
  CHECK(with_key.columns() == Rows{"k", "window_start", "window_end", "n", "most"});
  CHECK(with_key.key_columns() == std::vector<std::size_t>{0, 1});

  job.sink_key = "";
  const Reference without(spec_of(job), input);
  CHECK(without.key_columns() == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a record that comes when its window may have ended makes the row uncertain",
          "[properties][lateness]") {
  // The watermark is the newest time of the partition, less the disorder, less one. The last
  // instant of the first window is 999: at that watermark the window has ended.
  CHECK(certainty("0s", {0, 999, 0}) == std::vector{true});
  CHECK(certainty("0s", {0, 1000, 0}) == std::vector{false, true});
  CHECK(certainty("0s", {1000, 999}) == std::vector{false, true});
  CHECK(certainty("0s", {1000, 1000, 1001}) == std::vector{true});
  CHECK(certainty("0s", {999, 998, 997}) == std::vector{true});

  CHECK(certainty("500ms", {1499, 999}) == std::vector{true, true});
  CHECK(certainty("500ms", {1500, 999}) == std::vector{false, true});
  CHECK(certainty("500ms", {1500, 0}) == std::vector{false, true});
  CHECK(certainty("500ms", {1499, 0, 1500, 1000}) == std::vector{true, true});
  CHECK(certainty("1h", {3'600'999, 0}) == std::vector{true, true});
  CHECK(certainty("1h", {3'601'000, 0}) == std::vector{false, true});

  CHECK(certainty("0s", {-1000, -1}) == std::vector{true});
  CHECK(certainty("0s", {0, -1}) == std::vector{false, true});
}

TEST_CASE("only what came before a record can make it late", "[properties][lateness]") {
  CHECK(certainty("0s", {0, 5000, 10'000}) == std::vector{true, true, true});
  // The newest time counts, not the last one.
  CHECK(certainty("0s", {0, 1000, 1, 1001}) == std::vector{false, true});
  CHECK(certainty("0s", {3000, 1500, 500}) == std::vector{false, false, true});
}

TEST_CASE("a late record counts in the row that it makes uncertain", "[properties][lateness]") {
  CHECK(rows_of(SmallJob{}, {record("a", 0), record("a", 1000), record("a", 1)}) ==
        Rows{"k=a, window_start=0, window_end=1000, n=2",
             "k=a, window_start=1000, window_end=2000, n=1"});
}

TEST_CASE("a late record of one key leaves the other keys' rows certain",
          "[properties][lateness]") {
  const Reference reference(spec_of(SmallJob{}), input_of({record("a", 0), record("b", 0),
                                                           record("b", 1000), record("a", 1)}));
  REQUIRE(reference.rows().size() == 3);
  CHECK_FALSE(reference.rows()[0].is_certain);
  CHECK(reference.rows()[1].is_certain);
  CHECK(reference.rows()[2].is_certain);
  CHECK_FALSE(reference.is_exact());
}

TEST_CASE("another partition makes nobody late", "[properties][lateness]") {
  const Input input{{partition_of("a.jsonl", {record("a", 1'000'000)}),
                     partition_of("b.jsonl", {record("a", 0), record("a", 500)})}};

  CHECK(Reference(spec_of(SmallJob{}), input).is_exact());
}

TEST_CASE("a record that is filtered out moves the watermark, a bad one does not",
          "[properties][lateness]") {
  SmallJob job;
  job.filters = {"k != 'gone'"};
  const auto exact = [&](const std::string& between) {
    return Reference(spec_of(job), input_of({record("a", 0), between, record("a", 1)})).is_exact();
  };
  CHECK_FALSE(exact(record("gone", 1000)));
  CHECK(exact(record("gone", 999)));
  job.on_bad_record = "skip";
  CHECK(exact(R"({"k": 5, "t": 1000})"));
  CHECK_FALSE(exact(R"({"k": "b", "t": 1000})"));
}

TEST_CASE("a late record that no filter keeps makes nothing uncertain", "[properties][lateness]") {
  SmallJob job;
  job.filters = {"k == 'a'"};
  const Reference reference(spec_of(job),
                            input_of({record("a", 0), record("a", 1000), record("gone", 1)}));

  CHECK(reference.is_exact());
  CHECK(reference.records() == 3);
}

TEST_CASE("a row is visible as soon as the watermark has reached its last instant",
          "[properties][claims]") {
  const std::vector<std::int64_t> times{500, 998, 999, 1000, 1001, 1999, 2000, 9000};
  std::vector<std::string> lines;
  for (const std::int64_t time : times) lines.push_back(record("a", time));
  const Input input = input_of(lines);
  const InputPartition& partition = input.partitions[0];
  // How many rows are visible when so many records were read, for a disorder.
  const std::vector<std::pair<std::string, std::vector<std::size_t>>> expected{
      {"0s", {0, 0, 0, 0, 1, 1, 1, 2, 3}},  {"1ms", {0, 0, 0, 0, 0, 1, 1, 1, 3}},
      {"2ms", {0, 0, 0, 0, 0, 0, 1, 1, 3}}, {"7s", {0, 0, 0, 0, 0, 0, 0, 0, 2}},
      {"1h", {0, 0, 0, 0, 0, 0, 0, 0, 0}},
  };
  for (const auto& [disorder, rows] : expected) {
    SmallJob job;
    job.disorder = disorder;
    const Reference reference(spec_of(job), input);
    REQUIRE(reference.rows().size() == 4);
    for (int read = 0; read <= static_cast<int>(times.size()); ++read) {
      CAPTURE(disorder, read);
      const std::int64_t offset = behind(partition, read);
      const std::size_t visible = rows[static_cast<std::size_t>(read)];
      CHECK(reference.visible_rows({{"p.jsonl", offset, false}}) == visible);
      // Inside the next record nothing more was read than behind the last.
      CHECK(reference.visible_rows({{"p.jsonl", offset + 1, false}}) == visible);
      if (read == 0) continue;
      CHECK(reference.visible_rows({{"p.jsonl", offset - 1, false}}) ==
            rows[static_cast<std::size_t>(read - 1)]);
    }
  }
}

TEST_CASE("at the end of all partitions every row is visible", "[properties][claims]") {
  SmallJob job;
  job.disorder = "1h";
  const Input input{{partition_of("a.jsonl", {record("a", 0), record("a", 5000)}),
                     partition_of("b.jsonl", {record("b", 2500)})}};
  const Reference reference(spec_of(job), input);
  const std::int64_t all = behind(input.partitions[0], 2);

  CHECK(reference.visible_rows({{"a.jsonl", all, true}, {"b.jsonl", 1000, true}}) == 3);
  CHECK(reference.visible_rows({{"a.jsonl", all, false}, {"b.jsonl", 1000, true}}) == 0);
  CHECK(reference.visible_rows({{"a.jsonl", all, true}, {"b.jsonl", 1000, false}}) == 0);
}

TEST_CASE("the slowest partition that has not ended decides what is visible",
          "[properties][claims]") {
  const Input input{
      {partition_of("a.jsonl", {record("a", 0), record("a", 1000), record("a", 9000)}),
       partition_of("b.jsonl", {record("b", 500), record("b", 1500), record("b", 2500)}),
       partition_of("empty.jsonl", {})}};
  const Reference reference(spec_of(SmallJob{}), input);
  REQUIRE(reference.rows().size() == 6);
  const auto visible = [&](int of_a, bool a_ended, int of_b, bool b_ended, bool empty_ended) {
    return reference.visible_rows({{"a.jsonl", behind(input.partitions[0], of_a), a_ended},
                                   {"b.jsonl", behind(input.partitions[1], of_b), b_ended},
                                   {"empty.jsonl", 0, empty_ended}});
  };

  CHECK(visible(2, false, 2, false, true) == 2);  // min(999, 1499)
  CHECK(visible(3, false, 2, false, true) == 2);
  CHECK(visible(3, false, 3, false, true) == 4);  // min(8999, 2499)
  CHECK(visible(2, false, 3, true, true) == 2);
  CHECK(visible(3, true, 3, false, true) == 4);
  CHECK(visible(3, false, 3, true, true) == 5);  // The last window of a is open.
  CHECK(visible(3, true, 3, true, true) == 6);
  // Who has not read a record has no watermark.
  CHECK(visible(0, false, 3, true, true) == 0);
  CHECK(visible(3, true, 0, false, true) == 0);
  CHECK(visible(3, true, 3, true, false) == 0);
}

TEST_CASE("nothing is visible while a partition is not spoken of", "[properties][claims]") {
  const Input input{{partition_of("a.jsonl", {record("a", 0), record("a", 5000)}),
                     partition_of("b.jsonl", {record("b", 0), record("b", 5000)})}};
  const Reference reference(spec_of(SmallJob{}), input);

  CHECK(reference.visible_rows({}) == 0);
  CHECK(reference.visible_rows({{"a.jsonl", 1000, true}}) == 0);
  CHECK(reference.visible_rows({{"a.jsonl", 1000, true}, {"c.jsonl", 1000, true}}) == 0);
  CHECK(reference.visible_rows(
            {{"c.jsonl", 0, false}, {"b.jsonl", 1000, true}, {"a.jsonl", 1000, true}}) == 4);
}

TEST_CASE("what a filter drops moves the watermark of a claim", "[properties][claims]") {
  SmallJob job;
  job.filters = {"k == 'a'"};
  const Input input = input_of({record("a", 0), record("gone", 5000)});
  const Reference reference(spec_of(job), input);

  CHECK(reference.visible_rows({{"p.jsonl", behind(input.partitions[0], 1), false}}) == 0);
  CHECK(reference.visible_rows({{"p.jsonl", behind(input.partitions[0], 2), false}}) == 1);
}

TEST_CASE("the hash of the first rows is the sum of theirs", "[properties][claims]") {
  const Reference reference(spec_of(SmallJob{}),
                            input_of({record("a", 0), record("b", 0), record("a", 1000)}));
  RowSetHash sum;
  CHECK(reference.hash_of_first(0) == sum);
  for (std::size_t rows = 0; rows < reference.rows().size(); ++rows) {
    sum.add(lend(reference.rows()[rows].cells));
    CHECK(reference.hash_of_first(rows + 1) == sum);
  }
}

TEST_CASE("an input without records has no rows", "[properties][claims]") {
  const Reference reference(spec_of(SmallJob{}), Input{{partition_of("a.jsonl", {})}});

  CHECK(reference.rows().empty());
  CHECK(reference.records() == 0);
  CHECK(reference.is_exact());
  CHECK(reference.visible_rows({{"a.jsonl", 0, true}}) == 0);
}
