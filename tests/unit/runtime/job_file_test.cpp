#include "millrace/runtime/job_file.hpp"

#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/node.hpp"

#include "damage.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

/// A job file by lines, so that messages can be told where they point to.
const std::vector<std::string> lines{
    R"([job])",                                                                    // 1
    R"(name = "quakes")",                                                          // 2
    R"(parallelism = 2)",                                                          // 3
    R"([source])",                                                                 // 4
    R"(format = "jsonl")",                                                         // 5
    R"(files = "data/*.jsonl")",                                                   // 6
    R"(fields = { network = "string", time = "int64", magnitude = "float64?" })",  // 7
    R"(event_time = "time")",                                                      // 8
    R"(disorder = "168h")",                                                        // 9
    R"(on_bad_record = "skip")",                                                   // 10
    R"([[step]])",                                                                 // 11
    R"(filter = "network != ''")",                                                 // 12
    R"([[step]])",                                                                 // 13
    R"(window = { tumbling = "1h", key = ["network"] })",                          // 14
    R"(aggregate = { total = 'count()', largest = 'max(magnitude)' })",            // 15
    R"([sink])",                                                                   // 16
    R"(table = "quakes_per_hour")",                                                // 17
    R"(database = "quakes.db")",                                                   // 18
    R"(mode = "staged")",                                                          // 19
    R"(key = ["network", "window_start"])",                                        // 20
    R"(unique = true)",                                                            // 21
    R"([checkpoint])",                                                             // 22
    R"(directory = "elsewhere")",                                                  // 23
    R"(interval = "2s")",                                                          // 24
};

/// The file with line `number`, from 1, replaced.
std::string with_line(std::size_t number, const std::string& text) {
  std::string file;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    file += (i + 1 == number ? text : lines[i]) + "\n";
  }
  return file;
}
std::string whole_file() { return with_line(0, ""); }

JobSpec parse(const std::string& text, const std::vector<Setting>& settings = {}) {
  return parse_job_file(text, "jobs/q.toml", settings);
}

/// The last step of a job, which is a window.
WindowSpec window_of(const JobSpec& spec) { return std::get<WindowSpec>(spec.steps.back().work); }

TableSchema schema_of(const JobSpec& spec) { return tables_of(spec).front().schema; }

/// What is said about the file with a line replaced.
std::string complaint(std::size_t number, const std::string& text) {
  return message_of<UsageError>([&] { parse(with_line(number, text)); });
}
std::string setting_complaint(const std::string& setting) {
  return message_of<UsageError>([&] { parse(whole_file(), {parse_setting(setting)}); });
}
JobSpec with_setting(const std::string& setting) {
  return parse(whole_file(), {parse_setting(setting)});
}

/// A file of the project.
std::string read_file(const std::string& path) {
  std::ifstream file(std::string(MILLRACE_PROJECT) + "/" + path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// So many aggregates, each of its own name.
std::string aggregates(int count) {
  std::string text = "aggregate = { ";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "a" : ", a") + std::to_string(i) + " = \"count()\"";
  }
  return text + " }";
}

}  // namespace

TEST_CASE("a job file says everything that a job is", "[runtime][job_file]") {
  const JobSpec spec = parse(whole_file());

  CHECK(spec.name == "quakes");
  CHECK(spec.parallelism == 2);
  CHECK(spec.sources[0].files == "data/*.jsonl");
  CHECK(spec.sources[0].address == "jobs/data/*.jsonl");  // Beside the job file.
  CHECK(spec.sources[0].fields == std::vector<Field>{{"network", FieldType::text, false},
                                                     {"time", FieldType::integer, false},
                                                     {"magnitude", FieldType::real, true}});
  CHECK(spec.sources[0].event_time == WrittenTime{1, TimeFormat::ms});
  CHECK(spec.sources[0].disorder == 168h);
  CHECK(spec.sources[0].on_bad_record == OnBadRecord::skip);
  REQUIRE(spec.steps.size() == 2);
  CHECK(std::get<FilterSpec>(spec.steps[0].work).text == "network != ''");
  CHECK(std::get<FilterSpec>(spec.steps[0].work).expression ==
        parse_expression("network != ''", spec.sources[0].fields));
  CHECK(window_of(spec).shape.size == 1h);
  CHECK(window_of(spec).key == std::vector<std::uint32_t>{0});
  CHECK(window_of(spec).aggregates ==
        std::vector<AggregateColumn>{{"total", AggregateColumn::Fold::count, true, 0},
                                     {"largest", AggregateColumn::Fold::maximum, false, 2}});
  CHECK(spec.sinks[0].table == "quakes_per_hour");
  CHECK(spec.sinks[0].database == "quakes.db");
  CHECK(spec.sinks[0].key == std::vector<std::string>{"network", "window_start"});
  CHECK(spec.sinks[0].unique_key);
  CHECK(spec.state_directory == "elsewhere");
  CHECK(spec.checkpoint.interval == 2s);
}

TEST_CASE("what a job file leaves out has a default", "[runtime][job_file]") {
  std::string text;
  for (const std::size_t line : {1, 2, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18}) {
    text += lines[line - 1] + "\n";
  }
  const JobSpec spec = parse(text);

  CHECK(spec.parallelism == 1);
  CHECK(spec.sources[0].disorder == 0s);
  CHECK(spec.sources[0].on_bad_record == OnBadRecord::fail);
  CHECK(spec.steps.size() == 1);  // The window.
  CHECK(spec.sinks[0].key.empty());
  CHECK_FALSE(spec.sinks[0].unique_key);
  CHECK(spec.state_directory == "quakes.state");
  CHECK(spec.checkpoint.interval == 1s);
}

TEST_CASE("the jobs of the corpus are read, and written down say the same", "[runtime][job_file]") {
  for (const auto* const name :
       {"quakes.toml", "quakes_feed.toml", "quakes_strong.toml", "after_strong_quakes.toml"}) {
    CAPTURE(name);
    const JobSpec spec = parse_job_file(read_file(std::string("corpus/jobs/") + name), name);
    CHECK(spec.parallelism == 2);
    CHECK(parse_job_file(to_toml(spec), name) == spec);
    CHECK_NOTHROW(build_job(spec));
  }
}

TEST_CASE("the example of the page about job files is a job", "[runtime][job_file]") {
  const std::string page = read_file("runtime/job/JOBFILE.md");
  const std::string fence = "```toml\n";
  const auto begin = page.find(fence) + fence.size();
  const auto end = page.find("```", begin);
  REQUIRE(end != std::string::npos);

  const JobSpec spec = parse(page.substr(begin, end - begin));

  CHECK(spec.name == "quakes");
  CHECK(spec.steps.size() == 2);
  CHECK(parse(to_toml(spec)) == spec);
}

TEST_CASE("a job written down says the same, whatever stands in its texts", "[runtime][job_file]") {
  JobSpec spec = parse(whole_file());
  spec.name = "quotes \" and ' and \\ and \t and \x01 and gr\xC3\xB6\xC3\x9F";
  spec.sources[0].fields[0].name = "a field, with \"all\"";
  spec.sinks[0].key[0] = spec.sources[0].fields[0].name;
  spec.sinks[0].table = "line\nbreak";
  spec.steps.erase(spec.steps.begin());
  spec.steps[0].inputs = {0};
  spec.sinks[0].inputs = {1};
  auto& window = std::get<WindowSpec>(spec.steps[0].work);
  window.aggregates[0].name = "n \\";
  window.shape.size = 90s;
  spec.sources[0].disorder = 1ms;
  spec.checkpoint.interval = 1500ms;

  CHECK(parse(to_toml(spec)) == spec);
  spec.sinks[0].key.clear();
  spec.sinks[0].unique_key = false;
  CHECK(parse(to_toml(spec)) == spec);
}

TEST_CASE("paths of input are beside the job file unless they are absolute",
          "[runtime][job_file]") {
  const auto address = [](const std::string& file) {
    return parse_job_file(whole_file(), file).sources[0].address;
  };
  CHECK(address("q.toml") == "data/*.jsonl");
  CHECK(address("/etc/jobs/q.toml") == "/etc/jobs/data/*.jsonl");
  CHECK(parse(with_line(6, "files = \"/var/*.jsonl\"")).sources[0].address == "/var/*.jsonl");
}

TEST_CASE("fields and aggregates keep the order of the file", "[runtime][job_file]") {
  const JobSpec spec = parse(with_line(15, R"(aggregate = { z = 'count()', a = 'avg(time)', )"
                                           R"(m = 'sum(magnitude)', b = 'count(network)' })"));
  std::vector<std::string> names;
  for (const auto& column : window_of(spec).aggregates) names.push_back(column.name);
  CHECK(names == std::vector<std::string>{"z", "a", "m", "b"});
}

TEST_CASE("fields may be written as a table of their own", "[runtime][job_file]") {
  // Such a table ends the section that it stands in, so it is written last.
  std::string text = with_line(7, "");
  text.replace(
      text.find("[[step]]"), 0,
      "[source.fields]\nnetwork = \"string\"\ntime = \"int64\"\nmagnitude = \"float64?\"\n");
  CHECK(parse(text) == parse(whole_file()));
}

TEST_CASE("what is not TOML is said to be so, with its line", "[runtime][job_file]") {
  CHECK(complaint(3, "parallelism =").find("jobs/q.toml:3: this is not TOML: ") == 0);
  CHECK(complaint(3, "name = \"again\"").find("jobs/q.toml:3: this is not TOML: ") == 0);
  CHECK(complaint(7, R"(fields = { time = "int64", time = "int64" })")
            .find("jobs/q.toml:7: this is not TOML: ") == 0);
}

TEST_CASE("a key that there is not is named, with those that there are", "[runtime][job_file]") {
  const std::string no_key = " is no key that there is; ";
  CHECK(complaint(3, "paralelism = 2") ==
        "jobs/q.toml:3: `job.paralelism`" + no_key + "[job] has name, parallelism");
  CHECK(complaint(10, "onbadrecord = \"fail\"") ==
        "jobs/q.toml:10: `source.onbadrecord`" + no_key +
            "[source] has disorder, event_time, event_time_format, fields, files, format, "
            "idle_after, on_bad_record");
  CHECK(complaint(12, "filter = \"time == 1\"\nfliter = \"time == 2\"") ==
        "jobs/q.toml:13: `step.fliter`" + no_key +
            "[step] has filter, from, join, keep, name, set, window");
  CHECK(complaint(14, R"(window = { tumbling = "1h", key = ["network"], slide = "5s" })") ==
        "jobs/q.toml:14: `step.window.slide`" + no_key +
            "[step.window] has allowed_lateness, global, key, offset, sessions, sliding, tumbling");
  CHECK(complaint(21, "uniqe = true") == "jobs/q.toml:21: `sink.uniqe`" + no_key +
                                             "[sink] has database, from, key, mode, table, unique");
  CHECK(complaint(23, "dir = \"x\"") ==
        "jobs/q.toml:23: `checkpoint.dir`" + no_key +
            "[checkpoint] has directory, interval, min_pause, retained, timeout, "
            "tolerable_failures");
  CHECK(complaint(22, "[checkpint]") ==
        "jobs/q.toml:22: `checkpint`" + no_key +
            "the file has checkpoint, job, restart, sink, sinks, source, sources, step");
}

TEST_CASE("a key that is missing is named, with where and what was expected",
          "[runtime][job_file]") {
  CHECK(complaint(2, "") == "jobs/q.toml:1: `job.name` is missing; a text is expected");
  CHECK(complaint(5, "") == "jobs/q.toml:4: `source.format` is missing; a text is expected");
  CHECK(complaint(6, "") == "jobs/q.toml:4: `source.files` is missing; a text is expected");
  CHECK(complaint(7, "") == "jobs/q.toml:4: `source.fields` is missing; a table is expected");
  CHECK(complaint(8, "") == "jobs/q.toml:4: `source.event_time` is missing; a text is expected");
  CHECK(complaint(14, "window = { key = [\"network\"] }") ==
        "jobs/q.toml:14: a window of no kind: one of `tumbling`, `sliding`, `sessions` and "
        "`global` is expected");
  CHECK(complaint(14, "window = { tumbling = \"1h\" }") ==
        "jobs/q.toml:14: `step.window.key` is missing; a list of texts, such as [\"a\", \"b\"], is "
        "expected");
  CHECK(complaint(15, "") == "jobs/q.toml:13: `step.aggregate` is missing; a table is expected");
  CHECK(complaint(17, "") == "jobs/q.toml:16: `sink.table` is missing; a text is expected");
  CHECK(complaint(18, "") == "jobs/q.toml:16: `sink.database` is missing; a text is expected");
  CHECK(complaint(1, "[jb]") == "jobs/q.toml:1: `job` is missing; a table is expected");
  CHECK(complaint(4, "[sourc]") == "jobs/q.toml:1: `source` is missing; a table is expected");
  CHECK(complaint(16, "[snk]") == "jobs/q.toml:1: `sink` is missing; a table is expected");
}

TEST_CASE("a value of the wrong type is named, with what it is and what was expected",
          "[runtime][job_file]") {
  CHECK(complaint(2, "name = 5") == "jobs/q.toml:2: `job.name` is 5; a text in quotes is expected");
  CHECK(complaint(2, "name = \"\"") ==
        "jobs/q.toml:2: `job.name` is \"\"; a text that is not empty is expected");
  CHECK(complaint(2, "name = 2024-01-01") ==
        "jobs/q.toml:2: `job.name` is a date or time; a text in quotes is expected");
  CHECK(complaint(3, "parallelism = \"2\"") ==
        "jobs/q.toml:3: `job.parallelism` is \"2\"; a whole number from 1 to 128 is expected");
  CHECK(complaint(3, "parallelism = 2.0") ==
        "jobs/q.toml:3: `job.parallelism` is a fraction; a whole number from 1 to 128 is expected");
  CHECK(complaint(6, "files = [\"a\"]") ==
        "jobs/q.toml:6: `source.files` is a list; a text in quotes is expected");
  CHECK(complaint(7, "fields = 5") == "jobs/q.toml:7: `source.fields` is 5; a table is expected");
  CHECK(complaint(12, "filter = 5") ==
        "jobs/q.toml:12: `step.filter` is 5; a text in quotes is expected");
  CHECK(complaint(14, "window = true") ==
        "jobs/q.toml:14: `step.window` is true; a table is expected");
  CHECK(
      complaint(14, R"(window = { tumbling = "1h", key = "network" })") ==
      "jobs/q.toml:14: `step.window.key` is \"network\"; a list of texts, such as [\"a\", \"b\"], "
      "is expected");
  CHECK(complaint(21, "unique = 1") ==
        "jobs/q.toml:21: `sink.unique` is 1; true or false is expected");
}

TEST_CASE("parallelism is bounded by the number of key groups", "[runtime][job_file]") {
  const auto with_parallelism = [](int p) { return "parallelism = " + std::to_string(p); };
  const std::string expected = "; a whole number from 1 to 128 is expected";
  CHECK(complaint(3, with_parallelism(0)) == "jobs/q.toml:3: `job.parallelism` is 0" + expected);
  CHECK(parse(with_line(3, with_parallelism(1))).parallelism == 1);
  CHECK(parse(with_line(3, with_parallelism(128))).parallelism == 128);
  CHECK(complaint(3, with_parallelism(129)) ==
        "jobs/q.toml:3: `job.parallelism` is 129" + expected);
}

TEST_CASE("only what there is may be chosen", "[runtime][job_file]") {
  CHECK(complaint(5, "format = \"xml\"") ==
        "jobs/q.toml:5: `source.format` is \"xml\"; \"jsonl\" or \"csv\" is expected");
  CHECK(complaint(10, "on_bad_record = \"ignore\"") ==
        "jobs/q.toml:10: `source.on_bad_record` is \"ignore\"; \"fail\" or \"skip\" is expected");
  CHECK(
      complaint(19, "mode = \"magic\"") ==
      "jobs/q.toml:19: `sink.mode` is \"magic\"; \"staged\", \"upsert\" or \"insert\" is expected");
}

TEST_CASE("a span has a whole number and a unit", "[runtime][job_file]") {
  const auto disorder_of = [](const std::string& span) {
    return parse(with_line(9, "disorder = \"" + span + "\"")).sources[0].disorder;
  };
  CHECK(disorder_of("0s") == 0ms);
  CHECK(disorder_of("1ms") == 1ms);
  CHECK(disorder_of("90s") == 90s);
  CHECK(disorder_of("5min") == 5min);
  CHECK(disorder_of("36h") == 36h);
  CHECK(disorder_of("2d") == 48h);

  for (const auto* const span : {"10", "s", "10 s", "1.5h", "10parsecs", "-1s", "+1s", "1h30min",
                                 "99999999999999999999s", "10S"}) {
    CAPTURE(span);
    CHECK(complaint(9, "disorder = \"" + std::string(span) + "\"") ==
          "jobs/q.toml:9: `source.disorder` is \"" + std::string(span) +
              "\"; a span such as \"10s\", with ms, s, min, h or d is expected");
  }
  CHECK(
      complaint(9, "disorder = 10") ==
      "jobs/q.toml:9: `source.disorder` is 10; a span such as \"10s\", with ms, s, min, h or d is "
      "expected");
}

TEST_CASE("the longest span is a hundred thousand days, in every unit", "[runtime][job_file]") {
  constexpr std::pair<std::int64_t, const char*> units[] = {
      {1, "d"}, {24, "h"}, {1440, "min"}, {86'400, "s"}, {86'400'000, "ms"}};
  for (const auto& [per_day, unit] : units) {
    const auto span = [&](std::int64_t more) {
      return parse_duration(std::to_string(100'000 * per_day + more) + unit);
    };
    CHECK(span(-1).has_value());
    CHECK(span(0) == Duration{100'000 * std::int64_t{86'400'000}});
    CHECK_FALSE(span(1).has_value());
  }
}

TEST_CASE("spans are written in the largest unit that divides them, and read back",
          "[runtime][job_file]") {
  CHECK(describe(Duration{0}) == "0s");
  CHECK(describe(Duration{1}) == "1ms");
  CHECK(describe(Duration{1'500}) == "1500ms");
  CHECK(describe(Duration{60'000}) == "1min");
  CHECK(describe(Duration{90'000}) == "90s");
  CHECK(describe(Duration{168h}) == "7d");
  CHECK(describe(Duration{25h}) == "25h");
  for (const std::int64_t ms : {0, 1, 999, 1'000, 59'999, 3'600'000, 86'400'000, 123'456'789}) {
    CHECK(parse_duration(describe(Duration{ms})) == Duration{ms});
  }
}

TEST_CASE("a window and an interval are longer than nothing", "[runtime][job_file]") {
  CHECK(complaint(14, R"(window = { tumbling = "0s", key = ["network"] })") ==
        "jobs/q.toml:14: a window of no length: a span above 0 is expected");
  CHECK(window_of(parse(with_line(14, R"(window = { tumbling = "1ms", key = ["network"] })")))
            .shape.size == 1ms);
  CHECK(complaint(24, "interval = \"0s\"") ==
        "jobs/q.toml:24: `checkpoint.interval` is 0; a span above 0 is expected");
}

TEST_CASE("checkpoints and restarts are as the options are, if a file says nothing of them",
          "[runtime][job_file]") {
  const JobSpec spec = parse(with_line(24, ""));
  CHECK(spec.checkpoint == CheckpointOptions{});
  CHECK(spec.restart == RestartOptions{});
  const std::string written = to_toml(spec);
  for (const auto* const line :
       {"interval = \"1s\"\n", "min_pause = \"0s\"\n", "timeout = \"10s\"\n",
        "tolerable_failures = 3\n", "retained = 1\n",
        "[restart]\nstrategy = \"exponential\"\ndelay = \"100ms\"\n",
        "max_delay = \"5s\"\nattempts = 10\n"}) {
    CHECK(written.find(line) != std::string::npos);
  }
  CHECK(written.find("within") == std::string::npos);
}

TEST_CASE("a file says when checkpoints are taken and how a job restarts", "[runtime][job_file]") {
  const std::string file = with_line(
      24,
      "interval = \"200ms\"\nmin_pause = \"50ms\"\ntimeout = \"3s\"\n"
      "tolerable_failures = 0\nretained = 7\n[restart]\ndelay = \"1s\"\nmax_delay = \"1min\"\n"
      "attempts = 4\nwithin = \"1h\"");
  JobSpec spec = parse(file);
  CHECK(spec.checkpoint == CheckpointOptions{200ms, 50ms, 3s, 0, 7});
  CHECK(spec.restart == RestartOptions{RestartOptions::Strategy::exponential, 1s, 1min, 4, 1h});
  CHECK(parse(to_toml(spec)) == spec);
  CHECK(fingerprint_of(spec) == fingerprint_of(parse(whole_file())));

  // A fixed delay has no largest one, and one that begins high goes no higher by itself.
  spec = parse(with_line(24, "[restart]\nstrategy = \"fixed\"\ndelay = \"7s\""));
  CHECK(spec.restart.strategy == RestartOptions::Strategy::fixed);
  CHECK(spec.restart.delay == 7s);
  CHECK(parse(to_toml(spec)) == spec);
  CHECK(parse(with_line(24, "[restart]\ndelay = \"7s\"")).restart.max_delay == 7s);
}

TEST_CASE("what checkpoints and restarts cannot be is named, with what was expected",
          "[runtime][job_file]") {
  const std::string at = "jobs/q.toml:24: ";
  CHECK(complaint(24, "timeout = \"0s\"") ==
        at + "`checkpoint.timeout` is 0; a span above 0 is expected");
  CHECK(complaint(24, "min_pause = \"-1s\"") ==
        at + "`checkpoint.min_pause` is \"-1s\"; a span such as \"10s\", with ms, s, min, h or d "
             "is expected");
  CHECK(complaint(24, "tolerable_failures = 1001") ==
        at + "`checkpoint.tolerable_failures` is 1001; a whole number from 0 to 1000 is expected");
  for (const std::string kept : {"0", "101"}) {
    CHECK(complaint(24, "retained = " + kept) ==
          at + "`checkpoint.retained` is " + kept + "; a whole number from 1 to 100 is expected");
  }
  const auto of_restart = [&](const std::string& text) {
    return complaint(24, "[restart]\n" + text);
  };
  const std::string behind = "jobs/q.toml:25: ";
  CHECK(of_restart("strategy = \"never\"") ==
        behind + "`restart.strategy` is \"never\"; \"fixed\" or \"exponential\" is expected");
  CHECK(of_restart("max_delay = \"1s\"\ndelay = \"5s\"") ==
        behind + "`restart.max_delay` is 1s, and `restart.delay` 5s; at least as much is expected");
  CHECK(of_restart("max_delay = \"1s\"\nstrategy = \"fixed\"") ==
        behind + "`restart.max_delay` of a fixed strategy: its delay does not change");
  CHECK(of_restart("attempts = -1") ==
        behind + "`restart.attempts` is -1; a whole number from 0 to 1000000 is expected");
  CHECK(of_restart("within = \"0s\"") ==
        behind + "`restart.within` is 0; a span above 0 is expected");
  CHECK(of_restart("retries = 3") ==
        behind +
            "`restart.retries` is no key that there is; [restart] has attempts, delay, max_delay, "
            "strategy, within");
}

TEST_CASE("checkpoints and restarts can be set without a section for them", "[runtime][job_file]") {
  CHECK(with_setting("restart.attempts=0").restart.attempts == 0);
  const std::string without = whole_file().substr(0, whole_file().find("[checkpoint]"));
  CHECK(parse(without, {{"checkpoint.timeout", "2s"}}).checkpoint.timeout == 2s);

  const OperationSettings said = parse_operation(
      {{"checkpoint.directory", "there"}, {"checkpoint.interval", "2s"}, {"restart.delay", "0s"}});
  CHECK(said.state_directory == "there");
  CHECK(said.checkpoint.interval == 2s);
  CHECK(said.restart.delay == 0s);
  CHECK(parse_operation({}).state_directory.empty());
  CHECK(message_of<UsageError>([] {
          parse_operation({{"checkpoint.timeout", "0s"}});
        }) == "--set: `checkpoint.timeout` is 0; a span above 0 is expected");
  CHECK(message_of<UsageError>([] {
          parse_operation({{"restart.pause", "1s"}});
        }) ==
        "--set: `restart.pause` is no key that there is; [restart] has attempts, delay, max_delay, "
        "strategy, "
        "within");
}

TEST_CASE("types of fields are those that there are", "[runtime][job_file]") {
  for (const auto* const type : {"\"strin\"", "\"int64??\"", "\"?\"", "\"\"", "5", "\"Int64\""}) {
    CAPTURE(type);
    CHECK(complaint(7, "fields = { time = \"int64\", x = " + std::string(type) + " }") ==
          "jobs/q.toml:7: `source.fields.x` is expected to be \"string\", \"int64\" or "
          "\"float64\", with `?` behind it if it may be null");
  }
}

TEST_CASE("a row has at most 64 fields", "[runtime][job_file]") {
  const auto fields = [](int count) {
    std::string text = "fields = { network = \"string\", time = \"int64\", magnitude = \"float64\"";
    for (int i = 3; i < count; ++i) text += ", f" + std::to_string(i) + " = \"int64\"";
    return text + " }";
  };
  CHECK(parse(with_line(7, fields(63))).sources[0].fields.size() == 63);
  CHECK(parse(with_line(7, fields(64))).sources[0].fields.size() == 64);
  CHECK(complaint(7, fields(65)) == "jobs/q.toml:7: more than 64 fields");
}

TEST_CASE("a result has at most 64 aggregates", "[runtime][job_file]") {
  CHECK(window_of(parse(with_line(15, aggregates(64)))).aggregates.size() == 64);
  CHECK(complaint(15, aggregates(65)).find("jobs/q.toml:15: ") == 0);
}

TEST_CASE("a field that there is not is named, with those that there are", "[runtime][job_file]") {
  const std::string fields = "; the fields are network, time, magnitude";
  CHECK(complaint(8, "event_time = \"tme\"") ==
        "jobs/q.toml:8: `source.event_time`: there is no field `tme`" + fields);
  CHECK(complaint(12, "filter = \"netwrk != ''\"") ==
        "jobs/q.toml:12: `filter`: there is no field `netwrk`" + fields);
  CHECK(complaint(14, "window = { tumbling = \"1h\", key = [\n\"network\",\n\"tme\"] }") ==
        "jobs/q.toml:16: `step.window.key`: there is no field `tme`" + fields);
  CHECK(complaint(15, R"(aggregate = { n = 'sum(magnitud)' })") ==
        "jobs/q.toml:15: `step.aggregate.n`: there is no field `magnitud`" + fields);
  CHECK(complaint(20, R"(key = ["netwrk"])") ==
        "jobs/q.toml:20: the table has no column `netwrk`; its columns are network, window_start, "
        "window_end, total, largest");
}

TEST_CASE("an event time is a field of whole numbers that is never null", "[runtime][job_file]") {
  CHECK(complaint(8, "event_time = \"network\"") ==
        "jobs/q.toml:8: `source.event_time` is `network`, which is string; a field of type "
        "\"int64\" is expected");
  CHECK(complaint(8, "event_time = \"magnitude\"") ==
        "jobs/q.toml:8: `source.event_time` is `magnitude`, which is float64?; a field of type "
        "\"int64\" is expected");
  CHECK(
      complaint(7, R"(fields = { network = "string", time = "int64?", magnitude = "float64" })") ==
      "jobs/q.toml:8: `source.event_time` is `time`, which is int64?; a field of type "
      "\"int64\" is expected");
}

TEST_CASE("an event time is written in one of four ways", "[runtime][job_file]") {
  const auto with_format = [](const std::string& format) {
    return with_line(8, "event_time = \"time\"\nevent_time_format = \"" + format + "\"");
  };
  for (const std::string format : {"ms", "s", "us"}) {
    const JobSpec spec = parse(with_format(format));
    CHECK(describe(spec.sources[0].event_time.format) == format);
    CHECK(parse(to_toml(spec)) == spec);
  }
  CHECK(message_of<UsageError>([&] { parse(with_format("min")); }) ==
        "jobs/q.toml:9: `source.event_time_format` is \"min\"; \"ms\", \"s\", \"us\" or "
        "\"iso8601\" is expected");
  CHECK(message_of<UsageError>([&] { parse(with_format("iso8601")); }) ==
        "jobs/q.toml:8: `source.event_time` is `time`, which is int64; a field of type \"string\" "
        "is expected");
  const JobSpec texts =
      parse(with_line(8, "event_time = \"network\"\nevent_time_format = \"iso8601\""));
  CHECK(texts.sources[0].event_time == WrittenTime{0, TimeFormat::iso8601});
  std::string said;
  for (const FingerprintPart& part : fingerprint_of(texts)) {
    if (part.key == "source.event_time_format") said = part.value;
  }
  CHECK(said == "iso8601");
}

TEST_CASE("a partition that gives nothing falls idle after a span above 0", "[runtime][job_file]") {
  CHECK_FALSE(parse(whole_file()).sources[0].idle_after);
  const JobSpec spec = parse(with_line(9, "disorder = \"1s\"\nidle_after = \"30s\""));
  CHECK(spec.sources[0].idle_after == 30s);
  CHECK(parse(to_toml(spec)) == spec);
  CHECK(build_job(spec).nodes().front()->falls_idle);
  CHECK(complaint(9, "idle_after = \"0s\"") ==
        "jobs/q.toml:9: `source.idle_after` is 0; a span above 0 is expected");
}

TEST_CASE("a key is of fields that can be told apart", "[runtime][job_file]") {
  CHECK(complaint(14, R"(window = { tumbling = "1h", key = ["magnitude"] })") ==
        "jobs/q.toml:14: `magnitude` is a float64, which makes no key: equal numbers can be "
        "written differently");
  CHECK(complaint(14, R"(window = { tumbling = "1h", key = ["network", "network"] })") ==
        "jobs/q.toml:14: `network` stands in the key twice");
  CHECK(complaint(14, R"(window = { tumbling = "1h", key = [] })") ==
        "jobs/q.toml:14: a key of one field or more is expected");
  CHECK(
      window_of(parse(with_line(14, R"(window = { tumbling = "1h", key = ["time", "network"] })")))
          .key == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("no two columns of a table have one name", "[runtime][job_file]") {
  for (const auto* const name : {"network", "window_start", "window_end"}) {
    CHECK(complaint(15, "aggregate = { " + std::string(name) + " = \"count()\" }") ==
          "jobs/q.toml:15: `step.aggregate." + std::string(name) +
              "` is the name of another column");
  }
  CHECK(window_of(parse(with_line(15, R"(aggregate = { magnitude = 'max(magnitude)' })")))
            .aggregates.size() == 1);  // A field that is no column.
}

TEST_CASE("a field of the key that is called like a column of every table is refused",
          "[runtime][job_file]") {
  const std::string fields = R"(fields = { window_start = "int64", network = "string", )"
                             R"(time = "int64", magnitude = "float64?" })";
  std::string text = with_line(14, R"(window = { tumbling = "1h", key = ["window_start"] })");
  text.replace(text.find(lines[6]), lines[6].size(), fields);
  text.replace(text.find(lines[19]), lines[19].size(), R"(key = ["window_start"])");

  CHECK(message_of<UsageError>([&] { parse(text); }).find("jobs/q.toml:14: ") == 0);
}

TEST_CASE("an aggregate is one of those that there are, of a field that it can fold",
          "[runtime][job_file]") {
  const auto aggregate = [](const std::string& value) {
    return complaint(15, "aggregate = { n = " + value + " }");
  };
  const std::string expected =
      "; count(), count(FIELD), count_distinct(FIELD), sum(FIELD), min(FIELD), max(FIELD) or "
      "avg(FIELD) is expected";
  for (const std::string text :
       {"median(magnitude)", "count", "count(", "(magnitude)", "", "COUNT()"}) {
    CHECK(aggregate("\"" + text + "\"") ==
          "jobs/q.toml:15: `step.aggregate.n` is \"" + text + "\"" + expected);
  }
  CHECK(aggregate("\"sum(network)\"") ==
        "jobs/q.toml:15: `step.aggregate.n` is \"sum(network)\", and `network` is a string; a "
        "number is expected");
  CHECK(aggregate("\"count(network)\"").empty());
  CHECK(complaint(15, "aggregate = {}") ==
        "jobs/q.toml:15: one aggregate or more is expected, such as { count = \"count()\" }");
}

TEST_CASE("an aggregate that is no text is said to be what it is", "[runtime][job_file]") {
  CHECK(complaint(15, "aggregate = { n = 5 }").find("jobs/q.toml:15: `step.aggregate.n` is 5;") ==
        0);
}

TEST_CASE("a step does one thing", "[runtime][job_file]") {
  const std::string either =
      "a [[step]] has one of `filter`, `set`, `keep`, `join`, and `window` with `aggregate` or "
      "`top`";
  CHECK(complaint(12, "") == "jobs/q.toml:11: " + either);
  CHECK(complaint(14, "") == "jobs/q.toml:13: " + either);
  CHECK(complaint(12, lines[11] + "\n" + lines[13]) == "jobs/q.toml:11: " + either);
}

TEST_CASE("a sink has one of three modes", "[runtime][job_file]") {
  CHECK(parse(with_line(19, "")).sinks[0].mode == SinkMode::staged);
  CHECK(parse(with_line(19, "mode = \"upsert\"")).sinks[0].mode == SinkMode::upsert);
  std::string insert = with_line(19, "mode = \"insert\"");
  CHECK(message_of<UsageError>([&] { parse(insert); }) ==
        "jobs/q.toml:21: `sink.unique` is true, and an insert sink writes rows again");
  insert.replace(insert.find("unique = true"), 13, "");
  CHECK(parse(insert).sinks[0].mode == SinkMode::insert);
  for (const SinkMode mode : {SinkMode::staged, SinkMode::upsert, SinkMode::insert}) {
    JobSpec spec = parse(whole_file());
    spec.sinks[0].mode = mode;
    spec.sinks[0].unique_key = false;
    CHECK(schema_of(spec).mode == mode);
    CHECK(parse_job_file(to_toml(spec), "again.toml").sinks[0].mode == mode);
  }
}

TEST_CASE("the key of an upsert sink tells all rows apart", "[runtime][job_file]") {
  const auto upsert = [](const std::string& key) {
    std::string text = with_line(19, "mode = \"upsert\"");
    const std::string line = lines[19];
    return message_of<UsageError>([&] { parse(text.replace(text.find(line), line.size(), key)); });
  };
  const std::string apart =
      "; the key of the window and `window_start` are expected, which tell rows apart";
  CHECK(upsert(R"(key = ["network", "window_start"])").empty());
  CHECK(upsert(R"(key = ["window_end", "network"])").empty());
  CHECK(upsert(R"(key = ["window_start"])") ==
        "jobs/q.toml:20: `sink.key` of an upsert sink lacks `network`" + apart);
  CHECK(upsert(R"(key = ["network"])") ==
        "jobs/q.toml:20: `sink.key` of an upsert sink lacks `window_start`" + apart);
  CHECK(upsert(R"(key = ["network", "window_start", "largest"])") ==
        "jobs/q.toml:20: `sink.key` of an upsert sink has `largest`, which may be null");
}

TEST_CASE("a key is unique only if there is one", "[runtime][job_file]") {
  CHECK(complaint(20, "") ==
        "jobs/q.toml:21: `sink.unique` is true without a `sink.key` that could be unique");
  CHECK(complaint(20, "key = []") ==
        "jobs/q.toml:21: `sink.unique` is true without a `sink.key` that could be unique");
}

TEST_CASE("a setting is a key and a value", "[runtime][job_file]") {
  CHECK(parse_setting("sink.table=other").key == "sink.table");
  CHECK(parse_setting("sink.table=other").value == "other");
  CHECK(parse_setting("a=b=c").value == "b=c");
  CHECK(parse_setting("a=").value.empty());
  for (const auto* const text : {"a", "=b", ""}) {
    CHECK(message_of<UsageError>([&] { parse_setting(text); }) ==
          "--set " + std::string(text) + ": key=value is expected, such as sink.table=other");
  }
}

TEST_CASE("a setting replaces or adds a value", "[runtime][job_file]") {
  CHECK(with_setting("sink.table=other").sinks[0].table == "other");  // A bare word is a text.
  CHECK(with_setting("sink.table=two words").sinks[0].table == "two words");
  CHECK(with_setting("sink.table=\"5\"").sinks[0].table == "5");
  CHECK(with_setting("job.parallelism=3").parallelism == 3);
  CHECK(with_setting("sink.unique=false").sinks[0].unique_key == false);
  CHECK(with_setting("checkpoint.interval=5s").checkpoint.interval == 5s);
  CHECK(std::get<FilterSpec>(with_setting("step.0.filter=time == 5").steps[0].work).text ==
        "time == 5");
  CHECK(window_of(with_setting("step.1.window.tumbling=2h")).shape.size == 2h);
  CHECK(with_setting("sink.key=[\"window_start\"]").sinks[0].key ==
        std::vector<std::string>{"window_start"});
  const JobSpec more = with_setting("source.fields.depth=float64");
  CHECK(more.sources[0].fields.back() ==
        Field{"depth", FieldType::real, false});  // Behind those of the file.
}

TEST_CASE("the last of several settings counts", "[runtime][job_file]") {
  CHECK(parse(whole_file(), {{"sink.table", "a"}, {"sink.table", "b"}}).sinks[0].table == "b");
}

TEST_CASE("what a setting has put there stands on no line", "[runtime][job_file]") {
  CHECK(setting_complaint("job.parallelism=many") ==
        "jobs/q.toml: `job.parallelism` is \"many\"; a whole number from 1 to 128 is expected");
  CHECK(setting_complaint("sink.tabel=other") ==
        "jobs/q.toml: `sink.tabel` is no key that there is; [sink] has database, from, key, mode, "
        "table, unique");
  CHECK(setting_complaint("step.1.window.key=[\"netwrk\"]") ==
        "jobs/q.toml: `step.window.key`: there is no field `netwrk`; the fields are network, time, "
        "magnitude");
  CHECK(setting_complaint("sink.table=5") ==
        "jobs/q.toml: `sink.table` is 5; a text in quotes is expected");
  CHECK(setting_complaint("sink.table=") ==
        "jobs/q.toml: `sink.table` is \"\"; a text that is not empty is expected");
}

TEST_CASE("a setting of what has no place is named", "[runtime][job_file]") {
  const auto no_place = [](const std::string& setting, const std::string& part) {
    CHECK(setting_complaint(setting) ==
          "--set " + setting + ": there is nothing called `" + part + "` to set");
  };
  no_place("snk.table=x", "snk");
  no_place("step.9.filter=x", "9");
  no_place("step.one.filter=x", "one");
  no_place("step.0=x", "0");
  no_place("sink.table.name=x", "name");
  no_place("sink.=x", "");
  no_place(".sink=x", "");
}

TEST_CASE("a fingerprint covers what state depends on, key by key", "[runtime][job_file]") {
  const JobSpec spec = parse(whole_file());
  const std::vector<FingerprintPart> expected{
      {"source.format", "jsonl"},
      {"source.files", "data/*.jsonl"},
      {"source.fields", "network = string, time = int64, magnitude = float64?"},
      {"source.event_time", "time"},
      {"source.disorder", "7d"},
      {"source.on_bad_record", "skip"},
      {"filter 1", "network != ''"},
      {"window.tumbling", "1h"},
      {"window.key", "network"},
      {"aggregate", "total = count(), largest = max(magnitude)"},
      {"sink.table", "quakes_per_hour"},
      {"sink.mode", "staged"},
      {"sink.key", "network, window_start"}};
  CHECK(fingerprint_of(spec) == expected);
  CHECK(build_job(spec).fingerprint() == expected);

  // And not what may change from run to run.
  JobSpec other = spec;
  other.name = "other";
  other.parallelism = 5;
  other.sinks[0].database = "elsewhere.db";
  other.state_directory = "there";
  other.checkpoint.interval = 9s;
  other.sources[0].address = "/moved/data/*.jsonl";
  CHECK(fingerprint_of(other) == expected);
}

TEST_CASE("the table of a job has its key, its window and its aggregates as columns",
          "[runtime][job_file]") {
  const TableSchema schema = schema_of(
      parse(with_line(15, R"(aggregate = { n = 'count(magnitude)', s = 'sum(magnitude)', )"
                          R"(a = 'avg(time)', m = 'min(time)' })")));
  using Type = TableSchema::Type;
  CHECK(schema.table == "quakes_per_hour");
  CHECK(schema.columns == std::vector<TableSchema::Column>{{"network", Type::text, false},
                                                           {"window_start", Type::integer, false},
                                                           {"window_end", Type::integer, false},
                                                           {"n", Type::integer, false},
                                                           {"s", Type::real, true},
                                                           {"a", Type::real, false},
                                                           {"m", Type::integer, false}});
  CHECK(schema.key == std::vector<std::string>{"network", "window_start"});
  CHECK(schema.unique_key);
}

TEST_CASE("the job of a file has a source, a window and a sink", "[runtime][job_file]") {
  const JobSpec spec = parse(whole_file());
  const Job job = build_job(spec);

  std::vector<std::string> names;
  for (const Node* node : job.nodes()) names.push_back(node->name);
  CHECK(names == std::vector<std::string>{"source", "", "window", "sink"});
  CHECK(job.name() == "quakes");
  CHECK(job.nodes().front()->address == "jobs/data/*.jsonl");
  REQUIRE(job.nodes().back()->sink.has_value());
  CHECK(job.nodes().back()->sink->database == "quakes.db");
  CHECK(job.nodes().back()->sink->schema == schema_of(spec));
}
