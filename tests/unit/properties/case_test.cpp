#include "millrace/properties/case.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_file.hpp"

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;
using namespace std::chrono_literals;

namespace {

using Files = std::map<std::string, std::string>;

std::string same_path(const std::string& origin) { return origin; }

Case read_back(const std::string& text, const Files& files = {}) {
  return parse_case(text, "case.toml", [&](const std::string& path) {
    const auto found = files.find(path);
    if (found == files.end()) throw UsageError(path + ": there is no such file");
    return found->second;
  });
}

Case small_case() {
  Case made;
  made.job = spec_of(SmallJob{});
  made.input = input_of({record("a", 0)});
  made.cluster = {2, 3};
  made.arrival = 2400ms;
  made.checkpoint.interval = 300ms;
  made.seed = 0xAB;
  made.plan.faults = {
      faults::parse_fault("kill node=worker1 at='sink_staged n=3' down=200ms"),
      faults::parse_fault("pause node=log at=17ns lasts=3s"),
  };
  return made;
}

void check_equal(Case read, const Case& written) {
  read.job.sources[0].address =
      written.job.sources[0].address;  // Where the job file was is not part of a case.
  CHECK(read.job == written.job);
  CHECK(read.input == written.input);
  CHECK(read.cluster == written.cluster);
  CHECK(read.arrival == written.arrival);
  CHECK(read.checkpoint == written.checkpoint);
  CHECK(read.restart == written.restart);
  CHECK(read.seed == written.seed);
  CHECK(read.is_quiet == written.is_quiet);
  CHECK(read.choices == written.choices);
  CHECK(read.plan == written.plan);
  CHECK(read.expect == written.expect);
  CHECK(read.build == written.build);
  CHECK(read.trace_hash == written.trace_hash);
}

std::string written_and_read(const std::string& partition_text) {
  Case made = small_case();
  made.input.partitions[0].text = partition_text;
  return read_back(to_text(made, {}, same_path)).input.partitions[0].text;
}

/// A case of 15 lines, the job in one of them.
const std::vector<std::string> plain_lines{
    "format = 1",
    "expect = \"held\"",
    "seed = \"ab\"",
    "job = " + toml_quoted(job_text(SmallJob{})),
    "[cluster]",
    "workers = 2",
    "parallelism = 3",
    "[timing]",
    "arrival = \"2s\"",
    "checkpoint_interval = \"100ms\"",
    "[plan]",
    "faults = [\"kill node=worker1 at=1s down=1s\"]",
    "[[input]]",
    "partition = \"p.jsonl\"",
    R"(lines = ['{"k": "a", "t": 0}'])",
};

/// The case with other text in the place of line `line`, from 1; 0: as it is.
std::string plain_case(std::size_t line = 0, const std::string& instead = "") {
  std::string text;
  for (std::size_t i = 1; i <= plain_lines.size(); ++i) {
    text += (i == line ? instead : plain_lines[i - 1]) + "\n";
  }
  return text;
}

std::string complaint(std::size_t line, const std::string& instead) {
  return complaint_of([&] { read_back(plain_case(line, instead)); });
}

/// 201 lines: one more than is written out.
InputPartition long_partition(const std::string& origin) {
  std::vector<std::string> lines;
  for (int i = 0; i <= 200; ++i) lines.push_back(record("a", i));
  InputPartition partition = partition_of("long.jsonl", lines);
  partition.origin = origin;
  return partition;
}

}  // namespace

TEST_CASE("a case is written as its page says", "[properties][case]") {
  Case made = small_case();
  made.expect = Verdict::breached;
  made.build = "b1";
  made.trace_hash = 0xFEDCBA9876543210;

  CHECK(to_text(made, {"small: breached", "visibility: rows are lost"}, same_path) ==
        "# small: breached\n"
        "# visibility: rows are lost\n"
        "format = 1\n"
        "expect = \"breached\"\n"
        "seed = \"00000000000000ab\"\n"
        "quiet = false\n"
        "build = \"b1\"\n"
        "trace_hash = \"fedcba9876543210\"\n"
        "job = '''\n" +
            to_toml(made.job) +
            "'''\n"
            "\n"
            "[cluster]\n"
            "workers = 2\n"
            "parallelism = 3\n"
            "\n"
            "[timing]\n"
            "arrival = \"2400ms\"\n"
            "checkpoint_interval = \"300ms\"\n"
            "\n"
            "[plan]\n"
            "faults = [\n"
            "  \"kill node=worker1 at='sink_staged n=3' down=200ms\",\n"
            "  \"pause node=log at=17ns lasts=3s\",\n"
            "]\n"
            "\n"
            "[[input]]\n"
            "partition = \"p.jsonl\"\n"
            "lines = [\n"
            "  '{\"k\": \"a\", \"t\": 0}',\n"
            "]\n");
}

TEST_CASE("what a case adds to its job and input is told alone", "[properties][case]") {
  Case made = small_case();
  made.plan.faults.clear();
  const std::string setting = setting_text(made);

  CHECK(setting ==
        "[cluster]\nworkers = 2\nparallelism = 3\n"
        "\n[timing]\narrival = \"2400ms\"\ncheckpoint_interval = \"300ms\"\n"
        "\n[plan]\nfaults = [\n]\n");
  CHECK(to_text(made, {}, same_path).find("\n" + setting) != std::string::npos);
}

TEST_CASE("options of checkpoints and restarts are told if nobody would guess them",
          "[properties][case]") {
  Case made = small_case();
  made.plan.faults.clear();
  made.checkpoint.timeout = 3s;
  made.restart.attempts = 7;
  const std::string timing =
      "[cluster]\nworkers = 2\nparallelism = 3\n"
      "\n[timing]\narrival = \"2400ms\"\ncheckpoint_interval = \"300ms\"\n";
  const std::string plan = "\n[plan]\nfaults = [\n]\n";
  CHECK(setting_text(made) ==
        timing + "\n[checkpoint]\ntimeout = \"3s\"\n\n[restart]\nattempts = 7\n" + plan);

  made.checkpoint.min_pause = 70ms;
  made.checkpoint.tolerable_failures = 0;
  made.checkpoint.retained = 2;
  made.restart.strategy = RestartOptions::Strategy::fixed;
  made.restart.delay = 80ms;
  made.restart.max_delay = 90ms;
  made.restart.within = 1500ms;
  CHECK(setting_text(made) ==
        timing +
            "\n[checkpoint]\nmin_pause = \"70ms\"\ntimeout = \"3s\"\ntolerable_failures = 0\n"
            "retained = 2\n\n[restart]\nstrategy = \"fixed\"\ndelay = \"80ms\"\nmax_delay = "
            "\"90ms\"\n"
            "attempts = 7\nwithin = \"1500ms\"\n" +
            plan);
  check_equal(read_back(to_text(made, {}, same_path)), made);
}

TEST_CASE("a case that is written and read is the same case", "[properties][case]") {
  Case made = small_case();
  check_equal(read_back(to_text(made, {}, same_path)), made);

  made.is_quiet = true;
  made.choices = {
      sim::parse_choice("world site=network.latency entity=worker1/source.0/life1 draw=3 value=4"),
      sim::parse_choice("product site=inbox.lane entity='a \"b\"' part=2 draw=0 value=1")};
  made.seed = 0xFFFFFFFFFFFFFFFF;
  made.trace_hash = 0;
  made.build = "a \"build\"";
  made.plan.faults.clear();
  made.input.partitions.clear();
  check_equal(read_back(to_text(made, {"a comment"}, same_path)), made);

  for (const Verdict verdict :
       {Verdict::held, Verdict::no_progress, Verdict::nondeterministic, Verdict::violated,
        Verdict::stale, Verdict::refused, Verdict::failed, Verdict::crashed}) {
    made.expect = verdict;
    check_equal(read_back(to_text(made, {}, same_path)), made);
  }
}

TEST_CASE("a generated case that is written and read is the same case", "[properties][case]") {
  for (std::uint64_t index = 0; index < 200; ++index) {
    const Case made =
        generate_case(spec_of(SmallJob{}), input_of({record("a", 0)}), run_seed(1, index));
    check_equal(read_back(to_text(made, {}, same_path)), made);
  }
}

TEST_CASE("every part of a job is in its case", "[properties][case]") {
  SmallJob job;
  job.fields = R"(k = "string", t = "int64", "odd name" = "float64?", i = "int64")";
  job.disorder = "90s";
  job.on_bad_record = "skip";
  job.filters = {"k != '' and not (i < 5 or i >= 9.5)", "k != 'it''s' and k != '\\\\'"};
  job.window = "90min";
  job.key = R"("k", "i")";
  job.aggregate = R"-(n = "count()", "the sum" = "sum(odd name)", m = "avg(i)")-";
  job.sink_key = "";
  Case made = small_case();
  made.job = spec_of(job);
  made.job.sinks[0].unique_key = false;
  made.job.parallelism = 7;
  made.job.state_directory = "some/where else";

  check_equal(read_back(to_text(made, {}, same_path)), made);
}

TEST_CASE("lines of all kinds come back byte by byte", "[properties][case]") {
  for (const std::string& text : std::vector<std::string>{"",
                                                          "\n",
                                                          "\n\n\n",
                                                          "a\n",
                                                          "a\n\nb\n",
                                                          "it's\n",
                                                          "\"quoted\"\n",
                                                          "both ' and \"\n",
                                                          "'''\n",
                                                          "\"\"\"\n",
                                                          "back\\slash\n",
                                                          "tab\there\n",
                                                          "cr\r\n",
                                                          "\x01\x1F\x7F\n",
                                                          "\xEF\xBB\xBF{}\n",
                                                          "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n",
                                                          " spaces \n",
                                                          "# no comment\n",
                                                          "[[input]]\n",
                                                          "a = 1\n"}) {
    CAPTURE(text);
    CHECK(written_and_read(text) == text);
  }
}

TEST_CASE("a partition without a newline at its end comes back as it is", "[properties][case]") {
  for (const std::string& text :
       std::vector<std::string>{"a", "a\nb", "\n\na", "it's \"so\" \\ \t\r", "a\n ", "'''"}) {
    CAPTURE(text);
    CHECK(written_and_read(text) == text);
  }
}

TEST_CASE("bytes that are no UTF-8 come back byte by byte", "[properties][case]") {
  for (const std::string& text :
       std::vector<std::string>{"\xFF", "a\n\xED\xA0\x80\n", std::string("\xC0\0\n", 3)}) {
    CHECK(written_and_read(text) == text);
  }
}

TEST_CASE("a filter with any quotes comes back", "[properties][case]") {
  Case made = small_case();
  SmallJob job;
  job.filters = {"s != ''''"};
  made.job = spec_of(job);
  check_equal(read_back(to_text(made, {}, same_path)), made);
}

TEST_CASE("several partitions come back in their order", "[properties][case]") {
  Case made = small_case();
  made.input = Input{{partition_of("a.jsonl", {record("a", 0)}), partition_of("b.jsonl", {}),
                      InputPartition{"odd \"name\"", "x", ""}}};

  const Case read = read_back(to_text(made, {}, same_path));
  CHECK(read.input == made.input);
}

TEST_CASE("a long partition of a file is referred to, with a hash", "[properties][case]") {
  Case made = small_case();
  const InputPartition partition = long_partition("data/long.jsonl");
  made.input.partitions = {partition};
  const std::string text =
      to_text(made, {}, [](const std::string& origin) { return "../" + origin; });

  CHECK(text.find("file = \"../data/long.jsonl\"\nbytes = " +
                  std::to_string(partition.text.size()) + "\nxxh3 = \"") != std::string::npos);
  CHECK(text.find("lines") == std::string::npos);

  SECTION("the file is as it was") {
    const Case read = read_back(text, {{"../data/long.jsonl", partition.text}});
    CHECK(read.input == made.input);
    CHECK(read.input.partitions[0].origin == "../data/long.jsonl");
  }
  SECTION("the file has grown") {
    const Case read = read_back(text, {{"../data/long.jsonl", partition.text + "more\n"}});
    CHECK(read.input == made.input);
  }
  SECTION("the file has changed, or is shorter") {
    std::string changed = partition.text;
    changed[100] = '#';
    for (const std::string& other : {changed, partition.text.substr(1), std::string()}) {
      const std::string complained = complaint_of([&] {
        read_back(text, {{"../data/long.jsonl", other}});
      });
      CHECK(complained.find(": the first " + std::to_string(partition.text.size()) +
                            " bytes of ../data/long.jsonl are not those that the case was seen "
                            "with") != std::string::npos);
    }
  }
  SECTION("the file is gone") {
    CHECK(complaint_of([&] { read_back(text); }) == "../data/long.jsonl: there is no such file");
  }
}

TEST_CASE("what is short, or of no file, is written out", "[properties][case]") {
  Case made = small_case();
  SECTION("200 lines of a file") {
    made.input.partitions = {long_partition("data/long.jsonl")};
    made.input = head_of(made.input, 200);
  }
  SECTION("more lines, of no file") { made.input.partitions = {long_partition("")}; }
  const std::string text = to_text(made, {}, same_path);

  CHECK(text.find("xxh3") == std::string::npos);
  CHECK(read_back(text).input == made.input);
}

TEST_CASE("a case says so if its table is in memory", "[properties][case]") {
  Case made = small_case();
  CHECK(to_text(made, {}, same_path).find("database = \"memory\"") == std::string::npos);
  made.cluster.database = DatabaseKind::memory;

  const std::string text = to_text(made, {}, same_path);

  CHECK(text.find("parallelism = 3\ndatabase = \"memory\"\n") != std::string::npos);
  check_equal(read_back(text), made);
}

TEST_CASE("the plain case is read", "[properties][case]") {
  const Case read = read_back(plain_case());

  CHECK(read.seed == 0xAB);
  CHECK_FALSE(read.is_quiet);
  CHECK(read.build.empty());
  CHECK_FALSE(read.trace_hash.has_value());
  CHECK(read.cluster == ClusterShape{2, 3});
  CHECK(read.arrival == 2s);
  CHECK(read.checkpoint.interval == 100ms);
  CHECK(read.plan.faults.size() == 1);
  CHECK(read.input == input_of({record("a", 0)}));
}

TEST_CASE("what is wrong with a case is said with its line, and what was expected",
          "[properties][case]") {
  struct Mistake {
    std::size_t line;
    std::string instead;
    std::string complaint;
  };
  const std::string hex = "up to 16 hexadecimal digits are expected";
  const std::string span = "is no span; one such as 200ms is expected, with ns, us, ms or s";
  const std::string list = "a list of texts, such as [\"a\", \"b\"], is expected";
  for (const Mistake& mistake : std::vector<Mistake>{
           {1, "format = 2", ":1: `format` is 2; a whole number from 1 to 1 is expected"},
           {1, "format = \"1\"", ":1: `format` is \"1\"; a whole number from 1 to 1 is expected"},
           {2, "expect = \"fine\"", ":2: `fine` is no verdict"},
           {2, "expect = true", ":2: `expect` is true; a text in quotes is expected"},
           {3, "seed = \"12g4\"", ":3: `seed` is \"12g4\"; " + hex},
           {3, "seed = \"-1\"", ":3: `seed` is \"-1\"; " + hex},
           {3, "seed = \"0x1\"", ":3: `seed` is \"0x1\"; " + hex},
           {3, "seed = \"10000000000000000\"", ":3: `seed` is \"10000000000000000\"; " + hex},
           {3, "seed = 12", ":3: `seed` is 12; a text in quotes is expected"},
           {3, "seed = \"\"", ":3: `seed` is \"\"; a text that is not empty is expected"},
           {3, "seed = \"1\"\nquiet = \"all\"",
            ":4: `quiet` is \"all\"; true or false is expected"},
           {3, "seed = \"1\"\nbuild = 1", ":4: `build` is 1; a text in quotes is expected"},
           {3, "seed = \"1\"\ntrace_hash = \"x\"", ":4: `trace_hash` is \"x\"; " + hex},
           {3, "seed = \"1\"\nsead = \"1\"",
            ":4: `sead` is no key that there is; the file has build, checkpoint, choices, cluster, "
            "expect, format, input, job, plan, quiet, registered, restart, seed, timing, "
            "trace_hash"},
           {3,
            "seed = \"1\"\nchoices = [\n  \"world site=a entity=b draw=0 value=1\",\n"
            "  \"word site=a entity=b draw=1 value=1\"]",
            ":6: choice `word site=a entity=b draw=1 value=1`: input, plan, world or product is "
            "expected, not `word`"},
           {3,
            "seed = \"1\"\nchoices = [\n  \"world site=a entity=b draw=0 value=1\",\n"
            "  \"world site=a entity=b draw=0 value=2\"]",
            ":6: choice `world site=a entity=b draw=0 value=2`: there is another of the same draw"},
           {3, "seed = \"1\"\nchoices = \"none\"", ":4: `choices` is \"none\"; " + list},
           {6, "workers = 0",
            ":6: `cluster.workers` is 0; a whole number from 1 to 100 is expected"},
           {6, "workers = 101",
            ":6: `cluster.workers` is 101; a whole number from 1 to 100 is expected"},
           {6, "", ":5: `cluster.workers` is missing; a whole number from 1 to 100 is expected"},
           {6, "workers = 2\nnodes = 3",
            ":7: `cluster.nodes` is no key that there is; [cluster] has database, parallelism, "
            "workers"},
           {7, "parallelism = 129",
            ":7: `cluster.parallelism` is 129; a whole number from 1 to 128 is expected"},
           {7, "parallelism = 1\ndatabase = \"postgres\"",
            ":8: `cluster.database` is \"postgres\"; sqlite or memory is expected"},
           {9, "arrival = \"2min\"", ":9: `2min` " + span},
           {9, "arrival = 2", ":9: `timing.arrival` is 2; a text in quotes is expected"},
           {9, "", ":8: `timing.arrival` is missing; a text is expected"},
           {10, "checkpoint_interval = \"0s\"", ":10: `timing.checkpoint_interval` is 0"},
           {10, "checkpoint_interval = \"-1s\"", ":10: `-1s` " + span},
           {10, "checkpoint_interval = \"1s\"\nrate = 3",
            ":11: `timing.rate` is no key that there is; [timing] has arrival, "
            "checkpoint_interval"},
           {11, "[checkpoint]\ntimeout = \"0s\"\n[plan]", ":12: `checkpoint.timeout` is 0"},
           {11, "[checkpoint]\nmin_pause = \"3601s\"\n[plan]",
            ":12: `checkpoint.min_pause` is longer than an hour"},
           {11, "[checkpoint]\ntolerable_failures = 1001\n[plan]",
            ":12: `checkpoint.tolerable_failures` is 1001; a whole number from 0 to 1000 is "
            "expected"},
           {11, "[checkpoint]\ninterval = \"1s\"\n[plan]",
            ":12: `checkpoint.interval` is no key that there is; [checkpoint] has min_pause, "
            "retained, timeout, tolerable_failures"},
           {11, "[checkpoint]\nretained = 0\n[plan]",
            ":12: `checkpoint.retained` is 0; a whole number from 1 to 100 is expected"},
           {11, "[restart]\nstrategy = \"often\"\n[plan]",
            ":12: `restart.strategy` is \"often\"; fixed or exponential is expected"},
           {11, "[restart]\nwithin = \"0s\"\n[plan]", ":12: `restart.within` is 0"},
           {11, "[restart]\nattempts = -1\n[plan]",
            ":12: `restart.attempts` is -1; a whole number from 0 to 1000000 is expected"},
           {11, "[restart]\ndelay = 5\n[plan]",
            ":12: `restart.delay` is 5; a text in quotes is expected"},
           {12, "faults = [\n  \"kill node=a at=1s down=1s\",\n  \"crash node=a at=1s down=1s\"]",
            ":14: fault `crash node=a at=1s down=1s`: kill, power_loss, pause, cut, reset, slow, "
            "lose_answer, late_answer, disk_error, disk_full or frames is expected, not `crash`"},
           {12, "faults = [\"kill node=a at='swept x=1' down=1s\"]",
            ":12: `x=1` in an anchor: expected role=, term=, n=, subtask=, retry=, life= or nth="},
           {12, "faults = [\"kill node=a at=swept_up down=1s\"]",
            ":12: fault `kill node=a at=swept_up down=1s`: there is no landmark `swept_up`; "
            "`millrace landmarks` lists them"},
           {12, "faults = \"kill\"", ":12: `plan.faults` is \"kill\"; " + list},
           {12, "faults = [1]", ":12: `plan.faults` is 1; " + list},
           {12, "", ":11: `plan.faults` is missing; " + list},
           {14, "", ":13: `input.partition` is missing; a text is expected"},
           {15, "", ":13: `input.file` is missing; a text is expected"},
           {15, "lines = []\ntext = \"a\"",
            ":16: `input.text` is no key that there is; [input] has lines, partition"},
           {15, "text = \"a\"\nfile = \"a\"",
            ":16: `input.file` is no key that there is; [input] has lines, partition, text"},
           {15, "lines = \"a\"", ":15: `input.lines` is \"a\"; " + list},
           {15, "file = \"a\"\nbytes = 1", ":13: `input.xxh3` is missing; a text is expected"},
           {15, "file = \"a\"\nbytes = -1\nxxh3 = \"1\"",
            ":16: `input.bytes` is -1; a whole number from 0 to 9223372036854775807 is expected"},
       }) {
    CHECK(complaint(mistake.line, mistake.instead) == "case.toml" + mistake.complaint);
  }
}

TEST_CASE("a key of the file that must be there is missed", "[properties][case]") {
  for (const auto& [line, key] : std::vector<std::pair<std::size_t, std::string>>{
           {1, "format"}, {2, "expect"}, {3, "seed"}, {4, "job"}}) {
    CHECK(complaint(line, "").find("`" + key + "` is missing; a") != std::string::npos);
  }
  CHECK(complaint_of([] {
          read_back("format = 1\nexpect = \"held\"\nseed = \"1\"\n" + plain_lines[3] + "\n");
        }) == "case.toml:1: `cluster` is missing; a table is expected");
}

TEST_CASE("a case that is no TOML, or holds no job, says where", "[properties][case]") {
  CHECK(complaint(2, "expect = held").starts_with("case.toml:2: this is not TOML: "));
  CHECK(complaint(4, "job = \"[job]\"").starts_with("case.toml, job:1: "));
  CHECK(complaint(4, "job = '''\n[job]\nname = 5\n'''") ==
        "case.toml, job:2: `job.name` is 5; a text in quotes is expected");
}
