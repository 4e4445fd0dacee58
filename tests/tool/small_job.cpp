#include "small_job.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/table_reader.hpp"

namespace millrace::tests {
namespace {

constexpr const char* job_text = R"toml([job]
name = "small"
parallelism = 2

[source]
format = "jsonl"
files = "in/*.jsonl"
fields = { key = "string", at = "int64", value = "float64?" }
event_time = "at"
disorder = "1s"
on_bad_record = "fail"

[[step]]
filter = "key != 'nobody'"

[[step]]
window = { tumbling = "1s", key = ["key"] }
aggregate = { n = "count()", total = "sum(value)" }

[sink]
table = "t"
database = "out.db"
mode = "staged"
key = ["key", "window_start"]
unique = false

[checkpoint]
directory = "state"
interval = "50ms"
)toml";

std::string text_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  return "null";
}

}  // namespace

std::string record(const std::string& key, std::int64_t at, const std::string& value) {
  return fmt::format("{{\"key\":\"{}\",\"at\":{},\"value\":{}}}\n", key, at, value);
}

SmallJob::SmallJob() {
  std::filesystem::create_directory(path("in"));
  write(file, job_text);
  write(a, record("a", 1000, "1.5") + record("b", 2000, "2"));
  write(b, record("a", 1500, "3"));
}

std::string SmallJob::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path(name), std::ios::binary).rdbuf();
  return text.str();
}

void SmallJob::write(const std::string& name, const std::string& text) const {
  std::ofstream stream(path(name), std::ios::binary);
  if (!(stream << text).flush()) throw std::runtime_error("the test cannot write " + name);
}

bool SmallJob::has(const std::string& name) const { return std::filesystem::exists(path(name)); }

void SmallJob::replace(const std::string& name, const std::string& from,
                       const std::string& to) const {
  std::string text = read(name);
  const auto at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::runtime_error(fmt::format("`{}` does not stand in {} once", from, name));
  }
  write(name, text.replace(at, from.size(), to));
}

std::string SmallJob::newest(const std::string& directory, const std::string& prefix) const {
  std::string newest;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path(directory))) {
    if (!entry.is_regular_file()) continue;
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    newest = std::max(newest, std::filesystem::relative(entry.path(), path("")).string());
  }
  if (newest.empty()) throw std::runtime_error("there is nothing in " + directory);
  return newest;
}

void SmallJob::write_long_input(int records) const {
  std::string text;
  for (int i = 1; i <= records; ++i) text += record(fmt::format("k{}", i % 7), i * 100);
  write(a, text);
}

void SmallJob::execute(const std::string& sql) const {
  Database(path("out.db"), "", Database::Access::write).execute(sql);
}

ToolEnd SmallJob::tool(const Tool::Words& words) const {
  return run_tool_in(directory_.path(), words);
}

ToolEnd SmallJob::run(const Tool::Words& more, const Tool::Words& environment) const {
  Tool::Words words{"run", file};
  words.insert(words.end(), more.begin(), more.end());
  return run_tool_in(directory_.path(), words, environment);
}

Tool SmallJob::start(const Tool::Words& more) const {
  Tool::Words words{"run", file};
  words.insert(words.end(), more.begin(), more.end());
  return Tool(directory_.path(), words);
}

ToolEnd SmallJob::run_in_part() const {
  Tool tool = start({"--rate", slow_rate});
  wait_until(tool, [this] { return !rows().empty(); });
  tool.send(SIGINT);
  return tool.wait();
}

std::vector<std::string> SmallJob::rows() const {
  std::vector<std::string> rows;
  TableReader(path("out.db"), "", "t").look([&](std::int64_t, std::span<const Cell> cells) {
    std::string row;
    for (const Cell& cell : cells) row += (row.empty() ? "" : " ") + text_of(cell);
    rows.push_back(std::move(row));
  });
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> SmallJob::expected_rows() const {
  struct Sum {
    int count = 0;
    double total = 0;  // Of numbers whose sums are exact.
  };
  std::map<std::pair<std::string, std::int64_t>, Sum> sums;
  for (const auto& entry : std::filesystem::directory_iterator(path("in"))) {
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      if (line.find('{') == std::string::npos) continue;
      const auto json = nlohmann::json::parse(line);
      const auto at = json["at"].get<std::int64_t>();
      Sum& sum = sums[{json["key"].get<std::string>(), at - at % 1000}];
      ++sum.count;
      sum.total += json["value"].get<double>();
    }
  }
  std::vector<std::string> rows;
  for (const auto& [group, sum] : sums) {
    rows.push_back(fmt::format("{} {} {} {} {}", group.first, group.second, group.second + 1000,
                               sum.count, sum.total));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

bool wait_until(Tool& tool, const std::function<bool()>& holds) {
  while (!holds()) {
    if (tool.has_ended()) return holds();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace millrace::tests
