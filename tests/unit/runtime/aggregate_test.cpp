#include "millrace/runtime/aggregate.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "millrace/runtime/operators/row_aggregate.hpp"

#include "damage.hpp"
#include "draws.hpp"

using namespace millrace;

namespace {

struct Sale {
  std::int64_t price = 0;
};

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

template <class A>
auto fold(const A& aggregate, const std::vector<std::int64_t>& prices) {
  typename A::State state{};
  for (const std::int64_t price : prices) aggregate.add(state, aggregate.pick(Sale{price}));
  return aggregate.result(state);
}

/// Folds in two parts, at every place, and puts them together in both orders.
template <class A>
void check_merges(const A& aggregate, const std::vector<std::int64_t>& prices) {
  const auto whole = fold(aggregate, prices);
  for (std::size_t cut = 0; cut <= prices.size(); ++cut) {
    typename A::State first{};
    typename A::State second{};
    for (std::size_t i = 0; i < prices.size(); ++i) {
      aggregate.add(i < cut ? first : second, aggregate.pick(Sale{prices[i]}));
    }
    auto forward = first;
    aggregate.merge(forward, second);
    auto backward = second;
    aggregate.merge(backward, first);
    CHECK(aggregate.result(forward) == whole);
    CHECK(aggregate.result(backward) == whole);
  }
}

const std::vector<Field> fields{{"name", FieldType::text, true},
                                {"price", FieldType::integer, true},
                                {"weight", FieldType::real, true}};
constexpr std::uint32_t name = 0;
constexpr std::uint32_t price = 1;
constexpr std::uint32_t weight = 2;

using Fold = AggregateColumn::Fold;

AggregateColumn column(Fold fold, std::uint32_t field) { return {"result", fold, false, field}; }
AggregateColumn count_of_rows() { return {"result", Fold::count, true, 0}; }

Row row(std::optional<std::string_view> name_value, std::optional<std::int64_t> price_value,
        std::optional<double> weight_value) {
  Row made(3);
  if (name_value) made.set_text(name, *name_value);
  if (price_value) made.set_integer(price, *price_value);
  if (weight_value) made.set_real(weight, *weight_value);
  return made;
}

Row fold_rows(const std::vector<AggregateColumn>& columns, const std::vector<Row>& rows) {
  const RowAggregate aggregate(columns, fields);
  RowAggregate::State state;
  for (const Row& one : rows) aggregate.add(state, aggregate.pick(one));
  return aggregate.result(state);
}

std::vector<Row> prices(const std::vector<std::optional<std::int64_t>>& values) {
  std::vector<Row> rows;
  for (const auto& value : values) rows.push_back(row("x", value, 1.0));
  return rows;
}
std::vector<Row> weights(const std::vector<std::optional<double>>& values) {
  std::vector<Row> rows;
  for (const auto& value : values) rows.push_back(row("x", 1, value));
  return rows;
}

/// Every fold of every field that it can fold.
std::vector<AggregateColumn> all_columns() {
  std::vector<AggregateColumn> columns{count_of_rows(), column(Fold::count, name)};
  for (const std::uint32_t field : {price, weight}) {
    for (const Fold fold : {Fold::count, Fold::sum, Fold::minimum, Fold::maximum, Fold::average,
                            Fold::count_distinct}) {
      columns.push_back(column(fold, field));
    }
  }
  return columns;
}

}  // namespace

TEST_CASE("typed folds give what they are called after", "[runtime][aggregate]") {
  const std::vector<std::int64_t> values{3, -7, 5};
  CHECK(fold(count(), values) == 3);
  CHECK(fold(count(), {}) == 0);
  CHECK(fold(sum<&Sale::price>(), values) == 1);
  CHECK(fold(minimum<&Sale::price>(), values) == -7);
  CHECK(fold(maximum<&Sale::price>(), values) == 5);
  CHECK(fold(minimum<&Sale::price>(), {9}) == 9);
  CHECK(fold(maximum<&Sale::price>(), {-9}) == -9);
  CHECK(fold(sum([](const Sale& sale) { return sale.price * 2; }), values) == 2);
  CHECK(fold(all(count(), sum<&Sale::price>()), values) ==
        std::tuple<std::int64_t, std::int64_t>{3, 1});
}

TEST_CASE("typed folds in parts are the fold of the whole", "[runtime][aggregate]") {
  const std::vector<std::int64_t> values{3, -7, 5, 0, most, least, 5};
  check_merges(count(), values);
  check_merges(sum<&Sale::price>(), values);
  check_merges(minimum<&Sale::price>(), values);
  check_merges(maximum<&Sale::price>(), values);
  check_merges(all(minimum<&Sale::price>(), maximum<&Sale::price>(), count()), values);
}

TEST_CASE("a typed sum fails only if its result does not fit", "[runtime][aggregate]") {
  CHECK(fold(sum<&Sale::price>(), {most, most, least, least, 2}) == 0);
  CHECK(fold(sum<&Sale::price>(), {most}) == most);
  CHECK(fold(sum<&Sale::price>(), {least}) == least);
  CHECK_THROWS_AS(fold(sum<&Sale::price>(), {most, 1}), JobFailed);
  CHECK_THROWS_AS(fold(sum<&Sale::price>(), {least, -1}), JobFailed);
}

TEST_CASE("folds of rows pass over null, as SQL does", "[runtime][row_aggregate]") {
  const auto rows = prices({3, std::nullopt, -7, std::nullopt, 5});

  CHECK(fold_rows({count_of_rows()}, rows).integer(0) == 5);
  CHECK(fold_rows({column(Fold::count, price)}, rows).integer(0) == 3);
  CHECK(fold_rows({column(Fold::count, name)}, rows).integer(0) == 5);
  CHECK(fold_rows({column(Fold::sum, price)}, rows).integer(0) == 1);
  CHECK(fold_rows({column(Fold::minimum, price)}, rows).integer(0) == -7);
  CHECK(fold_rows({column(Fold::maximum, price)}, rows).integer(0) == 5);
  CHECK(fold_rows({column(Fold::average, price)}, rows).real(0) == 1.0 / 3.0);

  const auto reals = weights({0.5, std::nullopt, -2.0});
  CHECK(fold_rows({column(Fold::sum, weight)}, reals).real(0) == -1.5);
  CHECK(fold_rows({column(Fold::minimum, weight)}, reals).real(0) == -2.0);
  CHECK(fold_rows({column(Fold::maximum, weight)}, reals).real(0) == 0.5);
  CHECK(fold_rows({column(Fold::average, weight)}, reals).real(0) == -0.75);
}

TEST_CASE("a fold of nothing but nulls is null, and a count is 0", "[runtime][row_aggregate]") {
  const std::vector<Row> rows{row({}, {}, {}), row({}, {}, {})};
  const auto columns = all_columns();
  const Row result = fold_rows(columns, rows);

  REQUIRE(result.fields() == columns.size());
  CHECK(result.integer(0) == 2);  // Rows are counted whatever they hold.
  for (std::uint32_t i = 1; i < columns.size(); ++i) {
    CAPTURE(i);
    if (columns[i].fold == Fold::count || columns[i].fold == Fold::count_distinct) {
      CHECK(result.has(i));
      CHECK(result.integer(i) == 0);
    } else {
      CHECK_FALSE(result.has(i));
    }
  }
}

TEST_CASE("extremes are found among negative numbers and at both ends",
          "[runtime][row_aggregate]") {
  CHECK(fold_rows({column(Fold::maximum, price)}, prices({-3, -2})).integer(0) == -2);
  CHECK(fold_rows({column(Fold::minimum, price)}, prices({most, least})).integer(0) == least);
  CHECK(fold_rows({column(Fold::maximum, price)}, prices({least, most})).integer(0) == most);
  CHECK(fold_rows({column(Fold::maximum, weight)}, weights({-2.5, -2.25})).real(0) == -2.25);
  CHECK(fold_rows({column(Fold::minimum, weight)}, weights({-1e300, 1e-300})).real(0) == -1e300);
}

TEST_CASE("a sum of integers fails by name if its result does not fit",
          "[runtime][row_aggregate]") {
  const std::vector<AggregateColumn> columns{column(Fold::sum, price)};
  const auto complaint = [&](const std::vector<std::optional<std::int64_t>>& values) {
    return message_of<JobFailed>([&] { fold_rows(columns, prices(values)); });
  };

  CHECK(fold_rows(columns, prices({most - 1, 1})).integer(0) == most);
  CHECK(complaint({most, 1}) == "sum(price) does not fit into int64");
  CHECK(fold_rows(columns, prices({least + 1, -1})).integer(0) == least);
  CHECK(complaint({least, -1}) == "sum(price) does not fit into int64");
  CHECK(fold_rows(columns, prices({most, most, least, least, 2})).integer(0) == 0);
  // The mean of what cannot be summed is still a number.
  CHECK(fold_rows({column(Fold::average, price)}, prices({most, most})).real(0) == 0x1p+63);
}

TEST_CASE("a sum of fractions fails by name if it is beyond the largest",
          "[runtime][row_aggregate]") {
  constexpr double largest = std::numeric_limits<double>::max();
  const std::vector<AggregateColumn> columns{column(Fold::sum, weight)};

  CHECK(message_of<JobFailed>([&] {
          fold_rows(columns, weights({largest, largest}));
        }) == "sum(weight) is larger than the largest float64");
  CHECK(fold_rows(columns, weights({largest, largest, -largest})).real(0) == largest);
  CHECK(fold_rows({column(Fold::average, weight)}, weights({largest, largest})).real(0) == largest);
  CHECK(fold_rows(columns, weights({1e16, 1.0, -1e16})).real(0) == 1.0);
}

TEST_CASE("different values are counted once each, whatever their type, and nulls not at all",
          "[runtime][row_aggregate]") {
  const std::vector<Row> rows{row("a", 1, 0.5), row("b", 1, -0.5), row("a", {}, 0.5),
                              row({}, 2, {}), row("", 256, 1.0)};
  const Row result =
      fold_rows({column(Fold::count_distinct, name), column(Fold::count_distinct, price),
                 column(Fold::count_distinct, weight), count_of_rows()},
                rows);
  CHECK(result.integer(0) == 3);  // An empty text is one.
  CHECK(result.integer(1) == 3);
  CHECK(result.integer(2) == 3);
  CHECK(result.integer(3) == 5);
  CHECK(fold_rows({column(Fold::count_distinct, price)}, {row("a", {}, 0.5)}).integer(0) == 0);
}

TEST_CASE("only the fields that are folded are picked", "[runtime][row_aggregate]") {
  const RowAggregate aggregate({column(Fold::sum, weight), count_of_rows()}, fields);
  const Row picked = aggregate.pick(row("a name that nobody folds", 5, 0.5));

  CHECK(picked.fields() == 1);
  CHECK(picked.real(0) == 0.5);
  CHECK(RowAggregate({count_of_rows()}, fields).pick(row("x", 1, 1.0)).fields() == 0);
}

TEST_CASE("folds of rows are the same in every order and every grouping, to the bit",
          "[runtime][row_aggregate]") {
  Draws draws(41);
  const RowAggregate aggregate(all_columns(), fields);
  for (int run = 0; run < 100; ++run) {
    std::vector<Row> rows;
    for (std::uint64_t i = draws.below(30); i < 40; ++i) {
      std::optional<std::int64_t> some_price;
      std::optional<double> some_weight;
      if (!draws.one_in(4)) some_price = static_cast<std::int64_t>(draws.next()) / 128;
      if (!draws.one_in(4)) {
        const auto mantissa = static_cast<std::int64_t>(draws.next()) >> 12;
        some_weight =
            std::ldexp(static_cast<double>(mantissa), static_cast<int>(draws.below(200)) - 100);
      }
      rows.push_back(
          row(draws.one_in(3) ? std::optional<std::string_view>() : "x", some_price, some_weight));
    }
    RowAggregate::State once;
    for (const Row& one : rows) aggregate.add(once, aggregate.pick(one));

    draws.shuffle(rows);
    std::vector<RowAggregate::State> parts(1 + draws.below(8));  // Some may stay empty.
    for (const Row& one : rows) {
      aggregate.add(parts[draws.below(parts.size())], aggregate.pick(one));
    }
    while (parts.size() > 1) {
      draws.shuffle(parts);
      const RowAggregate::State last = parts.back();
      parts.pop_back();
      aggregate.merge(parts.back(), last);
    }
    REQUIRE(parts[0].words == once.words);
    REQUIRE(parts[0].values == once.values);
  }
}

TEST_CASE("the type of a result is that of what is folded, but for counts and means",
          "[runtime][row_aggregate]") {
  std::vector<Field> of{{"n", FieldType::integer, false}, {"x", FieldType::real, true}};
  const auto result = [&](Fold fold, std::uint32_t field) {
    return result_field(column(fold, field), of);
  };

  CHECK(result(Fold::count, 1) == Field{"result", FieldType::integer, false});
  CHECK(result(Fold::sum, 0) == Field{"result", FieldType::integer, false});
  CHECK(result(Fold::sum, 1) == Field{"result", FieldType::real, true});
  CHECK(result(Fold::minimum, 0) == Field{"result", FieldType::integer, false});
  CHECK(result(Fold::maximum, 1) == Field{"result", FieldType::real, true});
  CHECK(result(Fold::average, 0) == Field{"result", FieldType::real, false});
  CHECK(result_field(count_of_rows(), of) == Field{"result", FieldType::integer, false});
}
