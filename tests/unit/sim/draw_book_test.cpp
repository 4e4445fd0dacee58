#include "millrace/sim/draw_book.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

using namespace millrace;
using namespace millrace::sim;

namespace {

constexpr Site latency{"network.latency"};
constexpr Site fate{"disk.fate"};
using Values = std::vector<std::uint64_t>;
using Texts = std::vector<std::string>;

Values drawn(Draws& draws, Site site, std::uint64_t bound, std::size_t count,
             std::uint32_t part = 0) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(draws.below(site, bound, part));
  return values;
}

DrawBook book_of(const Texts& choices, DrawBook::Notes notes = DrawBook::Notes::none) {
  DrawBook book(notes);
  for (const std::string& choice : choices) book.add(parse_choice(choice));
  return book;
}

Texts unasked_of(const DrawBook& book) {
  Texts texts;
  for (const Choice& choice : book.unasked()) texts.push_back(to_text(choice));
  return texts;
}

}  // namespace

TEST_CASE("an explicit choice is what is drawn, and moves no other draw", "[sim][draws][choice]") {
  Draws usual({7}, Domain::world, "worker1");
  Values expected = drawn(usual, latency, 1000, 6);
  REQUIRE(expected[2] != 417);
  expected[2] = 417;

  DrawBook book = book_of({"world site=network.latency entity=worker1 draw=2 value=417"});
  Draws draws({7, false, &book}, Domain::world, "worker1");
  CHECK(drawn(draws, latency, 1000, 6) == expected);
}

TEST_CASE("what is not explicit of a quiet run is 0", "[sim][draws][choice]") {
  DrawBook book = book_of({"world site=network.latency entity=worker1 draw=1 value=5",
                           "world site=network.latency entity=worker1 draw=3 value=0"});
  Draws draws({7, true, &book}, Domain::world, "worker1");
  CHECK(drawn(draws, latency, 1000, 5) == Values{0, 5, 0, 0, 0});
}

TEST_CASE("a choice is of one domain, site, entity and part", "[sim][draws][choice]") {
  DrawBook book = book_of({"world site=network.latency entity=worker1 part=2 draw=0 value=9"});
  const Seed seed{7, true, &book};
  Draws draws(seed, Domain::world, "worker1");
  Draws other_domain(seed, Domain::product, "worker1");
  Draws other_entity(seed, Domain::world, "worker2");

  CHECK(other_domain.below(latency, 1000, 2) == 0);
  CHECK(other_entity.below(latency, 1000, 2) == 0);
  CHECK(draws.below(fate, 1000, 2) == 0);
  CHECK(draws.below(latency, 1000) == 0);
  CHECK(draws.below(latency, 1000, 1) == 0);
  CHECK(unasked_of(book).size() == 1);
  CHECK(draws.below(latency, 1000, 2) == 9);
  CHECK(unasked_of(book).empty());
}

TEST_CASE("a choice above what its draw allows is the most that it allows",
          "[sim][draws][choice]") {
  DrawBook book = book_of({"world site=network.latency entity=worker1 draw=0 value=10",
                           "world site=network.latency entity=worker1 draw=1 value=10",
                           "world site=network.latency entity=worker1 draw=2 value=10"});
  Draws draws({7, true, &book}, Domain::world, "worker1");

  CHECK(draws.below(latency, 11) == 10);
  CHECK(draws.below(latency, 10) == 9);
  CHECK(draws.below(latency, 1) == 0);
  CHECK(unasked_of(book).empty());
}

TEST_CASE("choices that nobody asked for are told in their order", "[sim][draws][choice]") {
  const std::string late = "world site=network.latency entity=worker1 draw=3 value=2";
  const std::string other = "input site=disk.fate entity=worker9 draw=0 value=1";
  DrawBook book =
      book_of({late, "world site=network.latency entity=worker1 draw=1 value=7", other});
  Draws draws({7, true, &book}, Domain::world, "worker1");

  CHECK(drawn(draws, latency, 1000, 3) == Values{0, 7, 0});
  CHECK(unasked_of(book) == Texts{late, other});
}

TEST_CASE("two choices of one draw are refused", "[sim][draws][choice]") {
  DrawBook book = book_of({"world site=a entity=b draw=0 value=1"});
  book.add(parse_choice("world site=a entity=b draw=1 value=1"));
  CHECK_THROWS_WITH(book.add(parse_choice("world site=a entity=b draw=0 value=2")),
                    "choice `world site=a entity=b draw=0 value=2`: there is another of the same "
                    "draw");
}

TEST_CASE("a book notes all draws that were not 0, in their order", "[sim][draws][choice]") {
  DrawBook book = book_of({"product site=disk.fate entity=worker2 part=3 draw=1 value=70"},
                          DrawBook::Notes::draws);
  Draws seeded({1, false, &book}, Domain::world, "worker1/worker1/life1");
  Draws quiet({1, true, &book}, Domain::product, "worker2");
  CHECK(drawn(seeded, latency, 1000, 2) == Values{610, 303});
  CHECK(drawn(quiet, fate, 50, 2, 3) == Values{0, 49});
  CHECK(seeded.below(fate, 1) == 0);

  CHECK(book.drawn() ==
        std::vector<Drawn>{
            {{Domain::world, "network.latency", "worker1/worker1/life1", 0, 0, 610}, 1000},
            {{Domain::world, "network.latency", "worker1/worker1/life1", 0, 1, 303}, 1000},
            {{Domain::product, "disk.fate", "worker2", 3, 1, 49}, 50}});
}

TEST_CASE("a role that is started again draws the same again, which is noted once",
          "[sim][draws][choice]") {
  DrawBook book(DrawBook::Notes::draws);
  for (int life = 0; life < 2; ++life) {
    Draws draws({1, false, &book}, Domain::world, "worker1/worker1/life1");
    CHECK(drawn(draws, latency, 1000, 2) == Values{610, 303});
  }
  CHECK(book.drawn().size() == 2);
}

TEST_CASE("a book without notes has none", "[sim][draws][choice]") {
  DrawBook book = book_of({"world site=network.latency entity=worker1 draw=0 value=5"});
  Draws draws({7, false, &book}, Domain::world, "worker1");
  CHECK(draws.below(latency, 1000) == 5);
  CHECK(book.drawn().empty());
}

TEST_CASE("what is drawn of a book that was noted is the same again without the seed",
          "[sim][draws][choice]") {
  const auto all = [](Draws& draws) {
    Values values = drawn(draws, latency, 700, 20);
    for (const std::uint64_t value : drawn(draws, fate, 3, 20, 1)) values.push_back(value);
    return values;
  };
  DrawBook notes(DrawBook::Notes::draws);
  Draws seeded({77, false, &notes}, Domain::world, "worker1");
  const Values expected = all(seeded);

  DrawBook book;
  for (const Drawn& one : notes.drawn()) book.add(one.choice);
  Draws quiet({0, true, &book}, Domain::world, "worker1");
  CHECK(all(quiet) == expected);
  CHECK(book.unasked().empty());
}
