#include "millrace/env/cells.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

TEST_CASE("cells of every type survive being written and read back", "[env][cells]") {
  CellWriter writer;
  writer.null();
  writer.integer(INT64_MIN);
  writer.real(-2.5);
  writer.text(std::string_view("a\0b", 3));
  writer.end_row();

  CHECK(writer.rows() == 1);
  const Bytes bytes = writer.take();
  CHECK(writer.rows() == 0);
  CellReader reader(bytes);
  CHECK(reader.next() == Cell{std::monostate{}});
  CHECK(reader.next() == Cell{INT64_MIN});
  CHECK(reader.next() == Cell{-2.5});
  CHECK(reader.next() == Cell{std::string_view("a\0b", 3)});
  CHECK(reader.at_end());
}

TEST_CASE("bytes that are no cells are refused", "[env][cells]") {
  const Bytes unknown_type{std::byte{9}};
  const Bytes cut_short{std::byte{1}, std::byte{0}};

  CHECK_THROWS_AS(CellReader(unknown_type).next(), CorruptBytes);
  CHECK_THROWS_AS(CellReader(cut_short).next(), CorruptBytes);
}
