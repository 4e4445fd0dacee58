// The reference and the processor share no code; here they are asked the same questions about jobs
// of several sources, steps and sinks.

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "millrace/runtime/job_file.hpp"
#include "millrace/sim/draws.hpp"

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr Site pick_site{"test.pick"};

/// Two sources `a` and `b` of equal fields, and a table of some mode.
std::string job_of(const std::string& steps, const std::string& sinks,
                   const std::string& disorder = "500ms") {
  std::string text = "[job]\nname = \"graph\"\n";
  for (const char* const name : {"a", "b"}) {
    text += fmt::format(
        "[sources.{}]\nformat = \"jsonl\"\nfiles = \"*.jsonl\"\n"
        "fields = {{ k = \"string?\", t = \"int64\", i = \"int64\" }}\nevent_time = \"t\"\n"
        "disorder = \"{}\"\n",
        name, disorder);
  }
  return text + steps + sinks;
}
std::string sink_of(const std::string& name, const std::string& from,
                    const std::string& more = "") {
  return fmt::format("[sinks.{0}]\nfrom = {1}\ntable = \"{0}\"\ndatabase = \"g.db\"\n{2}\n", name,
                     from, more);
}
const std::string filter_a = "[[step]]\nname = \"some\"\nfrom = \"a\"\nfilter = \"i > 1\"\n";
const std::string filter_both =
    "[[step]]\nname = \"both\"\nfrom = [\"some\", \"b\"]\nset = { j = \"i * 2\" }\n";
const std::string window_both =
    "[[step]]\nname = \"sums\"\nfrom = \"both\"\nwindow = { tumbling = \"1s\", key = [\"k\"] }\n"
    "aggregate = { n = \"count()\", s = \"sum(j)\" }\n";
const std::string upsert = "mode = \"upsert\"\nkey = [\"i\"]";

std::string join_of(const std::string& left, const std::string& right, const std::string& how) {
  return fmt::format(
      "[[step]]\nname = \"pairs\"\njoin = {{ left = \"{}\", right = \"{}\", left_key = [\"k\"], "
      "right_key = [\"k\"], {} }}\ncolumns = {{ k = \"left.k\", lt = \"left.t\", li = \"left.i\", "
      "rt = \"right.t\", ri = \"right.i\" }}\n",
      left, right, how);
}

/// Records whose times rise, but some are up to `behind` older than the one before.
Input input_of(std::uint64_t seed, std::uint64_t behind = 500, int lines = 60) {
  sim::Draws draws(sim::Seed{seed}, sim::Domain::input, "graph");
  const auto below = [&](std::uint64_t bound) { return draws.below(pick_site, bound); };
  Input input;
  // Both sources have a file of one name.
  for (const char* const name : {"a/p.jsonl", "a/q.jsonl", "b/p.jsonl"}) {
    std::string text;
    std::int64_t time = 0;
    for (int i = 0; i < lines; ++i) {
      time += static_cast<std::int64_t>(below(200));
      const auto at = time - static_cast<std::int64_t>(below(behind + 1));
      const std::uint64_t key = below(4);
      text += fmt::format("{{\"k\": {}, \"t\": {}, \"i\": {}}}\n",
                          key == 3 ? "null" : fmt::format("\"k{}\"", key), at, below(9));
    }
    input.partitions.push_back({name, text, ""});
  }
  return input;
}

/// What became of a job, without faults and with some.
std::vector<std::string> outcomes_of(const std::string& text, const Input& input) {
  const Subject subject(parse_job_file(text, "graph.toml"), input);
  std::vector<std::string> outcomes;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    outcomes.push_back(story_of(run(case_of(subject, {}, seed), subject)));
    outcomes.push_back(
        story_of(run(case_of(subject,
                             {"kill node=worker1 at=300ms down=200ms",
                              "kill node=worker2 at='head_swapped nth=5' down=100ms",
                              "power_loss node=coordinator1 at='sink_staged nth=9' down=300ms"},
                             seed),
                     subject)));
  }
  return outcomes;
}
void expect_held(const std::string& text, const Input& input) {
  CAPTURE(text);
  for (const std::string& outcome : outcomes_of(text, input)) CHECK(outcome == "held");
}

std::vector<Reference> references_of(const std::string& text, const Input& input) {
  return Reference::of_tables(parse_job_file(text, "graph.toml"), input);
}

}  // namespace

TEST_CASE("processor and reference agree about unions, branches and several sinks",
          "[properties][agreement][graph]") {
  const std::string text =
      job_of(filter_a + filter_both + window_both,
             sink_of("sums_of", "\"sums\"", "key = [\"k\", \"window_start\"]") +
                 sink_of("rows", "\"both\"") + sink_of("raw", "[\"b\", \"a\"]", "key = [\"k\"]") +
                 sink_of("newest", "\"both\"", upsert) + sink_of("plain", "\"some\""));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_held(text, input_of(seed));
  for (const Reference& reference : references_of(text, input_of(1))) {
    CHECK(reference.knows_progress());
  }
}

TEST_CASE("processor and reference agree about steps and windows behind a window",
          "[properties][agreement][graph]") {
  const std::string steps = filter_a + filter_both + window_both +
                            "[[step]]\nname = \"large\"\nfilter = \"n >= 2\"\n"
                            "[[step]]\nname = \"kept\"\nset = { m = \"s / n\" }\n"
                            "[[step]]\nname = \"again\"\nfrom = \"sums\"\n"
                            "window = { sliding = \"4s\", slide = \"2s\", key = [\"n\"] }\n"
                            "aggregate = { keys = \"count_distinct(k)\", s = \"sum(s)\" }\n"
                            "[[step]]\nname = \"late\"\nkeep = [\"keys\", \"window_end\"]\n";
  const std::string text = job_of(
      steps,
      sink_of("large_ones", "\"kept\"", "key = [\"k\"]") +
          sink_of("again_and", "\"again\"", "mode = \"upsert\"\nkey = [\"n\", \"window_start\"]") +
          sink_of("latest", "\"late\"") +
          sink_of("last_large", "\"large\"", "mode = \"upsert\"\nkey = [\"window_start\"]"));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_held(text, input_of(seed));
  for (const Reference& reference : references_of(text, input_of(1))) {
    CHECK(reference.knows_progress());
    CHECK_FALSE(reference.rows().empty());
  }
}

TEST_CASE("processor and reference agree about joins", "[properties][agreement][graph]") {
  const std::string plain = sink_of("of_pairs", "\"pairs\"", "key = [\"k\"]") +
                            sink_of("newest", "\"pairs\"", "mode = \"upsert\"\nkey = [\"lt\"]");
  for (const std::string how :
       {R"(tumbling = "1s")", R"(sliding = "1s", slide = "400ms", offset = "100ms")",
        R"(between = ["-200ms", "300ms"])", R"(between = ["1ms", "500ms"])",
        R"(between = ["-900ms", "-100ms"])"}) {
    const std::string text = job_of(filter_a + join_of("some", "b", how), plain);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_held(text, input_of(seed));
    for (const Reference& reference : references_of(text, input_of(1))) {
      CHECK_FALSE(reference.rows().empty());
    }
    CHECK(references_of(text, input_of(1)).front().knows_progress());
    CHECK(references_of(text, input_of(1)).front().is_exact());
  }
}

TEST_CASE("processor and reference agree about what stands behind joins",
          "[properties][agreement][graph]") {
  for (const std::string how : {R"(tumbling = "1s")", R"(between = ["-200ms", "300ms"])"}) {
    // Of a stream with itself, and windows over it; and of a window with a source.
    expect_held(job_of("[[step]]\nname = \"both\"\nfrom = [\"a\", \"b\"]\nfilter = \"i > 2\"\n" +
                           join_of("both", "both", how) +
                           "[[step]]\nname = \"diff\"\nset = { d = \"ri - li\" }\n"
                           "[[step]]\nname = \"sums\"\nwindow = { tumbling = \"2s\", key = [\"k\"] "
                           "}\naggregate = { n = \"count()\", d = \"sum(d)\" }\n",
                       sink_of("diffs", "\"diff\"") + sink_of("summed", "\"sums\"")),
                input_of(7));
    expect_held(
        job_of("[[step]]\nname = \"w\"\nfrom = \"a\"\nwindow = { sessions = \"100ms\", key = "
               "[\"k\"] }\naggregate = { i = \"count()\" }\n"
               "[[step]]\nname = \"named\"\nset = { t = \"window_start\" }\n" +
                   join_of("named", "b", how),
               sink_of("of_pairs", "\"pairs\"")),
        input_of(8));
  }
}

TEST_CASE("what may be late makes what is behind it uncertain, and convicts nobody",
          "[properties][agreement][graph]") {
  const std::string late =
      "[[step]]\nname = \"again\"\nfrom = \"sums\"\n"
      "window = { tumbling = \"3s\", key = [\"k\"] }\n"
      "aggregate = { s = \"sum(n)\" }\nlate = { table = \"very_late\" }\n"
      "[[step]]\nname = \"ends\"\nkeep = [\"s\", \"window_end\"]\n";
  const std::string windows =
      job_of(filter_a + filter_both + window_both + "late = { table = \"late\" }\n" + late,
             sink_of("sums_of", "\"sums\"") + sink_of("agains", "\"again\"") +
                 sink_of("newest", "\"ends\"", "mode = \"upsert\"\nkey = [\"window_end\"]"),
             "0s");
  for (std::uint64_t seed = 1; seed <= 4; ++seed) expect_held(windows, input_of(seed, 2000));
  const auto references = references_of(windows, input_of(1, 2000));
  CHECK_FALSE(references[0].is_exact());
  CHECK(references[0].knows_progress());  // Of the first window it is known what may be late.
  CHECK_FALSE(references[1].is_exact());
  CHECK_FALSE(references[1].knows_progress());
  for (const std::string how : {R"(tumbling = "300ms")", R"(sliding = "1s", slide = "300ms")",
                                R"(between = ["-200ms", "300ms"])"}) {
    const std::string joins =
        job_of(filter_a + join_of("some", "b", how) +
                   "[[step]]\nname = \"odd\"\nfilter = \"li % 2 == 1\"\n"
                   "[[step]]\nname = \"sums\"\nwindow = { tumbling = \"2s\", key = [\"k\"] }\n"
                   "aggregate = { n = \"count()\" }\n",
               sink_of("of_pairs", "\"pairs\"") + sink_of("odds", "\"odd\"", "key = [\"k\"]") +
                   sink_of("latest", "\"odd\"", "mode = \"upsert\"\nkey = [\"lt\"]") +
                   sink_of("summed", "\"sums\""),
               "0s");
    for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_held(joins, input_of(seed, 2000));
    const auto of_joins = references_of(joins, input_of(1, 2000));
    CHECK_FALSE(of_joins[0].is_exact());
    CHECK(of_joins[0].may_be_late() > 0);
  }
}

TEST_CASE("processor and reference agree about the largest rows",
          "[properties][agreement][graph]") {
  for (const std::string window :
       {R"(tumbling = "1s")", R"(sliding = "2s", slide = "700ms")", R"(sessions = "100ms")"}) {
    for (const auto& [disorder, behind] : {std::pair{"500ms", 500}, {"0s", 1500}}) {
      const std::string text = job_of(
          "[[step]]\nname = \"both\"\nfrom = [\"a\", \"b\"]\nset = { h = \"i / (i % 3)\" "
          "}\n[[step]]\nname = \"largest\"\nwindow = { " +
              window +
              ", key = [\"k\"] }\ntop = { n = 2, by = \"h\" }\nlate = { table = \"late\" }\n"
              "[[step]]\nname = \"first\"\nfilter = \"rank == 1\"\n",
          sink_of("tops", "\"largest\"", "key = [\"k\", \"window_start\", \"rank\"]") +
              sink_of("firsts", "\"first\""),
          disorder);
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        expect_held(text, input_of(seed, static_cast<std::uint64_t>(behind)));
      }
      CHECK_FALSE(references_of(text, input_of(1)).front().rows().empty());
    }
  }
}

TEST_CASE("results of a global window may be filtered and kept", "[properties][agreement][graph]") {
  expect_held(job_of("[[step]]\nname = \"both\"\nfrom = [\"a\", \"b\"]\nkeep = [\"k\", \"i\"]\n"
                     "[[step]]\nname = \"counts\"\nwindow = { global = true, every = 3, key = "
                     "[\"k\"] }\naggregate = { n = \"count()\", s = \"sum(i)\" }\n"
                     "[[step]]\nname = \"many\"\nfilter = \"n > 5\"\n",
                     sink_of("of_counts", "\"counts\"") + sink_of("of_many", "\"many\"")),
              input_of(3));
}

TEST_CASE("a table that differs from the reference of a graph is told",
          "[properties][agreement][graph]") {
  const std::string how = R"(between = ["-200ms", "300ms"])";
  const std::string sinks = sink_of("of_pairs", "\"pairs\"");
  const Subject subject(parse_job_file(job_of(filter_a + join_of("some", "b", how), sinks), "g"),
                        input_of(1));
  // The same, but a condition is another one: so are the rows of the reference.
  std::string other = filter_a;
  other.replace(other.find("> 1"), 3, "> 2");
  Subject wrong = subject;
  wrong.job = build_job(
      Subject(parse_job_file(job_of(other + join_of("some", "b", how), sinks), "g"), input_of(1))
          .spec);
  CHECK(story_of(run(case_of(wrong), wrong)).find("breached; visibility: ") == 0);
}

TEST_CASE("two tables of one name need two databases, and the simulator has one",
          "[properties][graph]") {
  std::string sinks = sink_of("one", "\"a\"") + sink_of("two", "\"b\"");
  sinks.replace(sinks.find("table = \"two\"\ndatabase = \"g.db\""), 32,
                "table = \"one\"\ndatabase = \"h.db\" ");
  CHECK(complaint_of([&] { Subject(parse_job_file(job_of("", sinks), "g"), input_of(1)); }) ==
        "two tables are called `one`, and the simulator has one database: names of their own "
        "are expected");
}
