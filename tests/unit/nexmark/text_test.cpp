#include "millrace/nexmark/text.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/nexmark/generator.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

const std::string a_bid =
    R"({"kind":"bid","auction":1000,"bidder":1001,"price":4217,"at":1436918400000})";
const std::string a_person =
    R"({"kind":"person","id":1000,"name":"Peter Jones","city":"Kent","state":"WY","at":-5})";

void refuses(std::string line, const std::string& text) {
  EventParser parser;
  CHECK_THROWS_WITH(parser.parse(line), Catch::Contains(text));
  CHECK_THROWS_AS(parser.parse(line), JobFailed);
  CHECK(parser.parse(a_bid) == event_of(Bid{1000, 1001, 4217, {1'436'918'400'000}}));
}

std::string with(std::string line, const std::string& part, const std::string& other) {
  return line.replace(line.find(part), part.size(), other);
}

}  // namespace

TEST_CASE("an event is one flat line", "[nexmark][text]") {
  CHECK(to_text(event_of(Bid{1000, 1001, 4217, {1'436'918'400'000}})) == a_bid);
  CHECK(to_text(event_of(Person{1000, {-5}, 7, 8, 5})) == a_person);
  CHECK(to_text(event_of(Auction{1, 2, 10, 3, 4, {5}, {6}})) ==
        R"({"kind":"auction","id":1,"seller":2,"category":10,"initial_bid":3,"reserve":4,)"
        R"("at":5,"expires":6})");
}

TEST_CASE("an event and its texts come back from their line", "[nexmark][text]") {
  const Generator generator({.generators = 1});
  EventParser parser;
  for (std::int64_t i = 0; i < 5'000; ++i) {
    Texts texts;
    const Event event = generator.at(i, texts);
    Texts read;
    REQUIRE(parser.parse(to_text(event)) == event);
    REQUIRE(parser.parse(to_text(event, texts), read) == event);
    REQUIRE(read == texts);
  }
}

TEST_CASE("any character comes back", "[nexmark][text]") {
  const Event event = event_of(Bid{1, 2, 3, {4}});
  Texts texts;
  texts.extra = std::string("\0\x1f\n\"\\/\x7f", 7) + "\u00e9\u20ac";
  Texts read;
  CHECK(EventParser().parse(to_text(event, texts), read) == event);
  CHECK(read == texts);
}

TEST_CASE("fields may come in any order, and spaces between them", "[nexmark][text]") {
  CHECK(EventParser().parse(R"( {"at": 4, "price":3 ,"bidder":2,"auction":1, "kind":"bid"} )") ==
        event_of(Bid{1, 2, 3, {4}}));
}

TEST_CASE("a line that is no event is refused by what is wrong with it", "[nexmark][text]") {
  refuses("", "this is not JSON");
  refuses(a_bid.substr(0, a_bid.size() - 1), "this is not JSON");
  refuses(a_bid + a_bid, "this is not JSON");
  refuses("[1]", "a JSON object is expected");
  refuses("{}", "the field `kind`: a string is expected");
  refuses(with(a_bid, "\"bid\"", "\"offer\""), "the field `kind`: person, auction or bid");
  refuses(with(a_bid, ",\"price\":4217", ""), "the field `price`: an integer from 0");
  refuses(with(a_bid, "4217", "4217.0"), "the field `price`: an integer from 0");
  refuses(with(a_bid, "4217", "-1"), "the field `price`: an integer from 0");
  refuses(with(a_bid, "4217", "9223372036854775808"), "the field `price`: an integer from 0");
  refuses(with(a_bid, "4217", "null"), "the field `price`: an integer from 0");
  refuses(with(a_bid, "1436918400000", "253402300800000"), "the field `at`: an integer from -62");
  refuses(with(a_bid, "}", ",\"price\":4217}"), "the field `price` stands there twice");
  refuses(with(a_bid, "}", ",\"item\":\"\"}"), "the field `item` is not known here");
  refuses(with(a_bid, "}", ",\"extra\":1}"), "the field `extra`: a string is expected");
  refuses(with(a_person, "Jones", "Jonas"), "the field `name`: one of those");
  refuses(with(a_person, " Jones", ""), "the field `name`: one of those");
  refuses(with(a_person, "Kent", "kent"), "the field `city`: one of those");
  refuses(with(a_person, "WY", ""), "the field `state`: one of those");
}
