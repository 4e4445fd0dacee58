#include "millrace/runtime/job/arithmetic.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "damage.hpp"

using namespace millrace;

namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

const std::vector<Field> fields{{"i", FieldType::integer, false},
                                {"j", FieldType::integer, true},
                                {"r", FieldType::real, true},
                                {"s", FieldType::text, false}};

Row row_of(std::int64_t i, std::optional<std::int64_t> j, std::optional<double> r) {
  Row row(4);
  row.set_integer(0, i);
  if (j) row.set_integer(1, *j);
  if (r) row.set_real(2, *r);
  row.set_text(3, "text");
  return row;
}

Cell value(std::string_view text, const Row& row = row_of(7, 2, 0.5)) {
  static Arithmetic kept;  // A text is good as long as both are.
  kept = parse_arithmetic(text, fields);
  return value_of(kept, row);
}
std::string failure(std::string_view text, const Row& row) {
  return message_of<JobFailed>([&] { value(text, row); });
}
std::string complaint(std::string_view text) {
  return message_of<UsageError>([&] { parse_arithmetic(text, fields); });
}
std::string type(std::string_view text) {
  const Arithmetic made = parse_arithmetic(text, fields);
  const char* const name = made.type == FieldType::integer ? "int64"
                           : made.type == FieldType::real  ? "float64"
                                                           : "string";
  return std::string(name) + (made.nullable ? "?" : "");
}

const Cell null{};
Cell whole(std::int64_t number) { return number; }

}  // namespace

TEST_CASE("whole numbers make whole numbers", "[runtime][arithmetic]") {
  CHECK(value("i + 1") == whole(8));
  CHECK(value("i-1") == whole(6));
  CHECK(value("i * j") == whole(14));
  CHECK(value("i / j") == whole(3));
  CHECK(value("-i / j") == whole(-3));  // Towards zero.
  CHECK(value("i % 4") == whole(3));
  CHECK(value("-i % 4") == whole(-3));  // With the sign of the first.
  CHECK(value("i % -4") == whole(3));
  CHECK(value("-i") == whole(-7));
  CHECK(value("+i") == whole(7));
  CHECK(value("- -i") == whole(7));
}

TEST_CASE("a fraction makes fractions", "[runtime][arithmetic]") {
  CHECK(value("i * 0.5") == Cell(3.5));
  CHECK(value("i + r") == Cell(7.5));
  CHECK(value("i / 2.0") == Cell(3.5));
  CHECK(value("i % 2.5") == Cell(2.0));
  CHECK(value("-r") == Cell(-0.5));
  CHECK(value("1e3") == Cell(1000.0));
  const Cell zero = value("r * 0 - 0");
  CHECK_FALSE(std::signbit(std::get<double>(zero)));
  CHECK_FALSE(std::signbit(std::get<double>(value("-r * 0"))));
  CHECK_FALSE(std::signbit(std::get<double>(value("-0.0"))));
}

TEST_CASE("a product binds closer than a sum, and both go from left to right",
          "[runtime][arithmetic]") {
  CHECK(value("1 + 2 * 3") == whole(7));
  CHECK(value("(1 + 2) * 3") == whole(9));
  CHECK(value("10 - 2 - 3") == whole(5));
  CHECK(value("100 / 10 / 5") == whole(2));
  CHECK(value("100 / (10 / 5)") == whole(50));
  CHECK(value("-2 * -3") == whole(6));
  CHECK(value("2 - -3") == whole(5));
}

TEST_CASE("texts can be copied", "[runtime][arithmetic]") {
  CHECK(value("s") == Cell(std::string_view("text")));
  CHECK(value("'it''s'") == Cell(std::string_view("it's")));
}

TEST_CASE("what has a null in it is null, and so is a division by zero", "[runtime][arithmetic]") {
  const Row nulls = row_of(7, {}, {});
  for (const auto* const text : {"j", "j + 1", "1 - j", "r * 0", "-j", "i / j", "i % r"}) {
    CAPTURE(text);
    CHECK(value(text, nulls) == null);
  }
  for (const auto* const text : {"i / 0", "i % 0", "i / 0.0", "r % 0", "r / (i - 7)"}) {
    CAPTURE(text);
    CHECK(value(text) == null);
  }
}

TEST_CASE("a type is known before there is a row", "[runtime][arithmetic]") {
  CHECK(type("i + 1") == "int64");
  CHECK(type("i + j") == "int64?");
  CHECK(type("i * 0.5") == "float64");
  CHECK(type("r + i") == "float64?");
  CHECK(type("i / 5") == "int64");
  CHECK(type("i / 0") == "int64?");
  CHECK(type("i % i") == "int64?");
  CHECK(type("s") == "string");
  CHECK(type("-j") == "int64?");
}

TEST_CASE("what does not fit ends the job", "[runtime][arithmetic]") {
  CHECK(failure("i + 1", row_of(most, {}, {})) ==
        "9223372036854775807 + 1 does not fit into int64");
  CHECK(failure("i - 1", row_of(least, {}, {})) ==
        "-9223372036854775808 - 1 does not fit into int64");
  CHECK(failure("i * 2", row_of(most, {}, {})) ==
        "9223372036854775807 * 2 does not fit into int64");
  CHECK(failure("i / -1", row_of(least, {}, {})) ==
        "-9223372036854775808 / -1 does not fit into int64");
  CHECK(failure("-i", row_of(least, {}, {})) == "0 - -9223372036854775808 does not fit into int64");
  CHECK(failure("r * 10", row_of(0, {}, 1e308)) == "1e+308 * 10 does not fit into float64");
  CHECK(value("i % -1", row_of(least, {}, {})) == whole(0));
  CHECK(value("i + 1", row_of(most - 1, {}, {})) == whole(most));
  CHECK(value("-9223372036854775808") == whole(least));
}

TEST_CASE("what is wrong with arithmetic is said, with what was expected",
          "[runtime][arithmetic]") {
  CHECK(complaint("") == "the name of a field is expected at its end");
  CHECK(complaint("i +") == "a number is expected at its end");
  CHECK(complaint("i + s") == "a number is expected, not `s`");
  CHECK(complaint("s + i") ==
        "`s` is a string, and there is no arithmetic of strings; a number is expected");
  CHECK(complaint("-s") == "a number is expected, not `s`");
  CHECK(complaint("'a' * 2") ==
        "it is a string, and there is no arithmetic of strings; a number is expected");
  CHECK(complaint("k + 1") == "there is no field `k`; the fields are i, j, r, s");
  CHECK(complaint("(i + 1") == "`)` is expected at its end");
  CHECK(complaint("i + 1)") == "`+`, `-`, `*`, `/`, `%` or the end is expected, not `)`");
  CHECK(complaint("i == 1") == "`+`, `-`, `*`, `/`, `%` or the end is expected, not `==`");
  CHECK(complaint("1e999") == "`1e999` is not a number that fits");
  CHECK(complaint(std::string(200, '(') + "i") == "it is nested too deeply");
}
