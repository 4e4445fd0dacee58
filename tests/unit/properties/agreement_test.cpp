// The reference and the processor share no code; here they are asked the same questions.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "millrace/sim/draws.hpp"

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr Site pick_site{"test.pick"};

/// Runs a job without faults and tells what came of it.
std::string outcome_of(const SmallJob& job, const Input& input, std::uint64_t seed = 1) {
  const Subject subject(spec_of(job), input);
  return story_of(run(case_of(subject, {}, seed), subject));
}

/// Values that are hard on sums and comparisons.
const std::vector<std::string> integers{"null",
                                        "0",
                                        "1",
                                        "-1",
                                        "5",
                                        "6",
                                        "9007199254740993",
                                        "-9007199254740993",
                                        "1000000000000000000",
                                        "-1000000000000000000"};
const std::vector<std::string> reals{"null",
                                     "0",
                                     "-0.0",
                                     "0.1",
                                     "0.2",
                                     "5",
                                     "5.5",
                                     "-5.5",
                                     "1e16",
                                     "-1e16",
                                     "1e300",
                                     "-1e300",
                                     "5e-324",
                                     "-5e-324",
                                     "1e-7",
                                     "123.456",
                                     "-1e-300",
                                     "2.5",
                                     "9007199254740993"};
const std::vector<std::string> texts{"null",    R"("")",  R"("a")",    R"("b")",
                                     R"("ba")", R"("é")", R"("it's")", R"("\u0000x")"};

/// Records of five keys in two partitions whose times rise, each by up to 90 ms.
Input mixed_input(std::uint64_t seed, int lines) {
  sim::Draws draws(sim::Seed{seed}, sim::Domain::input, "agreement");
  const auto below = [&](std::uint64_t bound) { return draws.below(pick_site, bound); };
  const auto any_of = [&](const std::vector<std::string>& values) {
    return values[below(values.size())];
  };
  Input input;
  for (const char* name : {"p.jsonl", "q.jsonl"}) {
    std::vector<std::string> records;
    std::int64_t time = -3000;
    for (int i = 0; i < lines; ++i) {
      time += static_cast<std::int64_t>(below(90));
      const std::string key(1, static_cast<char>('a' + below(5)));
      const std::string integer = any_of(integers);
      const std::string real = any_of(reals);
      const std::string text = any_of(texts);
      records.push_back(
          record(key, time, fmt::format(R"("i": {}, "r": {}, "s": {})", integer, real, text)));
    }
    input.partitions.push_back(partition_of(name, records));
  }
  return input;
}

}  // namespace

TEST_CASE("processor and reference agree about every fold", "[properties][agreement]") {
  SmallJob job;
  job.aggregate =
      R"-(n = "count()", ci = "count(i)", cr = "count(r)", cs = "count(s)", si = "sum(i)", )-"
      R"-(sr = "sum(r)", li = "min(i)", lr = "min(r)", gi = "max(i)", gr = "max(r)", )-"
      R"-(ai = "avg(i)", ar = "avg(r)")-";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(outcome_of(job, mixed_input(seed, 120), seed) == "held");
  }
}

TEST_CASE("processor and reference agree about every comparison", "[properties][agreement]") {
  const Input input = mixed_input(7, 100);
  for (const char* comparison : {"==", "!=", "<", "<=", ">", ">="}) {
    for (const char* with :
         {"i {} 5", "i {} 5.5", "i {} 9007199254740992.0", "i {} -1", "r {} 5", "r {} 5.5",
          "r {} 0", "r {} 9007199254740993", "r {} 1e-7", "s {} 'b'", "s {} ''", "s {} 'é'",
          "k {} 'c'", "t {} 0", "not i {} 5", "not s {} 'b'"}) {
      SmallJob job;
      job.filters = {fmt::format(fmt::runtime(with), comparison)};
      CAPTURE(job.filters);
      CHECK(outcome_of(job, input) == "held");
    }
  }
}

TEST_CASE("processor and reference agree about conditions with null in them",
          "[properties][agreement]") {
  const Input input = mixed_input(8, 100);
  for (const std::vector<std::string>& filters :
       std::vector<std::vector<std::string>>{{"i > 1 or s == 'b'"},
                                             {"not (i > 1 or s == 'b')"},
                                             {"i > 1 and s != 'b'"},
                                             {"not (i > 1 and s != 'b')"},
                                             {"i > 1 or i <= 1"},
                                             {"not (r < 0) and not (s > 'a' or i == 5)"},
                                             {"i == 1 or i == 5 and s == 'a' or not r > 0"},
                                             {"i > 0", "r > 0"},
                                             {"s == 'it''s'"}}) {
    SmallJob job;
    job.filters = filters;
    CAPTURE(filters);
    CHECK(outcome_of(job, input) == "held");
  }
}

TEST_CASE("processor and reference agree about keys, windows and where they end",
          "[properties][agreement]") {
  const Input input = mixed_input(9, 150);
  for (const std::string window : {"1ms", "7ms", "1s", "1h"}) {
    for (const std::string key : {R"("k")", R"("i")", R"("s")", R"("i", "s")", R"("t", "k")"}) {
      SmallJob job;
      job.window = window;
      job.key = key;
      job.sink_key = key + R"(, "window_start")";
      CAPTURE(window, key);
      CHECK(outcome_of(job, input) == "held");
    }
  }
}

TEST_CASE("processor and reference agree about instants at the edges of windows",
          "[properties][agreement]") {
  for (const std::string disorder : {"0s", "1ms", "999ms", "1s", "1h"}) {
    SmallJob job;
    job.disorder = disorder;
    CAPTURE(disorder);
    CHECK(outcome_of(job, input_of({record("a", -1001), record("a", -1000), record("a", -999),
                                    record("a", -1), record("a", 0), record("a", 1),
                                    record("a", 999), record("a", 1000), record("a", 1001)})) ==
          "held");
    CHECK(outcome_of(job, input_of({record("a", -62135596800000), record("b", 0),
                                    record("a", 253402300799999)})) == "held");
  }
}

TEST_CASE("late records are counted or dropped, and all others are judged",
          "[properties][agreement]") {
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) lines.push_back(record(i % 3 == 0 ? "a" : "b", i * 37 % 5000));
  SmallJob job;
  job.disorder = "100ms";
  const Subject subject(spec_of(job), input_of(lines));
  REQUIRE_FALSE(subject.reference().is_exact());

  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CHECK(story_of(run(case_of(subject, {}, seed), subject)) == "held");
  }
}

TEST_CASE("processor and reference agree about how a time is written", "[properties][agreement]") {
  SmallJob job;
  job.on_bad_record = "skip";
  for (const std::string format : {"ms", "s", "us"}) {
    job.event_time = "t\"\nevent_time_format = \"" + format;
    CAPTURE(format);
    CHECK(outcome_of(job, input_of({record("a", -1001), record("a", -1), record("a", 0),
                                    record("a", 1'999'999), record("b", 253402300799),
                                    record("b", 253402300800), record("c", -62135596801),
                                    record("c", 9223372036854775807)})) == "held");
  }
  job.event_time = "s\"\nevent_time_format = \"iso8601";
  job.fields = R"(k = "string", t = "int64", s = "string")";
  std::vector<std::string> lines;
  for (const std::string time :
       {"1969-12-31T23:59:59.9995Z", "2000-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2018-02-03 18:00:00.5+01:00", "2018-02-03T17:00:00", "9999-12-31T23:59:59.999-00:01",
        "0001-01-01T00:00:00+00:00", "2018-02-03T17:00:60Z", "2018-06-31T17:00:00Z", "now"}) {
    lines.push_back(record("a", 0, "\"s\": \"" + time + "\""));
  }
  CHECK(outcome_of(job, input_of(lines)) == "held");
}

TEST_CASE("processor and reference agree about how lines end", "[properties][agreement]") {
  const std::string one = record("a", 0);
  const std::string two = record("b", 1500);
  for (const std::string& text : std::vector<std::string>{
           one + "\n" + two, one + "\r\n" + two + "\r\n", one + "\n" + two + "\r",
           "\xEF\xBB\xBF" + one + "\n" + two + "\n", "\n\n" + one + "\n \t\n\r\n" + two,
           " " + one + " \n\t" + two + "\t", one, one + "\n", "", "\n", "\xEF\xBB\xBF"}) {
    CAPTURE(text);
    CHECK(outcome_of(SmallJob{}, Input{{{"p.jsonl", text, ""}}}) == "held");
    CHECK(outcome_of(SmallJob{}, Input{{{"o.jsonl", "", ""}, {"p.jsonl", text, ""}}}) == "held");
  }
}

TEST_CASE("processor and reference agree about which records are bad", "[properties][agreement]") {
  const auto nested = [](std::size_t lists) {
    return R"({"k": "a", "t": 1, "x": )" + std::string(lists, '[') + std::string(lists, ']') + "}";
  };
  SmallJob job;
  job.on_bad_record = "skip";
  for (const std::string& line : std::vector<std::string>{
           R"({"k": "a", "t": 1})",
           R"({"t": 1, "k": "a"})",
           R"({"k": "a", "t": 1, "other": {"k": [1, null, true], "t": "x"}})",
           R"({"\u006b": "a", "t": 1})",
           R"({"k": "\ud83d\ude00", "t": 1})",
           R"({"k": "a", "t": 1, "i": 1, "i": 2})",
           R"({"k": "a", "t": 1, "x": 1, "x": 2})",
           R"({"k": "a", "t": 1, "k": "a"})",
           R"({"k": null, "t": 1})",
           R"({"t": 1})",
           R"({"k": "a"})",
           R"({"k": "a", "t": null})",
           R"({"k": 5, "t": 1})",
           R"({"k": "a", "t": "1"})",
           R"({"k": "a", "t": 1.0})",
           R"({"k": "a", "t": 1e0})",
           R"({"k": "a", "t": true})",
           R"({"k": "a", "t": [1]})",
           R"({"k": "a", "t": {}})",
           R"({"k": "a", "t": 253402300800000})",
           R"({"k": "a", "t": -62135596800001})",
           R"({"k": "a", "t": 1, "i": -0})",
           R"({"k": "a", "t": 1, "i": 9223372036854775807})",
           R"({"k": "a", "t": 1, "i": 9223372036854775808})",
           R"({"k": "a", "t": 1, "i": -9223372036854775808})",
           R"({"k": "a", "t": 1, "i": -9223372036854775809})",
           R"({"k": "a", "t": 1, "r": 18446744073709551615})",
           R"({"k": "a", "t": 1, "r": 18446744073709551616})",
           R"({"k": "a", "t": 1, "r": -18446744073709551616})",
           R"({"k": "a", "t": 1, "x": 18446744073709551616})",
           R"({"k": "a", "t": 1, "x": 18446744073709551616.0})",
           R"({"k": "a", "t": 1, "r": 1e308})",
           R"({"k": "a", "t": 1, "r": 1e309})",
           R"({"k": "a", "t": 1, "x": 1e309})",
           R"({"k": "a", "t": 1, "r": 1e-400})",
           R"({"k": "a", "t": 1, "r": NaN})",
           R"({"k": "a", "t": 1, "r": Infinity})",
           R"({"k": "a", "t": 1, "r": .5})",
           R"({"k": "a", "t": 1, "r": 5.})",
           R"({"k": "a", "t": 1, "r": +5})",
           R"({"k": "a", "t": 1, "r": 05})",
           R"({"k": "a", "t": 1, "r": "5"})",
           R"({"k": "a", "t": 1, "s": "\x"})",
           R"({"k": "a", "t": 1, "s": "\ud800"})",
           R"({"k": "a", "t": 1, "s": "\ud800\u0041"})",
           R"({"k": "a", "t": 1, "x": "\udc00"})",
           "{\"k\": \"a\", \"t\": 1, \"s\": \"a\tb\"}",
           "{\"k\": \"a\", \"t\": 1, \"s\": \"\xFF\"}",
           "{\"k\": \"a\", \"t\": 1, \"s\": \"\xED\xA0\x80\"}",
           "{\"k\": \"a\", \"t\": 1, \"\xC0\x80\": 1}",
           "{\"k\": \"a\", \"t\": 1, \"s\": \"\xC3\xA9\"}",
           R"({"k": "a", "t": 1, "s": "\u0000"})",
           R"({"k": "a", "t": 1, "s": "\ud83d"})",
           R"({"k": "a", "t": 1, "s": "\ude00\ud83d"})",
           "{\"k\": \"a\", \"t\": 1, \"s\": \"\xF4\x90\x80\x80\"}",
           "{\"k\": \"a\",\f\"t\": 1}",
           "{\"k\": \"a\",\r\"t\": 1}",
           R"({"k": "a", "t": 1, "i": null, "i": 1})",
           R"({"k": "a", "t": 1, "\u0069": 2, "i": 1})",
           R"({"k": "a", "t": 1, "r": 2.2250738585072011e-308})",
           R"({"k": "a", "t": 1, "r": 1.7976931348623158e308})",
           R"({"k": "a", "t": 1, "r": 1.7976931348623159e308})",
           R"({"k": "a", "t": 1, "r": 0.1234567890123456789012345678901234567890})",
           R"({"k": "a", "t": 1, "r": 9007199254740993.0})",
           R"({"k": "a", "t": 1, "x": [1e999]})",
           R"({"k": "a", "t": -0})",
           "\r",
           "\f",
           "\xC2\xA0",
           R"({"k": "a", "t": 1} )",
           R"({"k": "a", "t": 1}})",
           R"({"k": "a", "t": 1} {"k": "b", "t": 1})",
           R"({"k": "a", "t": 1},)",
           R"({"k": "a", "t": 1,})",
           R"({"k": "a" "t": 1})",
           R"({'k': 'a', 't': 1})",
           R"({"k": "a", "t": 1, "x": nul})",
           R"({"k": "a", "t": 1, "x": True})",
           R"({"k": "a", "t": 1 /* one */})",
           R"({"k": "a", "t": 1)",
           R"([{"k": "a", "t": 1}])",
           R"("k")",
           "{}",
           "null",
           "5",
           "x",
           "\xEF\xBB\xBF{\"k\": \"a\", \"t\": 1}",
           R"({"k": "a", "t": 1})" + std::string(1, '\0'),
           R"({"k": "a", "t": 1})" + std::string(1, '\0') + "x",
           nested(1000),
           nested(1021),
           nested(1022),
           nested(1023),
           nested(1024),
           nested(1025),
           nested(1100)}) {
    CAPTURE(line);
    CHECK(outcome_of(job, input_of({record("good", 0), line, record("good", 5)})) == "held");
  }
}
