#pragma once

#include <string>
#include <utility>
#include <vector>

#include "millrace/env/error.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// A job for a test, in the words of a job file: what is not given is as small as can be.
struct SmallJob {
  std::string format = "jsonl";
  std::string fields = R"(k = "string", t = "int64", i = "int64?", r = "float64?", s = "string?")";
  std::string event_time = "t";
  std::string disorder = "0s";
  std::string on_bad_record = "fail";
  std::vector<std::string> filters = {};
  std::string window = "1s";
  std::string key = R"("k")";
  std::string aggregate = R"-(n = "count()")-";
  std::string sink_key = R"("k", "window_start")";
  std::string mode = "staged";
};

/// Its job file.
std::string job_text(const SmallJob& job);
JobSpec spec_of(const SmallJob& job);

/// A partition of these lines, with a newline behind each.
InputPartition partition_of(const std::string& name, const std::vector<std::string>& lines);
/// An input of one partition, `p.jsonl`.
Input input_of(const std::vector<std::string>& lines);

/// `{"k": "a", "t": 1500}`, with more fields behind them: `"i": 3`.
std::string record(const std::string& key, std::int64_t time, const std::string& more = "");

/// What a reference expects, a text a row: `k=a, window_start=0, window_end=1000, n=2`.
std::vector<std::string> rows_of(const Reference& reference);
std::vector<std::string> rows_of(const SmallJob& job, const std::vector<std::string>& lines);

/// The text of the UsageError that `act` throws, or "".
template <class Act>
std::string complaint_of(Act act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace millrace::properties
