#include "millrace/faults/simpler.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::faults;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

Texts simpler_texts(const std::string& fault) {
  Texts texts;
  for (const Fault& simpler : simpler_than(parse_fault(fault))) texts.push_back(to_text(simpler));
  return texts;
}

Texts shorter_texts(std::chrono::nanoseconds span) {
  Texts texts;
  for (const auto shorter : shorter_than(span)) texts.push_back(to_text(shorter));
  return texts;
}

}  // namespace

TEST_CASE("shorter spans are round: powers of ten, then the next shorter one",
          "[faults][simpler]") {
  CHECK(shorter_texts(6112ms) == Texts{"1ms", "10ms", "100ms", "1s", "5s"});
  CHECK(shorter_texts(5s) == Texts{"1ms", "10ms", "100ms", "1s", "2s"});
  CHECK(shorter_texts(2s) == Texts{"1ms", "10ms", "100ms", "1s"});
  CHECK(shorter_texts(1s) == Texts{"1ms", "10ms", "100ms", "500ms"});
  CHECK(shorter_texts(11ms) == Texts{"1ms", "10ms"});
  CHECK(shorter_texts(10ms) == Texts{"1ms", "5ms"});
  CHECK(shorter_texts(2ms) == Texts{"1ms"});
  CHECK(shorter_texts(1ms).empty());
  CHECK(shorter_texts(17ns).empty());
  CHECK(shorter_texts(0s).empty());
  // No span is too long to be shortened.
  CHECK(shorter_than(std::chrono::nanoseconds::max()).back() < std::chrono::nanoseconds::max());
}

TEST_CASE("lower numbers are the least, the one half way and the next", "[faults][simpler]") {
  using Numbers = std::vector<std::uint64_t>;
  CHECK(lower_than(17, 1) == Numbers{1, 9, 16});
  CHECK(lower_than(4, 1) == Numbers{1, 2, 3});
  CHECK(lower_than(3, 1) == Numbers{1, 2});
  CHECK(lower_than(2, 1) == Numbers{1});
  CHECK(lower_than(1, 1).empty());
  CHECK(lower_than(0, 1).empty());
}

TEST_CASE("a simpler fault happens to the same node, by a milder kind, or shorter, or sooner",
          "[faults][simpler]") {
  CHECK(simpler_texts("pause node=store at=50ms lasts=20ms") ==
        Texts{"pause node=store at=1ms lasts=20ms", "pause node=store at=10ms lasts=20ms",
              "pause node=store at=20ms lasts=20ms", "pause node=store at=50ms lasts=1ms",
              "pause node=store at=50ms lasts=10ms"});
  CHECK(simpler_texts("power_loss node=worker2 at=0s down=2ms") ==
        Texts{"kill node=worker2 at=0s down=2ms", "power_loss node=worker2 at=0s down=1ms"});
  CHECK(simpler_texts("kill node=log at='published' down=1ms").empty());
}

TEST_CASE("a simpler anchor has fewer conditions or lower numbers", "[faults][simpler]") {
  CHECK(simpler_texts("kill node=log at='published nth=3' down=1ms") ==
        Texts{"kill node=log at='published' down=1ms",
              "kill node=log at='published nth=2' down=1ms"});
  CHECK(simpler_texts("kill node=log at='uploaded role=window.1 n=2 life=3' down=1ms") ==
        Texts{"kill node=log at='uploaded' down=1ms",
              "kill node=log at='uploaded n=2 life=3' down=1ms",
              "kill node=log at='uploaded role=window.1 n=2' down=1ms",
              "kill node=log at='uploaded role=window.1 life=3' down=1ms",
              "kill node=log at='uploaded role=window.1 n=1 life=3' down=1ms"});
}

TEST_CASE("making a fault simpler comes to an end, whatever is chosen", "[faults][simpler]") {
  for (const char* text :
       {"power_loss node=worker3 at='sink_staged role=sink.* term=4 n=17 subtask=2 retry=1 life=5 "
        "nth=9' down=3600s",
        "pause node=store at=123456789us lasts=7s"}) {
    for (const bool takes_first : {true, false}) {
      Fault fault = parse_fault(text);
      int steps = 0;
      for (auto list = simpler_than(fault); !list.empty(); list = simpler_than(fault)) {
        fault = takes_first ? list.front() : list.back();
        REQUIRE(++steps < 200);
      }
      INFO(to_text(fault));
      CHECK(steps > 1);
      CHECK(node_of(fault) == node_of(parse_fault(text)));
      CHECK(kind_of(fault) != "power_loss");
    }
  }
}
