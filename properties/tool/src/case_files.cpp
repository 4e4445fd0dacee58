#include "case_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "build_id.hpp"
#include "job_loading.hpp"

namespace millrace::tool {

using properties::Case;
using properties::Outcome;
using properties::Verdict;

namespace {

const std::string& name_of_job(const Case& made) {
  return made.registered.empty() ? made.job.name : made.registered;
}

}  // namespace

std::vector<std::string> story(const Case& made, const Outcome& outcome) {
  std::vector<std::string> lines{
      fmt::format("{}: {}", name_of_job(made), to_text(outcome.verdict))};
  for (const properties::Breach& breach : outcome.breaches) {
    lines.push_back(fmt::format("{}: {}", breach.judge, breach.what));
  }
  if (!outcome.reason.empty()) lines.push_back(outcome.reason);
  for (std::string& line : lines) std::replace(line.begin(), line.end(), '\n', ' ');
  return lines;
}

void note_seen(Case& made, const Outcome& outcome) {
  made.expect = outcome.verdict;
  made.build = build_id;
  if (outcome.verdict != Verdict::crashed) made.trace_hash = outcome.trace_hash;
}

Case case_of(const properties::Finding& finding, const properties::Subject& subject) {
  Case found = properties::generate_case(subject, finding.seed);
  note_seen(found, finding.outcome);
  if (found.expect == Verdict::crashed) return found;  // Once is enough.
  Case smaller = found;
  smaller.plan = without(found.plan, [&](std::size_t index) {
    const auto& unfired = finding.outcome.unfired;
    const std::string text = to_text(found.plan.faults[index]);
    return std::find(unfired.begin(), unfired.end(), text) != unfired.end();
  });
  sim::StackPool stacks;
  const Outcome again = run_case(smaller, subject, stacks);
  if (again.verdict != found.expect || again.breaches != finding.outcome.breaches) return found;
  smaller.trace_hash = again.trace_hash;
  return smaller;
}

void ensure_writable(const std::string& directory, const std::string& asked) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const auto probe = std::filesystem::path(directory) / ".writable";
  if (!std::ofstream(probe, std::ios::binary).flush()) {
    throw UsageError(fmt::format("{}: no case can be written there", asked));
  }
  std::filesystem::remove(probe, error);
}

std::string save_case(const std::string& directory, const Case& made, const Outcome& outcome) {
  const std::string judge =
      outcome.breaches.empty() ? std::string(to_text(outcome.verdict)) : outcome.breaches[0].judge;
  std::string path =
      fmt::format("{}/{}-{}-{:013x}.toml", directory, name_of_job(made), judge, made.seed);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::ofstream file(path, std::ios::binary);
  file << to_text(made, story(made, outcome), [&](const std::string& origin) {
    return std::filesystem::relative(origin, directory, error).generic_string();
  });
  if (!file.flush()) throw UsageError(fmt::format("{}: it cannot be written", path));
  return path;
}

void write_case(const std::string& path, const Case& made, const std::vector<std::string>& comments,
                const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file << to_text(made, comments, [&](const std::string& origin) {
    const fs::path home = fs::absolute(path, error).parent_path();
    return fs::relative(fs::path(directory) / origin, home, error).generic_string();
  });
  if (file.flush()) fs::rename(unfinished, path, error);
  if (!file || error) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw UsageError(fmt::format("{}: it cannot be written", path));
  }
}

std::vector<std::string> comments_on_top(const std::string& path) {
  std::vector<std::string> comments;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line) && line.starts_with('#');) {
    comments.push_back(line.substr(line.starts_with("# ") ? 2 : 1));
  }
  return comments;
}

Case load_case(const std::string& path) {
  return properties::parse_case(read_text(path), path, [&](const std::string& other) {
    return read_text((std::filesystem::path(path).parent_path() / other).string());
  });
}

}  // namespace millrace::tool
