#include "millrace/runtime/operators/row_top.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

const std::vector<Field> fields{
    {"x", FieldType::real, true}, {"s", FieldType::text, true}, {"n", FieldType::integer, true}};

struct Cells {
  double x;
  std::string s;
  std::int64_t n;
};
Row row_of(const Cells& cells) {
  Row row(3);
  row.set_real(0, cells.x);
  row.set_text(1, cells.s);
  row.set_integer(2, cells.n);
  return row;
}
/// Its number is null, and perhaps more.
Row row_without_number(double x) {
  Row row(3);
  row.set_real(0, x);
  return row;
}

/// The numbers of the rows that are kept, null being -1.
std::vector<std::int64_t> top(std::uint32_t most, std::uint32_t by, const std::vector<Row>& rows) {
  const RowTop fold(most, by, fields);
  RowTop::State state;
  for (const Row& row : rows) fold.add(state, fold.pick(row));
  std::vector<std::int64_t> numbers;
  for (const Row& row : fold.result(state)) numbers.push_back(row.has(2) ? row.integer(2) : -1);
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

const std::vector<Row> four{row_of({2.5, "b", 1}), row_of({7, "a", 2}), row_of({-1, "c", 3}),
                            row_of({2.5, "a", 4})};

}  // namespace

TEST_CASE("the rows that are largest by a field are kept, largest first", "[runtime][row_top]") {
  CHECK(top(2, 0, four) == Numbers{2, 4});
  CHECK(top(1, 1, four) == Numbers{3});
  CHECK(top(9, 2, four) == Numbers{4, 3, 2, 1});
  CHECK(top(3, 0, {}).empty());
}

TEST_CASE("equal rows come by all their fields, null first", "[runtime][row_top]") {
  CHECK(top(9, 0, four) == Numbers{2, 4, 1, 3});
  CHECK(top(9, 0, {four[0], row_without_number(2.5), four[3]}) == Numbers{-1, 4, 1});
  CHECK(top(2, 0, {four[0], four[0], four[0]}) == Numbers{1, 1});  // Each is a row of its own.
}

TEST_CASE("rows in which the field is null are passed over", "[runtime][row_top]") {
  CHECK(top(9, 2, {four[0], row_without_number(100), four[1]}) == Numbers{2, 1});
  CHECK(top(9, 1, {row_without_number(100)}).empty());
}

TEST_CASE("neither order nor grouping shows in the largest rows", "[runtime][row_top]") {
  std::vector<Row> rows = four;
  rows.push_back(row_without_number(2.5));
  rows.push_back(row_of({2.5, "a", 3}));
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  const RowTop fold(4, 0, fields);
  do {
    RowTop::State one;
    RowTop::State other;
    for (std::size_t i = 0; i < order.size(); ++i) {
      fold.add(i % 2 == 0 ? one : other, rows[order[i]]);
    }
    fold.merge(one, other);
    std::vector<std::int64_t> numbers;
    for (const Row& row : fold.result(one)) numbers.push_back(row.has(2) ? row.integer(2) : -1);
    REQUIRE(numbers == Numbers{2, -1, 3, 4});
  } while (std::next_permutation(order.begin(), order.end()));
}
