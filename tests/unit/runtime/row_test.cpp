#include "millrace/runtime/row.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

/// An integer, a real, a null and a text.
Row some_row(std::string_view text = "river") {
  Row row(4);
  row.set_integer(0, -5);
  row.set_real(1, 0.5);
  row.set_text(3, text);
  return row;
}

Bytes encoded(const Row& row) {
  Encoder out;
  encode(out, row);
  return out.take();
}

Row decoded_row(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Row row = decoded<Row>(in);
  in.expect_end();
  return row;
}

/// The bytes of a row that says it has so many fields and words, and then these words.
Bytes written(std::uint32_t fields, std::uint32_t words, std::vector<std::uint64_t> values) {
  Encoder out;
  out.number(fields);
  out.number(words);
  for (const std::uint64_t value : values) out.number(value);
  return out.take();
}

}  // namespace

TEST_CASE("a row holds what was set, and null where nothing was", "[runtime][row]") {
  const Row row = some_row();

  CHECK(row.fields() == 4);
  CHECK(row.has(0));
  CHECK(row.integer(0) == -5);
  CHECK(row.real(1) == 0.5);
  CHECK_FALSE(row.has(2));
  CHECK(row.text(3) == "river");
}

TEST_CASE("a row holds texts of every length, byte for byte", "[runtime][row]") {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text(size, 'x');
    if (size > 2) text[size / 2] = '\0';
    Row row(3);
    row.set_text(0, text);
    row.set_integer(1, 7);
    row.set_text(2, "behind");

    CAPTURE(size);
    CHECK(row.has(0));
    CHECK(row.text(0) == text);
    CHECK(row.integer(1) == 7);
    CHECK(row.text(2) == "behind");
  }
}

TEST_CASE("a row of the most fields tells every one of them from null", "[runtime][row]") {
  Row row(Row::most_fields);
  for (std::uint32_t field = 0; field < Row::most_fields; field += 3) {
    row.set_integer(field, field);
  }
  for (std::uint32_t field = 0; field < Row::most_fields; ++field) {
    CHECK(row.has(field) == (field % 3 == 0));
    if (row.has(field)) CHECK(row.integer(field) == field);
  }
}

TEST_CASE("rows are equal if their fields are, and then their hashes are", "[runtime][row]") {
  CHECK(some_row() == some_row());
  CHECK(some_row().hash() == some_row().hash());
  CHECK(Row(0) == Row());

  std::vector<Row> different{
      some_row(), some_row("rives"), some_row("rive"), some_row(""), Row(4), Row(5), Row(0)};
  Row with_zero = some_row();
  with_zero.set_integer(2, 0);  // Zero is not null.
  different.push_back(with_zero);
  Row with_other_number(4);
  with_other_number.set_integer(0, -6);
  different.push_back(with_other_number);
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < different.size(); ++j) {
      CAPTURE(i, j);
      CHECK((different[i] == different[j]) == (i == j));
      CHECK((different[i].hash() == different[j].hash()) == (i == j));
    }
  }
}

TEST_CASE("a copy of a row is one of its own, and a moved row leaves nothing", "[runtime][row]") {
  // Inside the row itself, and outside.
  for (const std::string& text : {std::string("ab"), std::string(200, 'y')}) {
    Row original = some_row(text);
    Row copy = original;
    CHECK(copy == original);
    copy.set_integer(2, 9);
    CHECK_FALSE(original.has(2));

    Row moved = std::move(original);
    CHECK(moved == some_row(text));
    original = moved;  // What was moved from can be assigned to.
    CHECK(original == moved);
    original = std::move(moved);
    CHECK(original == some_row(text));
    CHECK(original.text(3) == text);
    const Row& same = original;
    original = same;
    CHECK(original == some_row(text));
  }
}

TEST_CASE("a field is copied as it is, whatever it holds", "[runtime][row]") {
  const Row from = some_row("a text that is longer than a word");
  Row to(4);
  to.copy(0, from, 3, FieldType::text);
  to.copy(1, from, 0, FieldType::integer);
  to.copy(2, from, 2, FieldType::text);  // Null stays null.
  to.copy(3, from, 1, FieldType::real);

  CHECK(to.text(0) == "a text that is longer than a word");
  CHECK(to.integer(1) == -5);
  CHECK_FALSE(to.has(2));
  CHECK(to.real(3) == 0.5);
}

TEST_CASE("a row survives being written and read back", "[runtime][row]") {
  for (const Row& row : {Row(0), Row(4), some_row(""), some_row(), some_row(std::string(500, 'z')),
                         Row(Row::most_fields)}) {
    CHECK(decoded_row(encoded(row)) == row);
  }
  // Fields, words, and the words: what is set, the fields, the text in one word more.
  CHECK(encoded(some_row()).size() == 4 + 4 + 8 * (1 + 4 + 1));
}

TEST_CASE("the bytes of a row that was cut short are refused", "[runtime][row]") {
  const Bytes bytes = encoded(some_row());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(decoded_row(std::span(bytes).first(size)), CorruptBytes);
  }
}

TEST_CASE("bytes that can be no row are refused", "[runtime][row]") {
  const std::vector<std::uint64_t> zeros(80, 0);
  const auto first = [&](std::uint32_t count) {
    return std::vector<std::uint64_t>(zeros.begin(), zeros.begin() + count);
  };

  CHECK_NOTHROW(decoded_row(written(64, 65, first(65))));
  CHECK_THROWS_AS(decoded_row(written(65, 66, first(66))), CorruptBytes);
  CHECK_NOTHROW(decoded_row(written(2, 3, first(3))));
  CHECK_THROWS_AS(decoded_row(written(2, 2, first(2))), CorruptBytes);
  CHECK_THROWS_AS(decoded_row(written(2, 0, {})), CorruptBytes);
  CHECK_THROWS_AS(decoded_row(written(0xFFFFFFFF, 80, first(80))), CorruptBytes);
  CHECK_THROWS_AS(decoded_row(written(2, 0xFFFFFFFF, first(80))), CorruptBytes);
}

TEST_CASE("a text that points outside of its row is refused", "[runtime][row]") {
  const auto text_at = [](std::uint64_t begin, std::uint64_t size) {
    const Row row = decoded_row(written(1, 3, {1, begin << 32 | size, 0x6162636465666768}));
    return std::string(row.text(0));
  };

  CHECK(text_at(2, 8) == "hgfedcba");
  CHECK(text_at(3, 0).empty());
  CHECK_THROWS_AS(text_at(2, 9), CorruptBytes);
  CHECK_THROWS_AS(text_at(3, 1), CorruptBytes);
  CHECK_THROWS_AS(text_at(0xFFFFFFFF, 0xFFFFFFFF), CorruptBytes);
  CHECK_THROWS_AS(text_at(4, 0), CorruptBytes);
}
