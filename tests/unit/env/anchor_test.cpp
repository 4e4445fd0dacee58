#include "millrace/env/anchor.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

using namespace millrace;

namespace {

constexpr Landmark staged{"sink_staged", "rows are staged"};
constexpr Landmark swapped{"head_swapped", "the head was swapped"};

LandmarkFields about(std::uint64_t term, std::uint64_t n) {
  LandmarkFields fields;
  fields.id = {{term}, n};
  return fields;
}

std::string message_of(std::string_view text) {
  try {
    parse_anchor(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an anchor survives being written down and read back", "[env][anchor]") {
  const std::string text = "sink_staged role=sink.* term=1 n=3 subtask=0 retry=2 life=4 nth=5";

  CHECK(to_text(parse_anchor(text)) == text);
  CHECK(to_text(parse_anchor("  head_swapped   nth=1 life=any ")) == "head_swapped");
}

TEST_CASE("an anchor is reached the nth time that all its conditions hold", "[env][anchor]") {
  AnchorWatch watch(parse_anchor("sink_staged role=sink.* term=1 nth=2"));

  CHECK_FALSE(watch.observe(staged, "sink.0", 1, about(1, 1)));
  CHECK_FALSE(watch.observe(swapped, "sink.0", 1, about(1, 1)));   // Another landmark.
  CHECK_FALSE(watch.observe(staged, "window.0", 1, about(1, 2)));  // Another role.
  CHECK_FALSE(watch.observe(staged, "sink.0", 1, about(2, 1)));    // Another term.
  CHECK(watch.observe(staged, "sink.1", 1, about(1, 2)));          // The second that fits.
  CHECK_FALSE(watch.observe(staged, "sink.0", 1, about(1, 3)));    // Only once.
}

TEST_CASE("a word that does not belong into an anchor is named", "[env][anchor]") {
  CHECK(message_of("").find("begins with the name of a landmark") != std::string::npos);
  CHECK(message_of("sink_staged phase=2").find("`phase=2`") != std::string::npos);
  CHECK(message_of("sink_staged n=two").find("`n=two`") != std::string::npos);
  CHECK(message_of("sink_staged nth=0").find("counting begins at 1") != std::string::npos);
}
