#include "millrace/runtime/job/expression.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/int128.hpp"

#include "damage.hpp"
#include "draws.hpp"

using namespace millrace;

namespace {

const std::vector<Field> fields{{"network", FieldType::text, false},
                                {"time", FieldType::integer, false},
                                {"magnitude", FieldType::real, true}};

Expression parse(std::string_view text) { return parse_expression(text, fields); }

Expression compare(std::uint32_t field, Comparison comparison, Literal literal) {
  Expression made;
  made.left.kind = Arithmetic::Kind::field;
  made.left.field = field;
  made.left.type = fields[field].type;
  made.left.nullable = fields[field].nullable;
  made.comparison = comparison;
  made.right.type = std::holds_alternative<std::string>(literal) ? FieldType::text
                    : std::holds_alternative<double>(literal)    ? FieldType::real
                                                                 : FieldType::integer;
  made.right.literal = std::move(literal);
  return made;
}
Expression joined(Expression::Kind kind, std::vector<Expression> parts) {
  Expression made;
  made.kind = kind;
  made.parts = std::move(parts);
  return made;
}

std::string complaint(std::string_view text) {
  return message_of<UsageError>([&] { parse(text); });
}

Row row_of(std::string_view network, std::int64_t time, std::optional<double> magnitude) {
  Row row(3);
  row.set_text(0, network);
  row.set_integer(1, time);
  if (magnitude) row.set_real(2, *magnitude);
  return row;
}

Truth truth(std::string_view text, const Row& row) { return Condition(parse(text)).evaluate(row); }

constexpr auto both = Expression::Kind::both;
constexpr auto either = Expression::Kind::either;
constexpr auto negation = Expression::Kind::negation;

constexpr double two_to_53 = 9007199254740992.0;
constexpr double two_to_63 = 9223372036854775808.0;

}  // namespace

TEST_CASE("comparisons are read with every operator and every kind of literal",
          "[runtime][expression]") {
  CHECK(parse("network == 'nc'") == compare(0, Comparison::equal, "nc"));
  CHECK(parse("time!=-5") == compare(1, Comparison::unequal, std::int64_t{-5}));
  CHECK(parse("time < +5") == compare(1, Comparison::less, std::int64_t{5}));
  CHECK(parse("\ttime  <=  5 ") == compare(1, Comparison::at_most, std::int64_t{5}));
  CHECK(parse("magnitude > 2.5") == compare(2, Comparison::greater, 2.5));
  CHECK(parse("magnitude >= 1e-3") == compare(2, Comparison::at_least, 1e-3));
  CHECK(parse("magnitude >= 3") == compare(2, Comparison::at_least, std::int64_t{3}));
  CHECK(parse("time == 2.5E+1") == compare(1, Comparison::equal, 25.0));
}

TEST_CASE("integers of a literal are whole as long as they fit", "[runtime][expression]") {
  CHECK(parse("time == 9223372036854775807") ==
        compare(1, Comparison::equal, std::numeric_limits<std::int64_t>::max()));
  CHECK(parse("time == -9223372036854775808") ==
        compare(1, Comparison::equal, std::numeric_limits<std::int64_t>::min()));
  CHECK(parse("time == 9223372036854775808") == compare(1, Comparison::equal, two_to_63));
}

TEST_CASE("a quote inside a text is written twice", "[runtime][expression]") {
  CHECK(parse("network == ''") == compare(0, Comparison::equal, ""));
  CHECK(parse("network == 'it''s'") == compare(0, Comparison::equal, "it's"));
  CHECK(parse("network == ''''") == compare(0, Comparison::equal, "'"));
  CHECK(parse("network == 'a \"b\" and or not ('") ==
        compare(0, Comparison::equal, "a \"b\" and or not ("));
}

TEST_CASE("not binds closer than and, and and closer than or", "[runtime][expression]") {
  const Expression a = parse("time == 1");
  const Expression b = parse("time == 2");
  const Expression c = parse("time == 3");

  CHECK(parse("time == 1 or time == 2 and time == 3") == joined(either, {a, joined(both, {b, c})}));
  CHECK(parse("time == 1 and time == 2 or time == 3") == joined(either, {joined(both, {a, b}), c}));
  CHECK(parse("(time == 1 or time == 2) and time == 3") ==
        joined(both, {joined(either, {a, b}), c}));
  CHECK(parse("not time == 1 and time == 2") == joined(both, {joined(negation, {a}), b}));
  CHECK(parse("not (time == 1 and time == 2)") == joined(negation, {joined(both, {a, b})}));
  CHECK(parse("not not time == 1") == joined(negation, {joined(negation, {a})}));
  CHECK(parse("time == 1 or time == 2 or time == 3") == joined(either, {a, b, c}));
  CHECK(parse("((time == 1))") == a);
}

TEST_CASE("what is wrong with a condition is said, with what was expected",
          "[runtime][expression]") {
  CHECK(complaint("") == "the name of a field is expected at its end");
  CHECK(complaint("== time") == "the name of a field is expected, not `==`");
  CHECK(complaint("tme == 5") ==
        "there is no field `tme`; the fields are network, time, magnitude");
  CHECK(complaint("time") == "==, !=, <, <=, > or >= is expected at its end");
  CHECK(complaint("time = 5") == "==, !=, <, <=, > or >= is expected, not `=`");
  CHECK(complaint("time is 5") == "==, !=, <, <=, > or >= is expected, not `is`");
  CHECK(complaint("network == nc") ==
        "a text in single quotes (`network` is a string) is expected, not `nc`");
  CHECK(complaint("network == 5") ==
        "a text in single quotes (`network` is a string) is expected, not `5`");
  CHECK(complaint("network == 'nc") == "a text in quotes does not end");
  CHECK(complaint("time == 'x'") == "a number (`time` is int64) is expected, not `'x'`");
  CHECK(complaint("magnitude >=") == "a number (`magnitude` is float64) is expected at its end");
  CHECK(complaint("time == network") == "a number (`time` is int64) is expected, not `network`");
  CHECK(complaint("time == 1e999") == "`1e999` is not a number that fits");
  CHECK(complaint("time == 1.2.3") == "`1.2.3` is not a number that fits");
  CHECK(complaint("time == -") == "a number (`time` is int64) is expected at its end");
  CHECK(complaint("network == -5") ==
        "a text in single quotes (`network` is a string) is expected, not `-`");
  CHECK(complaint("network == time") ==
        "a text in single quotes (`network` is a string) is expected, not `time`");
  CHECK(complaint("5 == network") == "a number (it is int64) is expected, not `network`");
  CHECK(complaint("time + 1 == network") ==
        "a number (the result is int64) is expected, not `network`");
  CHECK(complaint("network + 1 == 2") ==
        "`network` is a string, and there is no arithmetic of strings; a number is expected");
  CHECK(complaint("time == 1 time == 2") == "`and`, `or` or the end is expected, not `time`");
  CHECK(complaint("time == 1)") == "`and`, `or` or the end is expected, not `)`");
  CHECK(complaint("(time == 1") == "`)` is expected at its end");
  CHECK(complaint("time == 1 and") == "the name of a field is expected at its end");
  CHECK(complaint("not") == "the name of a field is expected at its end");
  CHECK(complaint("time == 1 && time == 2") == "`and`, `or` or the end is expected, not `&`");
}

TEST_CASE("a condition may be nested a hundred times and no more", "[runtime][expression]") {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '(') + "time == 1" +
           std::string(static_cast<std::size_t>(depth), ')');
  };
  CHECK_NOTHROW(parse(nested(98)));
  CHECK_NOTHROW(parse(nested(99)));  // The comparison inside is the hundredth.
  CHECK(complaint(nested(100)) == "it is nested too deeply");
  CHECK(complaint(nested(100'000)) == "it is nested too deeply");
  std::string negations;
  for (int i = 0; i < 100; ++i) negations += "not ";
  CHECK(complaint(negations + "time == 1") == "it is nested too deeply");
}

TEST_CASE("every operator compares at one less, equal and one more", "[runtime][expression]") {
  const auto outcomes = [](std::string_view text) {
    std::string yes;
    for (const std::int64_t time : {4, 5, 6}) {
      yes += truth(text, row_of("", time, {})) == Truth::yes ? 'y' : 'n';
    }
    return yes;
  };
  CHECK(outcomes("time == 5") == "nyn");
  CHECK(outcomes("time != 5") == "yny");
  CHECK(outcomes("time < 5") == "ynn");
  CHECK(outcomes("time <= 5") == "yyn");
  CHECK(outcomes("time > 5") == "nny");
  CHECK(outcomes("time >= 5") == "nyy");
  CHECK(outcomes("time >= 4.5") == "nyy");
  CHECK(outcomes("time == 5.0") == "nyn");
}

TEST_CASE("fields are compared with fields, and both sides may be worked out",
          "[runtime][expression]") {
  const Row row = row_of("nc", 5, 2.5);
  CHECK(truth("time > magnitude", row) == Truth::yes);
  CHECK(truth("network == network", row) == Truth::yes);
  CHECK(truth("5 == time", row) == Truth::yes);
  CHECK(truth("time == 2 * magnitude", row) == Truth::yes);
  CHECK(truth("(time + 1) * 2 == 12 and (time == 5)", row) == Truth::yes);
  CHECK(truth("((time) == 5)", row) == Truth::yes);
  CHECK(truth("not (time - 1 < magnitude)", row) == Truth::yes);
  CHECK(truth("time / 0 == 1 or time == 5", row) == Truth::yes);
  CHECK(truth("time / 0 == 1", row) == Truth::unknown);
  CHECK(truth("time-5 == 0", row) == Truth::yes);
}

TEST_CASE("texts are compared byte by byte", "[runtime][expression]") {
  const auto is_less = [](std::string_view network, std::string_view literal) {
    return truth("network < '" + std::string(literal) + "'", row_of(network, 0, {})) == Truth::yes;
  };
  CHECK(is_less("a", "b"));
  CHECK(is_less("", "a"));
  CHECK(is_less("ab", "abc"));
  CHECK(is_less("Z", "a"));
  CHECK(is_less("z", "\xC3\xA9"));  // A byte above 127 is large, not negative.
  CHECK_FALSE(is_less("b", "b"));
}

TEST_CASE("a comparison with null is neither true nor false", "[runtime][expression]") {
  for (const auto* const text : {"magnitude == 1", "magnitude != 1", "magnitude < 1",
                                 "magnitude >= 1", "not magnitude == 1"}) {
    CAPTURE(text);
    CHECK(truth(text, row_of("", 0, {})) == Truth::unknown);
    CHECK_FALSE(Condition(parse(text))(row_of("", 0, {})));  // And so not kept.
  }
}

TEST_CASE("and, or and not know three truths, as SQL does", "[runtime][expression]") {
  const std::pair<const char*, Truth> leaves[] = {
      {"time == 0", Truth::no}, {"magnitude == 0", Truth::unknown}, {"time == 1", Truth::yes}};
  const Row row = row_of("", 1, {});
  for (const auto& [text, value] : leaves) {
    const Truth inverse = value == Truth::unknown ? Truth::unknown
                          : value == Truth::yes   ? Truth::no
                                                  : Truth::yes;
    CHECK(truth(std::string("not ") + text, row) == inverse);
    for (const auto& [other_text, other] : leaves) {
      CAPTURE(text, other_text);
      const bool has_no = value == Truth::no || other == Truth::no;
      const bool has_yes = value == Truth::yes || other == Truth::yes;
      const bool has_unknown = value == Truth::unknown || other == Truth::unknown;
      CHECK(truth(std::string(text) + " and " + other_text, row) == (has_no        ? Truth::no
                                                                     : has_unknown ? Truth::unknown
                                                                                   : Truth::yes));
      CHECK(truth(std::string(text) + " or " + other_text, row) == (has_yes       ? Truth::yes
                                                                    : has_unknown ? Truth::unknown
                                                                                  : Truth::no));
    }
  }
}

TEST_CASE("whole numbers and fractions are compared exactly", "[runtime][expression]") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto beyond = std::int64_t{1} << 53;

  CHECK(compare_exactly(beyond - 1, two_to_53) == -1);
  CHECK(compare_exactly(beyond, two_to_53) == 0);
  CHECK(compare_exactly(beyond + 1, two_to_53) == 1);  // As doubles they would be equal.
  CHECK(compare_exactly(most, two_to_63) == -1);
  CHECK(compare_exactly(most, 9223372036854774784.0) == 1);  // The double before 2^63.
  CHECK(compare_exactly(least, -two_to_63) == 0);
  CHECK(compare_exactly(least + 1, -two_to_63) == 1);
  CHECK(compare_exactly(least, -9223372036854777856.0) == 1);  // The double before -2^63.
  CHECK(compare_exactly(most, 1e300) == -1);
  CHECK(compare_exactly(least, -1e300) == 1);
  CHECK(compare_exactly(0, 0.0) == 0);
  CHECK(compare_exactly(0, -0.0) == 0);
  CHECK(compare_exactly(0, 5e-324) == -1);
  CHECK(compare_exactly(0, -5e-324) == 1);
  CHECK(compare_exactly(-1, -0.5) == -1);
  CHECK(compare_exactly(-1, -1.5) == 1);
  CHECK(compare_exactly(1, 0.5) == 1);
  CHECK(compare_exactly(1, 1.5) == -1);

  CHECK(truth("time == 9007199254740992.0", row_of("", beyond + 1, {})) == Truth::no);
  CHECK(truth("magnitude < 9007199254740993", row_of("", 0, two_to_53)) == Truth::yes);
  CHECK(truth("magnitude == 9007199254740993", row_of("", 0, two_to_53)) == Truth::no);
}

TEST_CASE("comparisons agree with those of wider numbers", "[runtime][expression]") {
  Draws draws(23);
  int equal = 0;
  for (int run = 0; run < 20'000; ++run) {
    // A fraction of 1024ths that a double holds exactly, near the integer or far from it.
    const auto parts = static_cast<std::int64_t>(draws.next() >> 11) - (std::int64_t{1} << 52);
    const double real = static_cast<double>(parts) / 1024;
    const std::int64_t integer = draws.one_in(2)
                                     ? parts / 1024 + static_cast<std::int64_t>(draws.below(3)) - 1
                                     : static_cast<std::int64_t>(draws.next());
    const Int128 left = static_cast<Int128>(integer) * 1024;
    const int expected = left < parts ? -1 : left > parts ? 1 : 0;
    REQUIRE(compare_exactly(integer, real) == expected);
    const double whole = static_cast<double>(parts >> 10);
    REQUIRE(compare_exactly(parts >> 10, whole) == 0);
    equal += expected == 0 ? 1 : 0;
  }
  CHECK(equal > 0);
}
