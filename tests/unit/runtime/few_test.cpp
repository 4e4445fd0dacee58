#include "millrace/runtime/state/few.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "draws.hpp"

using namespace millrace;

namespace {

std::vector<std::string> listed(const Few<std::string>& few) {
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < few.size(); ++i) list.push_back(few[i]);
  return list;
}

}  // namespace

TEST_CASE("whatever is put in and taken out, a short list is like a long one", "[runtime][few]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    Few<std::string> few;
    std::vector<std::string> list;
    for (int i = 0; i < 200; ++i) {
      if (list.empty() || draws.below(5) < 2 + list.size() % 2) {
        const auto at = static_cast<std::uint32_t>(draws.below(list.size() + 1));
        CHECK(few.insert(at, std::to_string(i)) == std::to_string(i));
        list.insert(list.begin() + at, std::to_string(i));
      } else {
        const auto at = static_cast<std::uint32_t>(draws.below(list.size()));
        few.erase(at);
        list.erase(list.begin() + at);
      }
      if (draws.one_in(8)) {
        const auto count = static_cast<std::uint32_t>(draws.below(list.size() + 1));
        few.erase_first(count);
        list.erase(list.begin(), list.begin() + count);
      }
      REQUIRE(listed(few) == list);
      REQUIRE(few.empty() == list.empty());
      if (draws.one_in(10)) {
        Few<std::string> copy = few;
        few = copy;
        if (!copy.empty()) copy[0] += "changed";
        REQUIRE(listed(few) == list);
        Few<std::string> moved = std::move(few);
        few = std::move(moved);
        REQUIRE(listed(few) == list);
      }
    }
  }
}

TEST_CASE("a short list is written as any list is", "[runtime][few]") {
  Few<std::string> few;
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < 4; ++i) {
    Encoder short_out;
    encode(short_out, few);
    Encoder long_out;
    encode(long_out, list);
    CHECK(Bytes(short_out.view().begin(), short_out.view().end()) ==
          Bytes(long_out.view().begin(), long_out.view().end()));
    Decoder in(short_out.view());
    CHECK(listed(decoded<Few<std::string>>(in)) == list);
    few.insert(i, std::to_string(i));
    list.push_back(std::to_string(i));
  }
  CHECK(shape<Few<std::string>>() == shape<std::vector<std::string>>());
}
