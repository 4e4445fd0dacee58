#include "millrace/env/hash.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

// These values are part of formats and of the meaning of seeds. They may never change.
TEST_CASE("hashes are what they have always been", "[env][hash]") {
  CHECK(checksum("") == 0x2D06800538D394C2U);
  CHECK(checksum("millrace") == checksum(std::as_bytes(std::span("millrace", 8))));
  CHECK(mix64(0) == 0x0850F9794D5108B4U);
  CHECK(mix64(1) == 0x1155780EEDA5205EU);
  CHECK(hash_name("") == 0x169180786FA941D5U);
  CHECK(hash_name("flow.lane") == 0xD951709C7CB7DD55U);
}
