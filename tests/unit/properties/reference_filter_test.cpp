#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Whether the reference keeps a record of these fields.
bool passes_all(const std::vector<std::string>& filters, const std::string& more,
                const std::string& key = "a") {
  SmallJob job;
  job.filters = filters;
  const auto rows = rows_of(job, {record(key, 0, more)});
  REQUIRE(rows.size() <= 1);
  return rows.size() == 1;
}
bool keeps_record(const std::string& filter, const std::string& more) {
  return passes_all({filter}, more);
}

const std::string none = R"("i": null, "r": null, "s": null)";

}  // namespace

TEST_CASE("the reference compares in every way with every type", "[properties][filter]") {
  // Below, equal, above.
  struct Trio {
    std::string field, below, equal, above, literal;
  };
  for (const Trio& trio : std::vector<Trio>{{"i", "4", "5", "6", "5"},
                                            {"i", "-9223372036854775808", "-9223372036854775807",
                                             "9223372036854775807", "-9223372036854775807"},
                                            {"r", "0.25", "0.5", "0.75", "0.5"},
                                            {"r", "-1e308", "5e-324", "1e-323", "5e-324"},
                                            {"s", R"("b")", R"("ba")", R"("bb")", "'ba'"},
                                            {"s", R"("Z")", R"("a")", R"("é")", "'a'"},
                                            {"s", R"("")", R"(" ")", R"("!")", "' '"}}) {
    const std::vector<std::pair<std::string, std::vector<bool>>> operators{
        {"==", {false, true, false}}, {"!=", {true, false, true}}, {"<", {true, false, false}},
        {"<=", {true, true, false}},  {">", {false, false, true}}, {">=", {false, true, true}}};
    for (const auto& [word, expected] : operators) {
      const std::string filter = trio.field + " " + word + " " + trio.literal;
      CAPTURE(filter);
      const auto with = [&](const std::string& value) {
        return keeps_record(filter, "\"" + trio.field + "\": " + value);
      };
      CHECK(with(trio.below) == expected[0]);
      CHECK(with(trio.equal) == expected[1]);
      CHECK(with(trio.above) == expected[2]);
      // Neither true nor false, and so not kept.
      CHECK_FALSE(with("null"));
      CHECK_FALSE(keeps_record("not " + filter, none));
    }
  }
}

TEST_CASE("the reference compares whole numbers with fractions exactly", "[properties][filter]") {
  CHECK(keeps_record("i < 5.5", R"("i": 5)"));
  CHECK_FALSE(keeps_record("i < 5.5", R"("i": 6)"));
  CHECK_FALSE(keeps_record("i == 5.5", R"("i": 5)"));
  CHECK(keeps_record("i == 5.0", R"("i": 5)"));
  CHECK(keeps_record("r == 5", R"("r": 5.0)"));
  CHECK(keeps_record("r > -1", R"("r": -0.5)"));
  // As doubles these would be equal.
  CHECK(keeps_record("i > 9007199254740992.0", R"("i": 9007199254740993)"));
  CHECK_FALSE(keeps_record("i == 9007199254740992.0", R"("i": 9007199254740993)"));
  CHECK(keeps_record("r < 9007199254740993", R"("r": 9007199254740992)"));
  CHECK(keeps_record("i < 9223372036854775808.0", R"("i": 9223372036854775807)"));
  CHECK_FALSE(keeps_record("r <= 9223372036854775807", R"("r": 9223372036854775808)"));
  CHECK(keeps_record("i < 1e308", R"("i": 9223372036854775807)"));
  CHECK(keeps_record("i > -1e308", R"("i": -9223372036854775808)"));
  CHECK(keeps_record("r == 0", R"("r": -0.0)"));
}

TEST_CASE("a condition with null in it is true, false or neither, as in SQL",
          "[properties][filter]") {
  const std::string no_i = R"("i": null, "s": "x")";  // i > 1 is unknown, s == 'x' is true.
  const std::vector<std::pair<std::string, bool>> conditions{
      {"i > 1", false},
      {"not i > 1", false},
      {"not not i > 1", false},
      {"i > 1 or s == 'x'", true},
      {"s == 'x' or i > 1", true},
      {"i > 1 or s == 'y'", false},
      {"not (i > 1 or s == 'y')", false},
      {"i > 1 and s == 'x'", false},
      {"not (i > 1 and s == 'x')", false},
      {"i > 1 and s == 'y'", false},
      {"not (i > 1 and s == 'y')", true},
      {"not (s == 'y' and i > 1)", true},
      {"not (i > 1 and i > 1)", false},
      {"i > 1 or i <= 1", false},
      {"not (i > 1) or s != 'y'", true},
      {"s == 'x' and not (i > 1 and s == 'y')", true},
  };
  for (const auto& [condition, kept] : conditions) {
    CAPTURE(condition);
    CHECK(keeps_record(condition, no_i) == kept);
  }
}

TEST_CASE("`and` binds stronger than `or`, and `not` stronger than both", "[properties][filter]") {
  const std::string one = R"("i": 1, "r": 2, "s": "x")";

  CHECK(keeps_record("i == 1 or i == 2 and s == 'y'", one));
  CHECK_FALSE(keeps_record("(i == 1 or i == 2) and s == 'y'", one));
  CHECK_FALSE(keeps_record("not i == 1 and s == 'x'", one));
  CHECK(keeps_record("not (i == 1 and s == 'y')", one));
  CHECK(keeps_record("not i == 2 or s == 'y'", one));
  CHECK(keeps_record("i == 1 and r == 2 and s == 'x'", one));
  CHECK_FALSE(keeps_record("i == 1 and r == 2 and s == 'y'", one));
}

TEST_CASE("a text in a condition is compared byte by byte", "[properties][filter]") {
  CHECK(keeps_record("s == 'it''s'", R"("s": "it's")"));
  CHECK(keeps_record("s == 'ä'", R"("s": "\u00e4")"));
  CHECK_FALSE(keeps_record("s == 'ä'", R"("s": "a\u0308")"));
  CHECK(keeps_record("s > 'z'", R"("s": "ä")"));
  CHECK(keeps_record("s > 'ab'", R"("s": "ab\u0000")"));
  CHECK_FALSE(keeps_record("s == 'a'", R"("s": "A")"));
}

TEST_CASE("a record passes several filters only if it passes each", "[properties][filter]") {
  CHECK(passes_all({"i > 1", "i < 5"}, R"("i": 3)"));
  CHECK_FALSE(passes_all({"i > 1", "i < 5"}, R"("i": 1)"));
  CHECK_FALSE(passes_all({"i > 1", "i < 5"}, R"("i": 5)"));
  CHECK_FALSE(passes_all({"i > 1", "s == 'x'"}, R"("s": "x")"));
  CHECK(passes_all({}, none));
}

TEST_CASE("a filter may ask for the key and the time", "[properties][filter]") {
  CHECK(passes_all({"k != '' and t == 0"}, none, "a"));
  CHECK_FALSE(passes_all({"k != ''"}, none, ""));
  CHECK_FALSE(passes_all({"t > 0"}, none, "a"));
}
