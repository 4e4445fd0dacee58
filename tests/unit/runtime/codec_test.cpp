#include "millrace/runtime/state/codec.hpp"

#include <limits>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "millrace/runtime/row.hpp"
#include "millrace/runtime/state/checkpoint_codec.hpp"

using namespace millrace;

namespace {

enum class Color : std::uint8_t { red = 1, green = 2 };
enum class Level : std::int32_t { low = -1, high = 1 };

struct Empty {
  friend bool operator==(Empty, Empty) = default;
};
struct Point {
  std::int32_t x = 0;
  std::int32_t y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
struct Padded {
  std::uint8_t small = 0;
  std::int64_t large = 0;
  friend bool operator==(const Padded&, const Padded&) = default;
};
struct Nested {
  std::string name;
  std::vector<Point> path;
  std::optional<Padded> extra;
  std::variant<std::int64_t, std::string> choice;
  friend bool operator==(const Nested&, const Nested&) = default;
};
struct Sixteen {
  std::uint8_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
  friend bool operator==(const Sixteen&, const Sixteen&) = default;
};
struct SwappedPadded {
  std::int64_t large = 0;
  std::uint8_t small = 0;
};
struct PointAndMore {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;
};
struct PointInside {
  Point point;
  std::int32_t z = 0;
};

/// Lies in memory as it is written by default, and has a Codec of its own.
struct Money {
  std::int64_t cents = 0;
  friend bool operator==(const Money&, const Money&) = default;
};
struct Purse {
  Money money;
  std::int64_t owner = 0;
};

}  // namespace

template <>
struct millrace::Codec<Money> {
  static void encode(Encoder& out, const Money& value) { out.text(std::to_string(value.cents)); }
  static void decode(Decoder& in, Money& value) {
    value.cents = std::stoll(std::string(in.text()));
  }
  static std::string shape() { return "money"; }
};

namespace {

template <class T>
Bytes encoded(const T& value) {
  Encoder out;
  encode(out, value);
  return out.take();
}

template <class T>
T there_and_back(const T& value) {
  const Bytes bytes = encoded(value);
  Decoder in(bytes);
  T read = decoded<T>(in);
  in.expect_end();
  return read;
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

template <class T>
T decoded_from(std::initializer_list<int> values) {
  const Bytes bytes = bytes_of(values);
  Decoder in(bytes);
  return decoded<T>(in);
}

}  // namespace

TEST_CASE("values of every kind survive being written and read back", "[runtime][codec]") {
  CHECK(there_and_back(std::int8_t{-1}) == -1);
  CHECK(there_and_back(std::uint16_t{65'535}) == 65'535);
  CHECK(there_and_back(std::numeric_limits<std::int64_t>::min()) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(there_and_back(true));
  CHECK_FALSE(there_and_back(false));
  CHECK(there_and_back(-0.5) == -0.5);
  CHECK(there_and_back(0.25F) == 0.25F);
  CHECK((there_and_back(Int128{-1} << 100) == Int128{-1} << 100));
  CHECK(there_and_back(Color::green) == Color::green);
  CHECK(there_and_back(Level::low) == Level::low);
  CHECK(there_and_back(EventTime{-7}) == EventTime{-7});
  CHECK(there_and_back(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(there_and_back(std::vector<std::string>{"", "x"}) == std::vector<std::string>{"", "x"});
  CHECK(there_and_back(std::array<Point, 2>{Point{1, 2}, Point{3, 4}}) ==
        std::array<Point, 2>{Point{1, 2}, Point{3, 4}});
  CHECK(there_and_back(std::optional<std::int64_t>{}) == std::nullopt);
  CHECK(there_and_back(std::optional<std::int64_t>{3}) == 3);
  CHECK(there_and_back(std::tuple<Point, std::string>{{1, 2}, "x"}) ==
        std::tuple<Point, std::string>{{1, 2}, "x"});
  CHECK(there_and_back(std::pair<Color, std::string>{Color::red, "x"}) ==
        std::pair<Color, std::string>{Color::red, "x"});
  CHECK(there_and_back(std::map<std::string, Point>{}).empty());
  CHECK(there_and_back(std::map<std::string, Point>{{"b", {1, 2}}, {"a", {3, 4}}}) ==
        std::map<std::string, Point>{{"a", {3, 4}}, {"b", {1, 2}}});
  CHECK(there_and_back(std::set<std::int32_t>{3, -1, 2}) == std::set<std::int32_t>{-1, 2, 3});
  CHECK(there_and_back(std::set<std::pair<std::uint8_t, std::string>>{{2, ""}, {1, "x"}}) ==
        std::set<std::pair<std::uint8_t, std::string>>{{1, "x"}, {2, ""}});
  CHECK(there_and_back(Empty{}) == Empty{});
  CHECK(there_and_back(Point{-1, 2}) == Point{-1, 2});
  CHECK(there_and_back(Padded{1, -2}) == Padded{1, -2});
  const Sixteen sixteen{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  CHECK(there_and_back(sixteen) == sixteen);
  CHECK(there_and_back(CheckpointId{{3}, 4}) == CheckpointId{{3}, 4});
  for (const auto& choice : {std::variant<std::int64_t, std::string>{7},
                             std::variant<std::int64_t, std::string>{"text"}}) {
    const Nested nested{"name", {{1, 2}, {3, 4}}, Padded{5, 6}, choice};
    CHECK(there_and_back(nested) == nested);
  }
}

TEST_CASE("values are little endian, without padding, with counts before lists",
          "[runtime][codec]") {
  CHECK(encoded(std::int32_t{-2}) == bytes_of({0xFE, 0xFF, 0xFF, 0xFF}));
  CHECK(encoded(Padded{1, 2}) == bytes_of({1, 2, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(encoded(Point{1, 2}) == bytes_of({1, 0, 0, 0, 2, 0, 0, 0}));
  CHECK(encoded(std::string("ab")) == bytes_of({2, 0, 0, 0, 'a', 'b'}));
  CHECK(encoded(std::vector<std::uint8_t>{7, 8}) == bytes_of({2, 0, 0, 0, 7, 8}));
  CHECK(encoded(std::array<std::uint8_t, 2>{7, 8}) == bytes_of({7, 8}));
  CHECK(encoded(std::optional<std::uint8_t>{}) == bytes_of({0}));
  CHECK(encoded(std::optional<std::uint8_t>{9}) == bytes_of({1, 9}));
  CHECK(encoded(std::variant<std::int64_t, std::uint8_t>{std::uint8_t{9}}) == bytes_of({1, 9}));
  CHECK(encoded(std::set<std::uint8_t>{9, 7}) == bytes_of({2, 0, 0, 0, 7, 9}));
  CHECK(encoded(std::map<std::uint8_t, bool>{{9, true}, {7, false}}) ==
        bytes_of({2, 0, 0, 0, 7, 0, 9, 1}));
  CHECK(encoded(Color::green) == bytes_of({2}));
  CHECK(encoded(Empty{}).empty());
}

TEST_CASE("a codec of one's own is used wherever the type stands", "[runtime][codec]") {
  CHECK(encoded(Money{7}) == bytes_of({1, 0, 0, 0, '7'}));
  CHECK(there_and_back(Purse{{12}, 3}).money == Money{12});
  static_assert(Plain<Point> && Plain<PointInside> && Plain<std::array<Point, 2>>);
  static_assert(!Plain<Money> && !Plain<Purse> && !Plain<Padded>);
}

TEST_CASE("maps and sets whose keys do not ascend are refused", "[runtime][codec]") {
  using Set = std::set<std::uint8_t>;
  using Map = std::map<std::uint8_t, std::uint8_t>;
  CHECK(decoded_from<Set>({2, 0, 0, 0, 1, 2}) == Set{1, 2});
  CHECK_THROWS_AS(decoded_from<Set>({2, 0, 0, 0, 2, 1}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Set>({2, 0, 0, 0, 1, 1}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Set>({3, 0, 0, 0, 1, 3, 2}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Map>({2, 0, 0, 0, 1, 5, 1, 6}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Map>({2, 0, 0, 0, 2, 5, 1, 6}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Map>({2, 0, 0, 0, 1, 5, 2}), CorruptBytes);
}

TEST_CASE("bytes that end too early, or say what cannot be, are refused", "[runtime][codec]") {
  CHECK_THROWS_AS(decoded_from<std::int32_t>({1, 2, 3}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<std::string>({3, 0, 0, 0, 'a', 'b'}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Point>({1, 0, 0, 0, 2, 0, 0}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<std::optional<std::uint8_t>>({1}), CorruptBytes);
  using Choice = std::variant<std::uint8_t, std::int64_t>;
  CHECK(std::get<std::uint8_t>(decoded_from<Choice>({0, 5})) == 5);
  CHECK_THROWS_AS(decoded_from<Choice>({2, 5}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<Choice>({255, 5}), CorruptBytes);
}

TEST_CASE("a list that says it is longer than what is left asks for no memory",
          "[runtime][codec]") {
  using List = std::vector<std::array<std::uint64_t, 1000>>;
  CHECK_THROWS_AS(decoded_from<List>({255, 255, 255, 255}), CorruptBytes);
  CHECK_THROWS_AS(decoded_from<std::vector<std::uint8_t>>({3, 0, 0, 0, 1, 2}), CorruptBytes);
  CHECK(decoded_from<std::vector<std::uint8_t>>({2, 0, 0, 0, 1, 2}).size() == 2);
}

TEST_CASE("any byte but 0 is true", "[runtime][codec]") {
  CHECK_FALSE(decoded_from<bool>({0}));
  CHECK(decoded_from<bool>({1}));
  CHECK(decoded_from<bool>({2}) == true);
  CHECK(decoded_from<std::optional<std::uint8_t>>({255, 9}) == 9);
}

TEST_CASE("shapes differ when types differ", "[runtime][codec]") {
  const std::map<std::string, std::string> shapes{
      {"int8", shape<std::int8_t>()},
      {"uint8", shape<std::uint8_t>()},
      {"int32", shape<std::int32_t>()},
      {"uint32", shape<std::uint32_t>()},
      {"int64", shape<std::int64_t>()},
      {"uint64", shape<std::uint64_t>()},
      {"float", shape<float>()},
      {"double", shape<double>()},
      {"int128", shape<Int128>()},
      {"time", shape<EventTime>()},
      {"text", shape<std::string>()},
      {"list of int64", shape<std::vector<std::int64_t>>()},
      {"list of text", shape<std::vector<std::string>>()},
      {"list of lists", shape<std::vector<std::vector<std::int64_t>>>()},
      {"array of 2", shape<std::array<std::int64_t, 2>>()},
      {"array of 3", shape<std::array<std::int64_t, 3>>()},
      {"array of 2 arrays of 3", shape<std::array<std::array<std::int64_t, 3>, 2>>()},
      {"array of 3 arrays of 2", shape<std::array<std::array<std::int64_t, 2>, 3>>()},
      {"optional", shape<std::optional<std::int64_t>>()},
      {"variant", shape<std::variant<std::int64_t, std::string>>()},
      {"variant the other way round", shape<std::variant<std::string, std::int64_t>>()},
      {"tuple", shape<std::tuple<std::int64_t, std::string>>()},
      {"empty struct", shape<Empty>()},
      {"struct", shape<Padded>()},
      {"struct with members swapped", shape<SwappedPadded>()},
      {"struct of two", shape<Point>()},
      {"struct of three", shape<PointAndMore>()},
      {"struct of two inside", shape<PointInside>()},
      {"row", shape<Row>()},
  };
  for (const auto& [name, one] : shapes) {
    for (const auto& [other_name, other] : shapes) {
      CAPTURE(name, other_name);
      CHECK((one == other) == (name == other_name));
    }
  }
}

TEST_CASE("a shape tells truth values and enumerations from numbers of their size",
          "[runtime][codec]") {
  CHECK(shape<bool>() != shape<std::uint8_t>());
  CHECK(shape<Color>() != shape<std::uint8_t>());
  CHECK(shape<Level>() != shape<std::int32_t>());
  CHECK(shape<Level>() != shape<std::uint32_t>());
}

// Part of what is stored beside state. They may never change.
TEST_CASE("shapes are what they have always been", "[runtime][codec]") {
  CHECK(shape<std::int64_t>() == "int64");
  CHECK(shape<std::uint8_t>() == "uint8");
  CHECK(shape<double>() == "float64");
  CHECK(shape<Int128>() == "int128");
  CHECK(shape<bool>() == "bool");
  CHECK(shape<Level>() == "enum of int32");
  CHECK(shape<EventTime>() == "time");
  CHECK(shape<std::string>() == "text");
  CHECK(shape<std::vector<std::uint64_t>>() == "list of uint64");
  CHECK(shape<std::array<bool, 3>>() == "3 of bool");
  CHECK(shape<std::set<std::string>>() == "set of text");
  CHECK(shape<std::map<std::string, std::int64_t>>() == "map of text to int64");
  CHECK(shape<std::pair<std::string, float>>() == "{text, float32}");
  CHECK(shape<Empty>() == "{}");
  CHECK(shape<Nested>() ==
        "{text, list of {int32, int32}, optional {uint8, int64}, one of (int64, text)}");
  CHECK(shape<Purse>() == "{money, int64}");
  CHECK(shape<Row>() == "row");
}
