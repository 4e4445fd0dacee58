// Windows of every kind, as a job file writes them.

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/job_file.hpp"

#include "damage.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Kind = WindowShape::Kind;

/// The window stands on line 7, what follows it in its step on line 9.
std::string job_text(const std::string& window, const std::string& more = "",
                     const std::string& sink_key = "k") {
  return "[job]\nname = \"w\"\n[source]\nformat = \"jsonl\"\nfiles = \"*.jsonl\"\n"
         "fields = { k = \"string\", t = \"int64\", pane = \"int64\" }\nevent_time = \"t\"\n"
         "[[step]]\nwindow = { " +
         window + " }\naggregate = { n = \"count()\", d = \"count_distinct(k)\" }\n" + more +
         "\n[sink]\ntable = \"t\"\ndatabase = \"t.db\"\nkey = [\"" + sink_key + "\"]\n";
}
JobSpec parse(const std::string& window, const std::string& more = "") {
  return parse_job_file(job_text(window, more), "w.toml");
}
WindowSpec window_of(const JobSpec& spec) { return std::get<WindowSpec>(spec.steps.back().work); }
std::string complaint(const std::string& window, const std::string& more = "") {
  return message_of<UsageError>([&] { parse(window, more); });
}

std::vector<std::string> columns_of(const JobTable& table) {
  std::vector<std::string> names;
  for (const auto& column : table.schema.columns) names.push_back(column.name);
  return names;
}
std::string fingerprint_text(const JobSpec& spec) {
  std::string text;
  for (const FingerprintPart& part : fingerprint_of(spec)) {
    if (part.key.starts_with("window.") || part.key.starts_with("late.")) {
      text += part.key + "=" + part.value + " ";
    }
  }
  return text;
}

const std::string key = R"(, key = ["k"])";

}  // namespace

TEST_CASE("a window is of one of four kinds", "[runtime][job_file][window]") {
  const WindowShape days = window_of(parse(R"(tumbling = "1d", offset = "2h")" + key)).shape;
  CHECK(days.kind == Kind::tumbling);
  CHECK(days.size == 24h);
  CHECK(days.offset == 2h);
  const WindowShape hops =
      window_of(parse(R"(sliding = "10s", slide = "3s", offset = "1s")" + key)).shape;
  CHECK(hops.kind == Kind::sliding);
  CHECK(hops.size == 10s);
  CHECK(hops.slide == 3s);
  CHECK(hops.offset == 1s);
  const WindowShape visits = window_of(parse(R"(sessions = "30s")" + key)).shape;
  CHECK(visits.kind == Kind::sessions);
  CHECK(visits.size == 30s);
  const WindowShape all = window_of(parse("global = true, every = 100" + key)).shape;
  CHECK(all.kind == Kind::global);
  CHECK(all.every == 100);
}

TEST_CASE("a job with any window, written down, says the same, and can be built",
          "[runtime][job_file][window]") {
  for (const std::string window :
       {R"(tumbling = "1d", offset = "2h")", R"(sliding = "10s", slide = "3s")",
        R"(sliding = "10s", slide = "10s", offset = "9999ms", allowed_lateness = "1min")",
        R"(sessions = "30s", allowed_lateness = "1ms")", "global = true, every = 1"}) {
    const bool is_global = window.starts_with("global");
    for (const std::string more : {"", R"(late = { table = "late", mode = "insert" })"}) {
      if (is_global && !more.empty()) continue;
      CAPTURE(window, more);
      const JobSpec spec = parse(window + key, more);
      CHECK(parse_job_file(to_toml(spec), "again.toml") == spec);
      const Job job = build_job(spec);
      CHECK(job.fingerprint() == fingerprint_of(spec));
      CHECK(job.ends().size() == (more.empty() ? 1 : 2));
    }
  }
}

TEST_CASE("a fingerprint says all of a window that is not left out",
          "[runtime][job_file][window]") {
  CHECK(fingerprint_text(parse(R"(tumbling = "1h")" + key)) == "window.tumbling=1h window.key=k ");
  CHECK(fingerprint_text(parse(R"(sliding = "10s", slide = "2s", offset = "1s", )"
                               R"(allowed_lateness = "1min")" +
                                   key,
                               R"(late = { table = "late" })")) ==
        "window.sliding=10s window.slide=2s window.offset=1s window.allowed_lateness=1min "
        "window.key=k late.table=late late.mode=staged ");
  CHECK(fingerprint_text(parse(R"(sessions = "30s")" + key)) ==
        "window.sessions=30s window.key=k ");
  CHECK(fingerprint_text(parse("global = true, every = 5" + key)) ==
        "window.global=true window.every=5 window.key=k ");
}

TEST_CASE("a result has the columns that say something of its window",
          "[runtime][job_file][window]") {
  using Names = std::vector<std::string>;
  const auto columns = [](const std::string& window) {
    return columns_of(tables_of(parse(window + key)).front());
  };
  CHECK(columns(R"(sessions = "1s")") == Names{"k", "window_start", "window_end", "n", "d"});
  CHECK(columns(R"(tumbling = "1s", allowed_lateness = "1s")") ==
        Names{"k", "window_start", "window_end", "pane", "n", "d"});
  CHECK(columns("global = true, every = 3") == Names{"k", "pane", "n", "d"});
}

TEST_CASE("late rows go into a table of their own, as they came", "[runtime][job_file][window]") {
  const auto tables = tables_of(parse(R"(tumbling = "1s")" + key, R"(late = { table = "late" })"));
  REQUIRE(tables.size() == 2);
  CHECK(tables[1].sink.name == "late");
  CHECK(tables[1].sink.database == "t.db");
  CHECK(tables[1].schema.mode == SinkMode::staged);
  CHECK(columns_of(tables[1]) == std::vector<std::string>{"k", "t", "pane"});
}

TEST_CASE("what is wrong with a window is said by line and key", "[runtime][job_file][window]") {
  const std::string of_kind = "one of `tumbling`, `sliding`, `sessions` and `global` is expected";
  const std::string at = "w.toml:9: ";
  CHECK(complaint(R"(every = 5)" + key) == at + "a window of no kind: " + of_kind);
  CHECK(complaint(R"(tumbling = "1s", sessions = "1s")" + key) ==
        at + "a window is `tumbling` and `sessions`; " + of_kind);
  for (const std::string kind : {"tumbling", "sliding", "sessions"}) {
    CHECK(complaint(kind + R"( = "0s", slide = "1s")" + key) ==
          at + "a window of no length: a span above 0 is expected");
  }
  CHECK(complaint(R"(sliding = "10s")" + key) ==
        at + "`step.window.slide` is missing; a span such as \"10s\", with ms, s, min, h or d is "
             "expected");
  for (const std::string slide : {"0s", "11s"}) {
    CHECK(complaint(R"(sliding = "10s", slide = ")" + slide + "\"" + key) ==
          at + "`step.window.slide` is " + slide +
              "; a span above 0 and at most `sliding`, which is 10s, is expected: windows leave no "
              "gaps");
  }
  CHECK(complaint(R"(sliding = "10s", slide = "2s", offset = "2s")" + key) ==
        at + "`step.window.offset` is 2s; less than 2s is expected, from one window to the next");
  CHECK(complaint(R"(sessions = "1s", offset = "1ms")" + key) ==
        at + "`step.window.offset` is no key that there is; [step.window] has allowed_lateness, "
             "global, key, sessions, sliding, tumbling");
  // A gap to which no time could be added.
  CHECK(complaint(R"(sessions = "100001d")" + key) ==
        at + "`step.window.sessions` is \"100001d\"; a span such as \"10s\", with ms, s, min, h or "
             "d is expected");
  CHECK(complaint("global = false, every = 5" + key) ==
        at + "`step.window.global` is false; true is expected");
  CHECK(complaint("global = true" + key) ==
        at + "`step.window.every` is missing; a whole number from 1 to 9223372036854775807 is "
             "expected");
  CHECK(complaint("global = true, every = 0" + key) ==
        at + "`step.window.every` is 0; a whole number from 1 to 9223372036854775807 is expected");
  CHECK(complaint(R"(global = true, every = 5, allowed_lateness = "1s")" + key) ==
        at + "`step.window.allowed_lateness` of a global window: it never ends, so that nothing is "
             "late for it");
  CHECK(complaint(R"(tumbling = "1s", allowed_lateness = "1s", key = ["pane"])") ==
        at + "`pane` is the name of another column of the table");
  CHECK(complaint(R"(tumbling = "1s", key = ["pane"])") ==
        "w.toml:15: the table has no column `k`; its columns are pane, window_start, window_end, "
        "n, d");
}

TEST_CASE("what is wrong with a table of late rows is said by line and key",
          "[runtime][job_file][window]") {
  const std::string window = R"(tumbling = "1s")" + key;
  const std::string at = "w.toml:11: ";
  CHECK(complaint(window, "late = true") == at + "`step.late` is true; a table is expected");
  CHECK(complaint(window, "late = {}") == at + "`step.late.table` is missing; a text is expected");
  CHECK(complaint(window, R"(late = { table = "t" })") ==
        at + "`step.late.table` is the table of the sink");
  CHECK(complaint(window, R"(late = { table = "x", mode = "upsert" })") ==
        at + "`step.late.mode` is \"upsert\"; \"staged\" or \"insert\" is expected: nothing tells "
             "late rows apart");
  CHECK(complaint(window, R"(late = { table = "x", key = ["k"] })") ==
        at + "`step.late.key` is no key that there is; [step.late] has database, mode, table");
  CHECK(complaint("global = true, every = 5" + key, R"(late = { table = "x" })") ==
        at + "`late` of a global window: nothing is late for it");
}

TEST_CASE("an upsert sink needs what tells results apart, and no more",
          "[runtime][job_file][window]") {
  const auto complaint_of = [](const std::string& window) {
    std::string text = job_text(window + key);
    text += "mode = \"upsert\"\n";
    return message_of<UsageError>([&] { parse_job_file(text, "w.toml"); });
  };
  CHECK(complaint_of("global = true, every = 5").empty());  // The newest result of a key.
  CHECK(complaint_of(R"(sessions = "5s")") ==
        "w.toml:15: `sink.key` of an upsert sink lacks `window_start`; the key of the window and "
        "`window_start` are expected, which tell rows apart");
}

namespace {

/// The last line of a window's step stands on line 8.
std::string top_text(const std::string& window, const std::string& top,
                     const std::string& sink = "") {
  return "[job]\nname = \"w\"\n[source]\nformat = \"jsonl\"\nfiles = \"*.jsonl\"\n"
         "fields = { k = \"string\", t = \"int64\", x = \"float64?\" }\nevent_time = \"t\"\n"
         "[[step]]\nwindow = { " +
         window + R"(, key = ["k"] })" + "\n" + top +
         "\n[sink]\ntable = \"t\"\ndatabase = \"t.db\"\n" + sink;
}
std::string top_complaint(const std::string& window, const std::string& top,
                          const std::string& sink = "") {
  return message_of<UsageError>([&] { parse_job_file(top_text(window, top, sink), "w.toml"); });
}
const std::string seconds = R"(tumbling = "1s")";
const std::string largest = R"(top = { n = 3, by = "x" })";

}  // namespace

TEST_CASE("a window gives its largest rows instead of aggregates", "[runtime][job_file][window]") {
  for (const std::string window :
       {R"(tumbling = "1s")", R"(sliding = "4s", slide = "1s")", R"(sessions = "5s")"}) {
    CAPTURE(window);
    const JobSpec spec =
        parse_job_file(top_text(window, largest + "\nlate = { table = \"late\" }"), "w.toml");
    CHECK(window_of(spec).top == TopSpec{3, 2});
    CHECK(window_of(spec).aggregates.empty());
    CHECK(parse_job_file(to_toml(spec), "again.toml") == spec);
    CHECK_NOTHROW(build_job(spec));
    const std::vector<JobTable> tables = tables_of(spec);
    CHECK(columns_of(tables[0]) ==
          std::vector<std::string>{"window_start", "window_end", "rank", "k", "t", "x"});
    CHECK_FALSE(tables[0].schema.columns[5].nullable);  // Where it is null no row is among them.
    CHECK(columns_of(tables[1]) == std::vector<std::string>{"k", "t", "x"});
    const auto parts = fingerprint_of(spec);
    CHECK(std::count(parts.begin(), parts.end(), FingerprintPart{"top", "3 by x"}) == 1);
  }
}

TEST_CASE("what is wrong with the largest rows is said by line and key",
          "[runtime][job_file][window]") {
  const std::string at = "w.toml:10: ";
  CHECK(top_complaint(seconds, R"(top = { n = 0, by = "x" })") ==
        at + "`step.top.n` is 0; a whole number from 1 to 1000 is expected");
  CHECK(top_complaint(seconds, R"(top = { n = 3, by = "y" })") ==
        at + "`step.top.by`: there is no field `y`; the fields are k, t, x");
  CHECK(top_complaint(seconds, R"(top = { n = 3, by = "x", of = "t" })")
            .find(at + "`step.top.of` is no key that there is; ") == 0);
  CHECK(top_complaint(seconds, "aggregate = { n = \"count()\" }\n" + largest) ==
        at + "a window with `aggregate` and `top`: one of them is expected");
  CHECK(top_complaint(seconds + R"(, allowed_lateness = "1s")", largest) ==
        at + "`step.top` of a window with an allowed lateness: its results are told again, and "
             "`top` has no `pane`");
  CHECK(top_complaint("global = true, every = 2", largest) ==
        at + "`step.top` of a global window: its results are told again, and `top` has no `pane`");
  std::string ranked = top_text(seconds, largest);
  ranked.replace(ranked.find("x = "), 4, "rank = ");
  CHECK(message_of<UsageError>([&] {
          parse_job_file(ranked.replace(ranked.find("\"x\""), 3, "\"t\""), "w.toml");
        }) == at + "the rows have a field `rank`, which `top` gives them");
  const std::string upsert = "mode = \"upsert\"\nkey = [\"k\", \"window_start\"";
  CHECK(top_complaint(seconds, largest, upsert + "]\n") ==
        "w.toml:15: `sink.key` of an upsert sink lacks `rank`; the key of the window and "
        "`window_start` are expected, which tell rows apart");
  CHECK(top_complaint(seconds, largest, upsert + ", \"rank\"]\n").empty());
}
