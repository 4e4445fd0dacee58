#include "tree.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "rules.hpp"

using namespace millrace::tidy;

namespace {

const Tree& project() {
  static const Tree tree = read_tree(MILLRACE_ROOT);
  return tree;
}

}  // namespace

TEST_CASE("the project keeps its own rules", "[tidy]") {
  REQUIRE(project().size() > 300);
  for (const auto& [path, text] : project()) {
    if (!is_source(path) || path.starts_with("tests/tidy/")) continue;
    for (const Violation& violation : violations_in(path, text)) {
      FAIL_CHECK(
          fmt::format("{}:{}: `{}`: {}", path, violation.line, violation.text, violation.rule));
    }
  }
}

TEST_CASE("every source is built", "[tidy]") {
  CHECK(unbuilt(project()).empty());
  CHECK(unbuilt({{"sim/CMakeLists.txt", "src/a.cpp"}, {"sim/src/a.cpp", ""}}).empty());
  CHECK(unbuilt({{"sim/CMakeLists.txt", "src/a.cpp"}, {"sim/src/b.cpp", ""}}) ==
        std::vector<std::string>{"sim/src/b.cpp"});
}

TEST_CASE("every landmark is reached by the processor", "[tidy]") {
  CHECK(unreached_landmarks(project()).empty());
  Tree tree = project();
  tree["runtime/include/millrace/runtime/landmarks.hpp"] +=
      "inline constexpr Landmark nobody_comes_here{\"x\", \"y\"};";
  CHECK(unreached_landmarks(tree) == std::vector<std::string>{"nobody_comes_here"});
}
