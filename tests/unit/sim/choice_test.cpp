#include "millrace/sim/choice.hpp"

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

using namespace millrace;
using namespace millrace::sim;

namespace {

constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();

std::string complaint_of(const std::string& text) {
  try {
    (void)parse_choice(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a choice is a line that says which draw it is, and what", "[sim][choice]") {
  const Choice latency{Domain::world, "network.latency", "worker1/source.0/life1", 0, 3, 417};
  CHECK(to_text(latency) ==
        "world site=network.latency entity=worker1/source.0/life1 draw=3 value=417");
  const Choice lane{Domain::product, "inbox.lane", "worker2/window.1/life2", 5, 0, 1};
  CHECK(to_text(lane) ==
        "product site=inbox.lane entity=worker2/window.1/life2 part=5 draw=0 value=1");
  const Choice spaced{Domain::input, "arrivals.pause", "all that arrives", 0, 0, 1};
  CHECK(to_text(spaced) == "input site=arrivals.pause entity='all that arrives' draw=0 value=1");
}

TEST_CASE("a choice that is written and read is the same", "[sim][choice]") {
  for (const Domain domain : {Domain::input, Domain::plan, Domain::world, Domain::product}) {
    for (const std::string& name : std::vector<std::string>{"a", "two words", "a=b", "a>b/back"}) {
      for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{17}, highest}) {
        const Choice choice{domain, name, name, static_cast<std::uint32_t>(number), number, number};
        CAPTURE(to_text(choice));
        CHECK(parse_choice(to_text(choice)) == choice);
      }
    }
  }
}

TEST_CASE("the words of a choice stand in any order", "[sim][choice]") {
  CHECK(parse_choice("  world value=1  draw=2 part=3 entity='b' site=a ") ==
        Choice{Domain::world, "a", "b", 3, 2, 1});
}

TEST_CASE("what is no choice is refused with what was expected", "[sim][choice]") {
  const std::string number = ": a whole number from 0 to 18446744073709551615 is expected";
  struct Mistake {
    std::string text;
    std::string what;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {"", "input, plan, world or product is expected, not ``"},
           {"word site=a entity=b draw=0 value=1",
            "input, plan, world or product is expected, not `word`"},
           {"world entity=b draw=0 value=1", "`site=` is missing"},
           {"world site=a draw=0 value=1", "`entity=` is missing"},
           {"world site=a entity=b value=1", "`draw=` is missing"},
           {"world site=a entity=b draw=0", "`value=` is missing"},
           {"world site=a entity= draw=0 value=1", "`entity=` is empty; a name is expected"},
           {"world site=a entity=b draw=x value=1", "`draw=x`" + number},
           {"world site=a entity=b draw=0 value=-1", "`value=-1`" + number},
           {"world site=a entity=b draw=0 value=1ms", "`value=1ms`" + number},
           {"world site=a entity=b draw=0 value=18446744073709551616",
            "`value=18446744073709551616`" + number},
           {"world site=a entity=b part=0 draw=0 value=1",
            "`part=0`: a whole number from 1 to 4294967295 is expected"},
           {"world site=a site=a entity=b draw=0 value=1", "`site` stands there twice"},
           {"world site=a entity='b draw=0 value=1", "a quote does not end"},
           {"world site=a entity=b draw=0 value=1 more", "name=value is expected"},
           {"world site=a entity=b draw=0 value=1 bound=7",
            "`bound=` is not known; site, entity, part, draw and value are"},
       }) {
    CHECK(complaint_of(mistake.text) == "choice `" + mistake.text + "`: " + mistake.what);
  }
}
