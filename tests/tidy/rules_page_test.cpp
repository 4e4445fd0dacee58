#include "rules_page.hpp"

#include <catch2/catch.hpp>

using namespace millrace::tidy;

namespace {

using Texts = std::vector<std::string>;

/// A project of two tests, one file and one section.
const Tree& small_project() {
  static const Tree tree{
      {"corpus/mutants/bug.toml", ""},
      {"runtime/PROTOCOL.md", "# The protocol\n\n## 1. One register\n"},
      {"tests/unit/a/CMakeLists.txt", "# Tests.\nmillrace_test(unit_a\n  SOURCES a_test.cpp)\n"},
      {"tests/unit/a/a_test.cpp",
       "TEST_CASE(\"one\", \"[a]\") {}\n"
       "TEST_CASE(\n    \"a \\\"long\\\" name \"\n    \"of two parts\",\n    \"[a]\") {}\n"}};
  return tree;
}

/// What is said of a page that counts its rules as it should.
Texts complaints(const std::string& count, const std::string& rows) {
  return wrong_on_page("# Rules\n\n" + count + "\n\n| id | rule | held by |\n" + rows,
                       small_project());
}

/// What is said of one rule that is held, with these rows below it.
Texts complaints_about_held(const std::string& rows) {
  return complaints("1 rules: 1 are held, 0 replaced, 0 open.", "| AB-1 | Text. | held |\n" + rows);
}

}  // namespace

TEST_CASE("whatever the page of rules names is there", "[tidy]") {
  const Tree project = read_tree(MILLRACE_ROOT);
  for (const std::string& wrong : wrong_on_page(project.at("runtime/RULES.md"), project)) {
    FAIL_CHECK(wrong);
  }
}

TEST_CASE("a page of rules may name tests, files and sections", "[tidy]") {
  CHECK(complaints("4 rules: 2 are held, 1 replaced, 1 open.",
                   "| AB-1 | Text. | held |\n"
                   "| | | `unit_a: one` |\n"
                   "| | | `unit_a: a \"long\" name of two parts` |\n"
                   "| AB-2 | Text. | held |\n"
                   "| | | `corpus/mutants/bug` and `corpus/mutants/bug.toml` |\n"
                   "| CD-1 | Text. | replaced |\n"
                   "| | | PROTOCOL 1.7: another way |\n"
                   "| CD-2 | Text. | open |\n"
                   "| | | nothing is there |\n") == Texts{});
}

TEST_CASE("a page of rules is convicted of what it names and is not there", "[tidy]") {
  for (const std::string name :
       {"unit_a: two", "unit_b: one", "unit_a: of two parts", "one", "corpus/mutants/another"}) {
    CAPTURE(name);
    CHECK(complaints_about_held("| | | `" + name + "` |\n") ==
          Texts{"AB-1: `" + name + "` is not there"});
  }
  CHECK(complaints_about_held("| | | `unit_a: one`; PROTOCOL 2.1: no |\n") ==
        Texts{"AB-1: PROTOCOL 2 is not there"});
}

TEST_CASE("a page of rules is convicted of a rule that nothing is said to hold", "[tidy]") {
  CHECK(complaints_about_held("") == Texts{"AB-1: nothing says what holds it"});
  CHECK(complaints_about_held("| | | a test |\n") == Texts{"AB-1: nothing says what holds it"});
  CHECK(complaints("2 rules: 0 are held, 1 replaced, 1 open.",
                   "| AB-1 | Text. | replaced |\n"
                   "| AB-2 | Text. | open |\n"
                   "| | | nothing is there |\n") == Texts{"AB-1: nothing says what holds it"});
}

TEST_CASE("a page of rules is convicted of numbers and counts that are wrong", "[tidy]") {
  const auto open = [](const std::string& id) {
    return "| " + id + " | Text. | open |\n| | | why |\n";
  };
  const std::string two = "2 rules: 0 are held, 0 replaced, 2 open.";

  CHECK(complaints(two, open("AB-1") + open("AB-1")) ==
        Texts{"AB-1 stands where AB-2 is expected"});
  CHECK(complaints(two, open("AB-1") + open("AB-3")) ==
        Texts{"AB-3 stands where AB-2 is expected"});
  CHECK(complaints(two, open("AB-2") + open("AB-3")) ==
        Texts{"AB-2 stands where AB-1 is expected"});
  CHECK(complaints(two, open("AB-1")) ==
        Texts{"it does not say: 1 rules: 0 are held, 0 replaced, 1 open."});
  CHECK(complaints("0 rules: 0 are held, 0 replaced, 0 open.", "| AB-1 | Text. | done |\n") ==
        Texts{"this cannot be read: | AB-1 | Text. | done |"});
}
