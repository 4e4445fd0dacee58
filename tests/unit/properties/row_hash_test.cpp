#include "millrace/properties/row_hash.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::properties;

namespace {

RowSetHash hash_of(const std::vector<OwnedRow>& rows) {
  RowSetHash hash;
  for (const OwnedRow& row : rows) hash.add(lend(row));
  return hash;
}

OwnedRow row(const std::string& key, std::int64_t start, std::int64_t count, double largest) {
  return {key, start, count, largest};
}

std::vector<OwnedRow> some_rows() {
  std::vector<OwnedRow> rows;
  for (int i = 0; i < 6; ++i) {
    rows.push_back(row(i % 2 == 0 ? "ak" : "nn", i / 2 * 1000, i, 0.5 * i));
  }
  return rows;
}

}  // namespace

TEST_CASE("the order of rows does not matter to their hash", "[properties][hash]") {
  std::vector<OwnedRow> rows = some_rows();
  std::sort(rows.begin(), rows.end());
  const RowSetHash hash = hash_of(rows);
  int orders = 0;
  do {
    ++orders;
    CHECK(hash_of(rows) == hash);
  } while (std::next_permutation(rows.begin(), rows.end()));
  CHECK(orders == 720);
}

TEST_CASE("how often a row is there matters to the hash", "[properties][hash]") {
  const OwnedRow one = row("ak", 0, 1, 0.5);

  CHECK_FALSE(hash_of({}) == hash_of({one}));
  CHECK_FALSE(hash_of({one}) == hash_of({one, one}));
  CHECK_FALSE(hash_of({one, one}) == hash_of({one, one, one}));
  CHECK_FALSE(hash_of({one, one}) == hash_of({}));
  CHECK(hash_of({}) == RowSetHash{});
}

TEST_CASE("a row that is missing changes the hash", "[properties][hash]") {
  const std::vector<OwnedRow> rows = some_rows();
  for (std::size_t missing = 0; missing < rows.size(); ++missing) {
    std::vector<OwnedRow> fewer = rows;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
    CHECK_FALSE(hash_of(fewer) == hash_of(rows));
    // And it is all that is missing.
    RowSetHash again = hash_of(fewer);
    again.add(lend(rows[missing]));
    CHECK(again == hash_of(rows));
  }
}

TEST_CASE("a row in the place of another changes the hash", "[properties][hash]") {
  const std::vector<OwnedRow> rows = some_rows();
  for (std::size_t lost = 0; lost < rows.size(); ++lost) {
    for (std::size_t doubled = 0; doubled < rows.size(); ++doubled) {
      std::vector<OwnedRow> wrong = rows;
      wrong[lost] = rows[doubled];
      CHECK((hash_of(wrong) == hash_of(rows)) == (lost == doubled));
    }
  }
}

TEST_CASE("every cell of a row matters to the hash", "[properties][hash]") {
  const OwnedRow original = row("ak", 1000, 3, 0.5);
  const std::vector<OwnedRow> others{
      row("al", 1000, 3, 0.5),
      row("AK", 1000, 3, 0.5),
      row("ak ", 1000, 3, 0.5),
      row("", 1000, 3, 0.5),
      row("ak", 1001, 3, 0.5),
      row("ak", -1000, 3, 0.5),
      row("ak", 1000, 4, 0.5),
      row("ak", 1000, 3, 0.5000000000000001),
      row("ak", 1000, 3, -0.5),
      {"ak", std::int64_t{1000}, std::int64_t{3}, std::monostate{}},
      {"ak", std::int64_t{3}, std::int64_t{1000}, 0.5},
      {"ak", std::int64_t{1000}, std::int64_t{3}},
      {"ak", std::int64_t{1000}, std::int64_t{3}, 0.5, std::monostate{}},
  };
  for (const OwnedRow& other : others) {
    CAPTURE(to_text(other, {}));
    CHECK_FALSE(hash_of({other}) == hash_of({original}));
  }
}

TEST_CASE("the type of a cell matters to the hash, and where one cell ends", "[properties][hash]") {
  const std::vector<OwnedRow> rows{
      {std::monostate{}},
      {std::int64_t{0}},
      {0.0},
      {-0.0},
      {std::string()},
      {std::string("0")},
      {std::int64_t{1}},
      {1.0},
      {std::string("1")},
      {std::string("ab"), std::string("c")},
      {std::string("a"), std::string("bc")},
      {std::string("abc")},
      {},
      {std::monostate{}, std::monostate{}},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      CAPTURE(i, j);
      CHECK((hash_of({rows[i]}) == hash_of({rows[j]})) == (i == j));
    }
  }
}

TEST_CASE("cells that change places between rows change the hash", "[properties][hash]") {
  CHECK_FALSE(hash_of({row("ak", 0, 1, 0.5), row("nn", 0, 2, 0.5)}) ==
              hash_of({row("ak", 0, 2, 0.5), row("nn", 0, 1, 0.5)}));
}

TEST_CASE("hashes of parts add up to the hash of the whole", "[properties][hash]") {
  const std::vector<OwnedRow> rows = some_rows();
  for (std::size_t cut = 0; cut <= rows.size(); ++cut) {
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(cut);
    RowSetHash sum = hash_of({rows.begin(), middle});
    sum.add(hash_of({middle, rows.end()}));
    CHECK(sum == hash_of(rows));
  }
  // All 128 bits are one number.
  RowSetHash carried{std::numeric_limits<std::uint64_t>::max(), 7};
  carried.add(RowSetHash{1, 0});
  CHECK(carried == RowSetHash{0, 8});
}

TEST_CASE("a row of one's own is the row that was lent", "[properties][hash]") {
  const OwnedRow owned{std::monostate{}, std::int64_t{-7}, 2.5, std::string("a\0b", 3)};
  std::vector<Cell> cells = lend(owned);

  CHECK(own(cells) == owned);
  OwnedRow kept;
  {
    const std::string gone = "a text that goes away";
    const std::vector<Cell> lent{std::string_view(gone)};
    kept = own(lent);
  }
  CHECK(kept == OwnedRow{std::string("a text that goes away")});
}

TEST_CASE("a row is written for people with the names of its columns", "[properties][hash]") {
  const OwnedRow full{std::string("nn"), std::int64_t{1517677200000}, 10.5, std::monostate{}};
  const std::vector<std::string> columns{"network", "window_start", "largest", "smallest"};

  CHECK(to_text(full, columns) ==
        "network=nn, window_start=1517677200000, largest=10.5, smallest=NULL");
  CHECK(to_text({}, columns) == "");
  // A table may have more columns than the job knows.
  CHECK(to_text({std::string("nn"), std::int64_t{1}}, std::vector<std::string>{"network"}) ==
        "network=nn, column 2=1");
}
