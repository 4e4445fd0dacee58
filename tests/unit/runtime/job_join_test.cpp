#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/job_file.hpp"

#include "damage.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

/// The join stands on line 15, what follows it on 16.
std::string text_of(const std::string& join, const std::string& more = "") {
  return "[job]\nname = \"j\"\n"
         "[sources.bids]\nformat = \"jsonl\"\nfiles = \"bids/*\"\n"
         "fields = { auction = \"int64\", who = \"string?\", at = \"int64\", price = \"float64\" "
         "}\n"
         "event_time = \"at\"\n"
         "[sources.asks]\nformat = \"jsonl\"\nfiles = \"asks/*\"\n"
         "fields = { auction = \"int64?\", name = \"string\", time = \"int64\", low = \"float64\" "
         "}\n"
         "event_time = \"time\"\n"
         "[[step]]\nname = \"pairs\"\n"
         "join = { left = \"bids\", right = \"asks\", " +
         join + " }\n" + more + "\n[sink]\ntable = \"t\"\ndatabase = \"j.db\"\n";
}
JobSpec parse(const std::string& join, const std::string& more = "") {
  return parse_job_file(text_of(join, more), "j.toml");
}
JoinSpec join_of(const std::string& join, const std::string& more = "") {
  return std::get<JoinSpec>(parse(join, more).steps.front().work);
}
std::string complaint(const std::string& join, const std::string& more = "") {
  return message_of<UsageError>([&] { parse(join, more); });
}

const std::string key = R"(left_key = ["auction"], right_key = ["auction"], )";
const std::string at = "j.toml:15: ";

Texts columns_of(const JobSpec& spec) {
  Texts names;
  const std::vector<JobTable> tables = tables_of(spec);
  for (const auto& column : tables.front().schema.columns) {
    names.push_back(column.name + (column.nullable ? "?" : ""));
  }
  return names;
}

}  // namespace

TEST_CASE("a join is by windows or by distance", "[runtime][job_file][join]") {
  const JoinSpec hours = join_of(key + R"(tumbling = "1h", offset = "5min")");
  REQUIRE(hours.window);
  CHECK(hours.window->kind == WindowShape::Kind::tumbling);
  CHECK(hours.window->size == 1h);
  CHECK(hours.window->offset == 5min);
  CHECK(join_of(key + R"(sliding = "10s", slide = "3s")").window->slide == 3s);
  const JoinSpec near = join_of(key + R"(between = ["-5min", "1h"])");
  CHECK_FALSE(near.window);
  CHECK(near.before == 5min);
  CHECK(near.after == 1h);
  CHECK(join_of(key + R"(between = ["1s", "5s"])").before == -1s);
  CHECK(join_of(key + R"(between = ["-5s", "-5s"])").after == -5s);
}

TEST_CASE("a join gives the fields of both sides, and a key of one name once",
          "[runtime][job_file][join]") {
  CHECK(columns_of(parse(key + R"(between = ["0s", "5s"])")) ==
        Texts{"auction", "who?", "at", "price", "name", "time", "low"});
  CHECK(columns_of(parse(key + R"(tumbling = "5s")")) == Texts{"auction", "who?", "at", "price",
                                                               "name", "time", "low",
                                                               "window_start", "window_end"});
  // What is part of the key is never null in a pair.
  CHECK(columns_of(parse(R"(left_key = ["who"], right_key = ["name"], tumbling = "5s")",
                         R"(columns = { a = "left.auction", b = "right.auction", w = "left.who", )"
                         R"(end = "window_end", start = "window_start" })")) ==
        Texts{"a", "b?", "w", "end", "start"});
}

TEST_CASE("a job with any join, written down, says the same, and can be built",
          "[runtime][job_file][join]") {
  for (const std::string how : {R"(tumbling = "1h")",
                                R"(sliding = "10s", slide = "3s", )"
                                R"(offset = "1s")",
                                R"(between = ["-5min", "1h"])", R"(between = ["1ms", "2ms"])"}) {
    for (const std::string more : {"", R"(columns = { "a b" = "right.low", c = "left.who" })"}) {
      CAPTURE(how, more);
      const JobSpec spec = parse(key + how, more);
      CHECK(parse_job_file(to_toml(spec), "again.toml") == spec);
      Texts names;
      const Job job = build_job(spec);
      for (const Node* node : job.nodes()) {
        if (!node->name.empty()) names.push_back(node->name);
      }
      CHECK(names == Texts{"bids", "asks", "pairs", "sink"});
    }
  }
}

TEST_CASE("a fingerprint says all of a join", "[runtime][job_file][join]") {
  const auto parts = [](const std::string& join, const std::string& more = "") {
    std::string text;
    for (const FingerprintPart& part : fingerprint_of(parse(join, more))) {
      if (part.key.starts_with("pairs.")) text += part.key.substr(6) + "=" + part.value + "; ";
    }
    return text;
  };
  const std::string sides =
      "join.left=bids; join.right=asks; join.left_key=auction; join.right_key=auction; ";
  CHECK(parts(key + R"(sliding = "4s", slide = "2s")") ==
        sides + "join.sliding=4s; join.slide=2s; ");
  CHECK(parts(key + R"(between = ["-5min", "1h"])", R"(columns = { p = "left.price" })") ==
        sides + "join.between=-5min, 1h; columns=p = left.price; ");
}

TEST_CASE("what is wrong with a join is said by line and key", "[runtime][job_file][join]") {
  const std::string kinds = "one of `tumbling`, `sliding` and `between` is expected";
  CHECK(complaint(R"(left_key = ["auction"], right_key = ["auction"])") ==
        at + "a join of no kind: " + kinds);
  CHECK(complaint(key + R"(tumbling = "1s", between = ["0s", "1s"])") ==
        at + "a join of two kinds: " + kinds);
  CHECK(complaint(key + R"(sessions = "1s")") == at + "`step.join.sessions`: " + kinds);
  CHECK(complaint(R"(left_key = ["auction"], right_key = ["name"], tumbling = "1s")") ==
        at + "a join of unequal key types: `bids.auction` is int64 and `asks.name` is string");
  CHECK(complaint(R"(left_key = ["auction", "who"], right_key = ["auction"], tumbling = "1s")") ==
        at + "`step.join.right_key` has 1 fields and `left_key` has 2; equally many are expected");
  CHECK(complaint(R"(left_key = ["who"], right_key = ["nam"], tumbling = "1s")") ==
        at + "`step.join.right_key`: there is no field `nam`; the fields are auction, name, time, "
             "low");
  CHECK(complaint(R"(left_key = ["price"], right_key = ["low"], tumbling = "1s")") ==
        at + "`price` is a float64, which makes no key: equal numbers can be written differently");
  CHECK(complaint(R"(left_key = [], right_key = [], tumbling = "1s")") ==
        at + "a key of one field or more is expected");
  CHECK(complaint(R"(left_key = ["who"], right_key = ["name"], tumbling = "1s")") ==
        at + "two columns of the join are called `auction`; `columns` is expected to say which "
             "there are, such as { a = \"left.auction\", b = \"right.auction\" }");
  const std::string spans =
      "two spans are expected, the smaller one first, such as [\"-5min\", "
      "\"1h\"]: so far is a right row from a left one";
  CHECK(complaint(key + R"(between = ["1s"])") == at + "`step.join.between`: " + spans);
  CHECK(complaint(key + R"(between = ["1s", "-1s"])") == at + "`step.join.between`: " + spans);
  CHECK(complaint(key + R"(between = ["0", "1s"])") ==
        at + "`step.join.between`: \"0\"; a span such as \"-10s\" or \"1h\" is expected");
  CHECK(complaint(key + R"(tumbling = "1s", slide = "1s")")
            .find(at + "`step.join.slide` is no key that there is; ") == 0);
}

TEST_CASE("what is wrong with the columns and sides of a join is said by line and key",
          "[runtime][job_file][join]") {
  const auto columns = [](const std::string& how, const std::string& text) {
    return complaint(key + how, "columns = { c = \"" + text + "\" }");
  };
  const std::string near = R"(between = ["0s", "1s"])";
  const std::string line = "j.toml:16: `step.columns.c`";
  CHECK(columns(near, "price") == line + " is \"price\"; left.FIELD or right.FIELD is expected");
  CHECK(columns(near, "window_start") ==
        line + " is \"window_start\"; left.FIELD or right.FIELD is expected");
  CHECK(columns(R"(tumbling = "1s")", "window") ==
        line + " is \"window\"; left.FIELD, right.FIELD, window_start or window_end is expected");
  CHECK(columns(near, "left.low") ==
        line + ": there is no field `low`; the fields are auction, who, at, price");
  CHECK(complaint(key + near, "columns = {}") ==
        "j.toml:16: one column or more is expected, such as { a = \"left.a\" }");
  CHECK(complaint(key + near, "from = \"bids\"") ==
        "j.toml:16: `step.from` of a join, which names its `left` and `right` rows");
  std::string other = text_of(key + near);
  other.replace(other.find("right = \"asks\""), 14, "right = \"offers\"");
  CHECK(message_of<UsageError>([&] { parse_job_file(other, "j.toml"); }) ==
        at + "`step.join.right`: no source and no step is called `offers`; there are bids, asks");
}
