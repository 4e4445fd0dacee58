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

/// Two sources of equal fields, on lines 3 to 16, what stands between them and the sinks from 17
/// on.
const std::string sources = R"([job]
name = "g"
[sources.web]
format = "jsonl"
files = "web/*.jsonl"
fields = { user = "string", at = "int64", n = "int64?" }
event_time = "at"
disorder = "1s"

[sources.app]
format = "csv"
files = "app/*.csv"
fields = { user = "string", at = "int64", n = "int64?" }
event_time = "at"
idle_after = "5s"

)";
const std::string sink = "[sink]\ntable = \"t\"\ndatabase = \"g.db\"\n";

std::string sink_of(const std::string& name, const std::string& from) {
  return "[sinks." + name + "]\nfrom = " + from + "\ntable = \"" + name +
         "\"\ndatabase = \"g.db\"\n";
}

JobSpec parse(const std::string& text) { return parse_job_file(text, "g.toml"); }
std::string complaint(const std::string& text) {
  return message_of<UsageError>([&] { parse(text); });
}

/// The same, of what stands behind the sources.
std::string complaint_of(const std::string& steps, const std::string& sinks = sink) {
  return complaint(sources + steps + sinks);
}

Texts columns_of(const JobTable& table) {
  Texts names;
  for (const auto& column : table.schema.columns) names.push_back(column.name);
  return names;
}

const std::string union_step = "[[step]]\nname = \"all\"\nfrom = [\"web\", \"app\"]\n";
const std::string window_step =
    "[[step]]\nwindow = { tumbling = \"1s\", key = [\"user\"] }\naggregate = { c = \"count()\" }\n";

/// Everything that a graph can have.
const std::string whole = sources + union_step + "filter = \"n > 1\"\n" +
                          "[[step]]\nname = \"per_user\"\n"
                          "window = { tumbling = \"1s\", key = [\"user\"] }\n"
                          "aggregate = { c = \"count()\", s = \"sum(n)\" }\n"
                          "late = { table = \"late\" }\n"
                          "[[step]]\nname = \"busy\"\nfilter = \"c >= 2\"\n"
                          "[[step]]\nname = \"per_minute\"\nfrom = \"per_user\"\n"
                          "window = { sliding = \"1min\", slide = \"1s\", key = [\"c\"] }\n"
                          "aggregate = { users = \"count()\" }\n" +
                          sink_of("busy_users", "\"busy\"") + sink_of("minutes", "\"per_minute\"") +
                          sink_of("raw", "[\"app\", \"web\"]");

}  // namespace

TEST_CASE("a job has several sources, steps that name what they read, and several sinks",
          "[runtime][job_file][graph]") {
  const JobSpec spec = parse(whole);

  REQUIRE(spec.sources.size() == 2);
  CHECK(spec.sources[0].name == "web");
  CHECK(spec.sources[0].disorder == 1s);
  CHECK(spec.sources[1].format == RowFormat::csv);
  REQUIRE(spec.steps.size() == 4);
  CHECK(spec.steps[0].inputs == Inputs{0, 1});
  CHECK(spec.steps[1].inputs == Inputs{2});
  CHECK(spec.steps[2].inputs == Inputs{3});
  CHECK(spec.steps[3].inputs == Inputs{3});
  REQUIRE(spec.sinks.size() == 3);
  CHECK(spec.sinks[0].inputs == Inputs{4});
  CHECK(spec.sinks[1].inputs == Inputs{5});
  CHECK(spec.sinks[2].inputs == Inputs{1, 0});
  CHECK(parse(to_toml(spec)) == spec);
}

TEST_CASE("behind a window rows have its columns", "[runtime][job_file][graph]") {
  const auto tables = tables_of(parse(whole));

  REQUIRE(tables.size() == 4);
  CHECK(columns_of(tables[0]) == Texts{"user", "window_start", "window_end", "c", "s"});
  CHECK(columns_of(tables[1]) == Texts{"c", "window_start", "window_end", "users"});
  CHECK(columns_of(tables[2]) == Texts{"user", "at", "n"});
  CHECK(columns_of(tables[3]) == Texts{"user", "at", "n"});
  CHECK(tables[3].sink.name == "per_user_late");
  CHECK(tables[3].late_of == 1U);
}

TEST_CASE("a graph becomes operators under the names of the file", "[runtime][job_file][graph]") {
  Texts names;
  const Job job = build_job(parse(whole));
  for (const Node* node : job.nodes()) {
    if (!node->name.empty()) names.push_back(node->name);
  }
  CHECK(names == Texts{"web", "app", "per_user", "busy_users", "per_minute", "minutes", "raw",
                       "per_user_late"});
}

TEST_CASE("a fingerprint tells who reads what, under the names of the file",
          "[runtime][job_file][graph]") {
  Texts keys;
  for (const FingerprintPart& part : fingerprint_of(parse(whole))) {
    if (part.key.find("from") != std::string::npos ||
        part.key.find("window") != std::string::npos ||
        part.key.find("table") != std::string::npos ||
        part.key.find("disorder") != std::string::npos) {
      keys.push_back(part.key + "=" + part.value);
    }
  }
  CHECK(keys == Texts{"sources.web.disorder=1s", "sources.app.disorder=0s", "all.from=web, app",
                      "per_user.window.tumbling=1s", "per_user.window.key=user",
                      "per_minute.window.sliding=1min", "per_minute.window.slide=1s",
                      "per_minute.window.key=c", "per_minute.from=per_user",
                      "per_user.late.table=late", "sinks.busy_users.table=busy_users",
                      "sinks.busy_users.from=busy", "sinks.minutes.table=minutes",
                      "sinks.minutes.from=per_minute", "sinks.raw.table=raw",
                      "sinks.raw.from=app, web"});
}

TEST_CASE("one source under a name and one sink under a name are a job, too",
          "[runtime][job_file][graph]") {
  const std::string one =
      "[job]\nname = \"o\"\n[sources.a]\nformat = \"jsonl\"\nfiles = \"*\"\n"
      "fields = { at = \"int64\" }\nevent_time = \"at\"\n";
  const JobSpec spec = parse(one + sink_of("b", "\"a\""));
  CHECK(spec.sources[0].name == "a");
  CHECK(spec.sinks[0].name == "b");
  CHECK(parse(to_toml(spec)) == spec);
  // The names that a file without names has are these.
  std::string plain = one + sink;
  CHECK(parse(plain.replace(plain.find("sources.a"), 9, "source")) ==
        parse(one.substr(0, one.find("sources.a")) + "sources.source" +
              one.substr(one.find("]\nformat")) + "[sinks.sink]\nfrom = \"source\"\n" +
              sink.substr(7)));
}

TEST_CASE("what is wrong with a name is said by line and key", "[runtime][job_file][graph]") {
  const std::string taken = "two of the sources, steps, sinks and their late rows are called ";
  CHECK(complaint_of(union_step + "keep = [\"at\"]\n[[step]]\nname = \"all\"\nkeep = [\"at\"]\n") ==
        "g.toml:22: " + taken + "`all`; another name is expected, under which state is kept");
  CHECK(complaint_of("[[step]]\nname = \"web\"\nfrom = \"web\"\nkeep = [\"at\"]\n") ==
        "g.toml:18: " + taken + "`web`; another name is expected, under which state is kept");
  CHECK(complaint_of("[[step]]\nname = \"a b\"\nfrom = \"web\"\nkeep = [\"at\"]\n") ==
        "g.toml:18: `a b` is a name; letters, digits, `_` and `-` are expected");
  CHECK(complaint_of(union_step + "keep = [\"user\"]\n" + window_step + window_step) ==
        "g.toml:24: " + taken + "`window`; a `name` is expected, under which state is kept");
  CHECK(complaint_of("", sink_of("web", "[\"web\", \"app\"]")) ==
        "g.toml:17: " + taken + "`web`; a `name` is expected, under which state is kept");
}

TEST_CASE("what is wrong with `from` is said by line and key", "[runtime][job_file][graph]") {
  CHECK(complaint_of("[[step]]\nkeep = [\"at\"]\n") ==
        "g.toml:17: `step.from` is missing; one of the sources is expected, which are web, app");
  CHECK(complaint_of("") ==
        "g.toml:17: `sink.from` is missing; one of the sources is expected, which are web, app");
  CHECK(complaint_of("[[step]]\nfrom = \"wbe\"\nkeep = [\"at\"]\n") ==
        "g.toml:18: `step.from`: no source and no step is called `wbe`; there are web, app");
  CHECK(complaint_of("[[step]]\nfrom = [\"web\", \"\"]\nkeep = [\"at\"]\n") ==
        "g.toml:18: `step.from`: no source and no step is called ``; there are web, app");
  CHECK(complaint_of("[[step]]\nfrom = [\"web\", \"web\"]\nkeep = [\"at\"]\n") ==
        "g.toml:18: `step.from`: `web` stands there twice");
  CHECK(complaint_of("[[step]]\nfrom = []\nkeep = [\"at\"]\n") ==
        "g.toml:18: `step.from` is empty");
  CHECK(complaint_of("[[step]]\nfrom = 5\nkeep = [\"at\"]\n") ==
        "g.toml:18: `step.from` is 5; a text in quotes is expected");
  // Whoever reads from himself, or from what comes later, is on the way to a circle.
  const std::string circle =
      "[[step]]\nname = \"a\"\nfrom = \"b\"\nkeep = [\"at\"]\n"
      "[[step]]\nname = \"b\"\nfrom = \"a\"\nkeep = [\"at\"]\n";
  CHECK(complaint_of(circle) ==
        "g.toml:19: `step.from`: the step `b` does not stand before this one; rows go down the "
        "file");
  CHECK(complaint_of("[[step]]\nname = \"a\"\nfrom = \"a\"\nkeep = [\"at\"]\n") ==
        "g.toml:19: `step.from`: the step `a` does not stand before this one; rows go down the "
        "file");
  CHECK(
      complaint_of("[[step]]\nname = \"some\"\nfrom = \"web\"\nkeep = [\"at\", \"user\", \"n\"]\n"
                   "[[step]]\nfrom = [\"some\", \"app\"]\nkeep = [\"at\"]\n") ==
      "g.toml:22: `step.from`: fields of equal names and types, in one order, are expected; "
      "`some` has at = int64, user = string, n = int64?, and `app` has user = string, at = int64, "
      "n = int64?");
}

TEST_CASE("rows that nobody reads are an error", "[runtime][job_file][graph]") {
  CHECK(complaint_of("", "[sink]\nfrom = \"app\"\ntable = \"t\"\ndatabase = \"g.db\"\n") ==
        "g.toml:3: nobody reads the rows of the source `web`; a step or a sink with `from` is "
        "expected");
  CHECK(complaint_of(union_step + "keep = [\"at\"]\n[[step]]\nfrom = \"web\"\nkeep = [\"at\"]\n") ==
        "g.toml:17: nobody reads the rows of this step `all`; a step or a sink with `from` is "
        "expected");
  CHECK(complaint_of("[[step]]\nfrom = \"app\"\nkeep = [\"at\"]\n" + union_step +
                     "keep = [\"at\"]\n") ==
        "g.toml:17: nobody reads the rows of this step, which has no name; a step or a sink with "
        "`from` is expected");
}

TEST_CASE("what is wrong with sources and sinks is said by line", "[runtime][job_file][graph]") {
  CHECK(complaint(sources + "[source]\n") ==
        "g.toml:17: [source] and [sources.NAME]: either is expected, not both");
  CHECK(complaint_of("", sink_of("a", "[\"web\", \"app\"]") + sink) ==
        "g.toml:21: [sink] and [sinks.NAME]: either is expected, not both");
  CHECK(complaint("[job]\nname = \"g\"\n[sources]\n") ==
        "g.toml:3: one source or more is expected, [sources.NAME]");
  CHECK(complaint_of("", "[sinks]\n") == "g.toml:17: one sink or more is expected, [sinks.NAME]");
  CHECK(complaint_of("", "[sinks.a]\ntable = \"a\"\ndatabase = \"g.db\"\n") ==
        "g.toml:17: `sinks.a.from` is missing; a text is expected");
  std::string twice = sink_of("a", "\"web\"") + sink_of("b", "\"app\"");
  twice.replace(twice.find("\"b\""), 3, "\"a\"");
  CHECK(complaint_of("", twice) == "g.toml:23: `sinks.b.table` is the table of `a`");
  std::string wrong = sources;
  wrong.replace(wrong.find("\"csv\""), 5, "\"tsv\"");
  CHECK(complaint(wrong + sink) ==
        "g.toml:11: `sources.app.format` is \"tsv\"; \"jsonl\" or \"csv\" is expected");
}

TEST_CASE("results of a global window have no time for another window",
          "[runtime][job_file][graph]") {
  const std::string global =
      "[[step]]\nname = \"g\"\nfrom = \"web\"\nwindow = { global = true, "
      "every = 2, key = [\"user\"] }\naggregate = { c = \"count()\" }\n";
  const std::string other =
      "[sinks.o]\nfrom = \"app\"\ntable = \"o\"\ndatabase = \"g.db\"\n"
      "[sinks.s]\nfrom = \"g\"\ntable = \"s\"\ndatabase = \"g.db\"\n";
  CHECK(complaint_of(global, other).empty());
  CHECK(complaint_of(global + "[[step]]\nfilter = \"c > 1\"\n" + window_step, other) ==
        "g.toml:25: `step.window` of results of a global window: it never ends, so that they have "
        "no event time");
}
