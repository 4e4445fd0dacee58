#include "rules.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "code.hpp"

using namespace millrace::tidy;

namespace {

std::string first_rule_broken(std::string_view path, std::string_view source) {
  const auto found = violations_in(path, source);
  return found.empty() ? "" : std::string(found.front().rule);
}

}  // namespace

TEST_CASE("comments and texts are no code", "[tidy]") {
  CHECK(code_of("int a; // std::thread\nint b;") == "int a;               \nint b;");
  CHECK(code_of("a /* x\ny */ b") == "a     \n     b");
  CHECK(code_of(R"(f("std::thread", 'x', 1'000);)") == R"(f(             ,    , 1'000);)");
  CHECK(code_of("f(\"a\\\"b\", c)") == "f(      , c)");
  CHECK(code_of("R\"x(a\"b)x\" c") == "           c");
  CHECK(code_of("#include \"a.hpp\"") == "#include \"a.hpp\"");
}

TEST_CASE("each rule convicts what it is about, and nothing where it is allowed", "[tidy]") {
  struct Sample {
    std::string path;
    std::string source;
    std::string rule;
  };
  for (const Sample& sample : {
           Sample{"sim/a.cpp", "auto t = std::chrono::steady_clock::now();",
                  "time is read through the seam"},
           Sample{"runtime/flow/a.cpp", "std::thread t;", "threads live in the real world"},
           Sample{"sim/a.cpp", "std::mutex m;",
                  "locks and atomics are where both worlds share memory"},
           Sample{"faults/a.cpp", "std::random_device d;", "chance comes from the seam"},
           Sample{"faults/a.cpp", "int r = rand();", "chance comes from the seam"},
           Sample{"properties/src/a.cpp", "std::unordered_map<int, int> m;",
                  "a hash table is looked up and never walked"},
           Sample{"sim/a.cpp", "double rate = 0.5;", "decisions are made of whole numbers"},
           Sample{"corpus/nexmark/src/a.cpp", "double price = 0.5;",
                  "decisions are made of whole numbers"},
           Sample{"runtime/coordinator/a.cpp", "float f;", "decisions are made of whole numbers"},
           Sample{"tests/unit/a.cpp", "assert(x);", "invariants hold in every build"},
           Sample{"sim/a.cpp", "#ifdef NDEBUG", "invariants hold in every build"},
           Sample{"runtime/a.cpp", "try {} catch (...) {}",
                  "nobody swallows what he does not know"},
           Sample{"sim/src/task.cpp", "#include <boost/context/fiber.hpp>",
                  "one file knows the fibers' library"},
           Sample{"properties/src/a.cpp", "#include <sqlite3.h>",
                  "two places know SQLite's interface"},
           Sample{"properties/src/a.cpp", "#include <toml++/toml.h>",
                  "one file knows TOML's library"},
           Sample{"runtime/files/src/a.cpp", "#include <unistd.h>",
                  "the operating system is called by the real world"},
           Sample{"sim/a.cpp",
                  "// FIX"
                  "ME: later",
                  "nothing is promised for later"},
       }) {
    CAPTURE(sample.path, sample.source);
    CHECK(first_rule_broken(sample.path, sample.source) == sample.rule);
  }
  CHECK(first_rule_broken("runtime/posix/src/a.cpp", "std::thread t; std::mutex m;").empty());
  CHECK(first_rule_broken("runtime/operators/a.cpp", "double sum = 0;").empty());
  CHECK(first_rule_broken("sim/src/fiber.cpp", "#include <boost/context/fiber.hpp>").empty());
  CHECK(first_rule_broken("sim/a.cpp", "int strand; // double, assert(x)").empty());
}

TEST_CASE("a violation is told by its line", "[tidy]") {
  const auto found = violations_in("sim/a.cpp", "int a;\n\nfloat b;\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 3);
  CHECK(found[0].text == "float");
}
