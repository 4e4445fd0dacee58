#include "millrace/env/bytes.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

TEST_CASE("what an encoder writes a decoder reads", "[env][bytes]") {
  Encoder out;
  out.number(std::int64_t{-5});
  out.number(0.5);
  out.text("river");
  out.bytes({});

  Decoder in(out.view());
  CHECK(in.number<std::int64_t>() == -5);
  CHECK(in.number<double>() == 0.5);
  CHECK(in.text() == "river");
  CHECK(in.bytes().empty());
  CHECK_NOTHROW(in.expect_end());
}

TEST_CASE("a decoder reads nothing behind the end", "[env][bytes]") {
  Encoder out;
  out.number(std::uint32_t{100});  // A length, and nothing behind it.

  CHECK_THROWS_AS(Decoder(out.view()).number<std::uint64_t>(), CorruptBytes);
  CHECK_THROWS_AS(Decoder(out.view()).text(), CorruptBytes);
  CHECK_THROWS_AS(Decoder(out.view()).count(1), CorruptBytes);
  CHECK_THROWS_AS(Decoder(out.view()).expect_end(), CorruptBytes);
}
