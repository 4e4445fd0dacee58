// How fast, and in how much memory, `millrace run` counts one long JSONL file into SQLite.
// Prints value, floor (finding and parsing the same lines, and nothing else) and their ratio.
//
//   run_throughput [--json] MILLRACE [DIRECTORY [RECORDS]]
//
// Runs over RECORDS and over a tenth of them, with the same keys, so that memory which grows with
// the input is seen. What grows with the records of one checkpoint is none of that, so checkpoints
// are frequent. A rate is per second of processor time of the whole process.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.hpp"

namespace {

constexpr std::int64_t start_of_time = 1'700'000'000'000;
constexpr std::int64_t accounts = 1000;

/// Payments of 1,000 accounts, 500 a second of event time, up to 2 s out of order.
void generate(const std::string& path, std::int64_t records) {
  std::ofstream file(path, std::ios::binary);
  std::string lines;
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < records; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto draw = static_cast<std::int64_t>(state >> 33);
    fmt::format_to(std::back_inserter(lines),
                   "{{\"id\": {}, \"account\": \"account{}\", \"at\": {}, \"cents\": {}}}\n", i,
                   draw % accounts, start_of_time + 2 * i - draw % 2000, draw % 100'000);
    if (lines.size() > 1 << 20 || i + 1 == records) {
      file << lines;
      lines.clear();
    }
  }
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

std::string job_of(const std::string& input) {
  return fmt::format(R"toml(
[job]
name = "payments"
[source]
format = "jsonl"
files = "{}"
fields = {{ account = "string", at = "int64", cents = "int64" }}
event_time = "at"
disorder = "2s"
[[step]]
window = {{ tumbling = "1min", key = ["account"] }}
aggregate = {{ count = "count()", total = "sum(cents)", largest = "max(cents)" }}
[sink]
table = "payments_per_minute"
database = "payments.db"
mode = "staged"
[checkpoint]
directory = "payments.state"
interval = "20ms"
)toml",
                     input);
}

double processor_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Runs the job to its end in `directory`, and tells what that took.
rusage run(const std::string& millrace, const std::filesystem::path& directory,
           const std::string& input) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "payments.toml") << job_of(input);
  const pid_t child = fork();
  if (child == 0) {
    std::filesystem::current_path(directory);
    if (std::freopen("output", "w", stdout) == nullptr) _exit(126);
    execl(millrace.c_str(), millrace.c_str(), "run", "payments.toml", nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("the run ended with status {}; see {}", status,
                                         (directory / "output").string()));
  }
  return usage;
}

/// Finds and parses every line of the file: no time, no keys, no rows.
double parse_seconds(const std::string& path) {
  const std::clock_t begun = std::clock();
  std::ifstream file(path, std::ios::binary);
  simdjson::ondemand::parser parser;
  std::string line;
  std::uint64_t cents = 0;
  while (std::getline(file, line)) {
    line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    auto document = parser.iterate(line);
    const std::string_view account = document["account"];
    cents += account.size() + static_cast<std::uint64_t>(std::int64_t(document["at"]));
    cents += static_cast<std::uint64_t>(std::int64_t(document["cents"]));
  }
  if (cents == 0) throw std::runtime_error(path + " is empty");
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  const millrace::bench::Report report(argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: run_throughput [--json] MILLRACE [DIRECTORY [RECORDS]]\n");
    return 2;
  }
  const std::string millrace = std::filesystem::absolute(argv[1]);
  const std::filesystem::path place =
      std::filesystem::absolute(argc > 2 ? argv[2] : "/tmp/millrace-bench");
  const std::int64_t records = argc > 3 ? std::atoll(argv[3]) : 5'000'000;
  std::filesystem::create_directories(place);
  const std::string few = place / "few.jsonl";
  const std::string many = place / "many.jsonl";
  generate(few, records / 10);
  generate(many, records);

  const rusage short_run = run(millrace, place / "few", few);
  const rusage long_run = run(millrace, place / "many", many);
  const double value = static_cast<double>(records) / processor_seconds(long_run);
  const double floor = static_cast<double>(records) / parse_seconds(many);
  report.add({"run/records", "records/s", value, floor, millrace::bench::at_least(300'000)});
  // The floor is the memory of a run over a tenth of the records.
  report.add({"run/memory", "KiB", static_cast<double>(long_run.ru_maxrss),
              static_cast<double>(short_run.ru_maxrss), millrace::bench::ratio_at_most(1.1)});
}
