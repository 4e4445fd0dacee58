#include "millrace/env/identity.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

TEST_CASE("checkpoint ids are ordered by term first", "[env][identity]") {
  CHECK(CheckpointId{{1}, 10} > CheckpointId{{1}, 9});
  CHECK(CheckpointId{{2}, 1} > CheckpointId{{1}, 100});
  CHECK(CheckpointId::genesis() < CheckpointId{{1}, 1});
}

TEST_CASE("identities survive being written down and read back", "[env][identity]") {
  const CheckpointId id{{12}, 345};
  const Lineage lineage{0x0123456789ABCDEFU, 7};

  CHECK(to_text(id) == "12.345");
  CHECK(parse_checkpoint_id("12.345") == id);
  CHECK(parse_lineage(to_text(lineage)) == lineage);
  CHECK_FALSE(parse_checkpoint_id("12"));
  CHECK_FALSE(parse_checkpoint_id("12.x"));
  CHECK_FALSE(parse_lineage("12"));
}
