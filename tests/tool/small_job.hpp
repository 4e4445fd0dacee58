#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "temporary_directory.hpp"
#include "tool.hpp"

namespace millrace::tests {

/// A line of the small job's input.
std::string record(const std::string& key, std::int64_t at, const std::string& value = "1");

/// A job over two files in a directory of its own, counting and summing per key and second, and the
/// tool run on it as a user does: from that directory, with its files under short names.
class SmallJob {
 public:
  SmallJob();  ///< Three records, in two files.

  static constexpr const char* a = "in/a.jsonl";
  static constexpr const char* b = "in/b.jsonl";
  static constexpr const char* file = "job.toml";

  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;
  bool has(const std::string& name) const;
  /// Replaces what stands in a file exactly once.
  void replace(const std::string& name, const std::string& from, const std::string& to) const;
  /// The newest file in a directory of the state, by its name.
  std::string newest(const std::string& directory, const std::string& prefix = "") const;

  /// So slow that a long input takes seconds, and a test comes in time.
  static constexpr const char* slow_rate = "200";

  /// Input that takes `records` lines of a.jsonl, one every 100 ms of event time.
  void write_long_input(int records) const;

  /// Runs SQL on the database, as some other program.
  void execute(const std::string& sql) const;

  ToolEnd tool(const Tool::Words& words) const;
  /// `millrace run job.toml`, with more words.
  ToolEnd run(const Tool::Words& more = {}, const Tool::Words& environment = {}) const;
  Tool start(const Tool::Words& more = {}) const;
  /// Runs the job slowly until rows are visible, and stops it by Ctrl-C.
  ToolEnd run_in_part() const;

  /// The table's rows, sorted: `a 1000 2000 2 4.5`. Empty: there are none, or there is no table.
  std::vector<std::string> rows() const;
  /// What the rows must be at the end, for input of good records.
  std::vector<std::string> expected_rows() const;

 private:
  posix::TemporaryDirectory directory_;
};

/// Waits until something is so, or the tool has ended. Returns whether it is so.
bool wait_until(Tool& tool, const std::function<bool()>& holds);

}  // namespace millrace::tests
