#include "late_records.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Of the window [0, 1000) of key a there are two records, and a third that may come too late.
Reference reference_of(SmallJob job = {}) {
  return {spec_of(job),
          input_of({record("a", 100), record("a", 200), record("a", 2000), record("a", 300)})};
}

OwnedRow row(std::int64_t start, std::int64_t count) {
  return {std::string("a"), start, start + 1000, count};
}

std::string complaint(const Reference& reference, std::uint64_t dropped,
                      const std::vector<OwnedRow>& rows) {
  const auto breach = judge_late(reference, dropped, rows);
  if (!breach) return "";
  CHECK(breach->judge == "late");
  return breach->what;
}

}  // namespace

TEST_CASE("a record that may be late is counted or dropped", "[properties][late]") {
  const Reference reference = reference_of();
  CHECK(reference.kept_records() == 4);
  CHECK(reference.may_be_late() == 1);
  CHECK(complaint(reference, 0, {row(0, 3), row(2000, 1)}).empty());
  CHECK(complaint(reference, 1, {row(0, 2), row(2000, 1)}).empty());
}

TEST_CASE("a record that is neither counted nor dropped convicts, and one that is both",
          "[properties][late]") {
  const Reference reference = reference_of();
  CHECK(complaint(reference, 0, {row(0, 2), row(2000, 1)}) ==
        "of 4 records 3 are counted and 0 were dropped as late");
  CHECK(complaint(reference, 1, {row(0, 3), row(2000, 1)}) ==
        "of 4 records 4 are counted and 1 were dropped as late");
}

TEST_CASE("a row of an upsert sink may have counted what is dropped after a recovery",
          "[properties][late]") {
  const Reference reference = reference_of();
  const std::vector<OwnedRow> rows{row(0, 3), row(2000, 1)};
  CHECK(judge_late(reference, 1, rows, SinkMode::staged));
  CHECK_FALSE(judge_late(reference, 1, rows, SinkMode::upsert));
  CHECK(judge_late(reference, 0, std::vector<OwnedRow>{row(0, 2)}, SinkMode::upsert));
  CHECK(judge_late(reference, 1, std::vector<OwnedRow>{row(0, 4), row(2000, 1)}, SinkMode::upsert));
}

TEST_CASE("more dropped records than may be late convict, whatever is counted",
          "[properties][late]") {
  const std::string two = "2 records were dropped as late, and 1 came too late";
  CHECK(complaint(reference_of(), 2, {row(0, 1), row(2000, 1)}) == two);
  SmallJob uncounted;
  uncounted.aggregate = R"-(n = "max(i)")-";
  CHECK(complaint(reference_of(uncounted), 2, {}) == two);
  CHECK(complaint(reference_of(uncounted), 1, {}).empty());
}

TEST_CASE("what a filter drops is not late", "[properties][late]") {
  SmallJob job;
  job.filters = {"k != 'a'"};
  const Reference reference = reference_of(job);
  CHECK(reference.kept_records() == 0);
  CHECK(reference.may_be_late() == 0);
}
