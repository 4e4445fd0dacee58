#include "small_job.hpp"

#include <fmt/format.h>

#include "millrace/runtime/job_file.hpp"

namespace millrace::properties {

std::string job_text(const SmallJob& job) {
  std::string filters;
  for (const std::string& filter : job.filters) {
    filters += fmt::format("[[step]]\nfilter = \"{}\"\n", filter);
  }
  return fmt::format(
      "[job]\nname = \"small\"\n"
      "[source]\nformat = \"{}\"\nfiles = \"*.jsonl\"\nfields = {{ {} }}\nevent_time = \"{}\"\n"
      "disorder = \"{}\"\non_bad_record = \"{}\"\n{}"
      "[[step]]\nwindow = {{ tumbling = \"{}\", key = [{}] }}\naggregate = {{ {} }}\n"
      "[sink]\ntable = \"results\"\ndatabase = \"small.db\"\nkey = [{}]\nmode = \"{}\"\n",
      job.format, job.fields, job.event_time, job.disorder, job.on_bad_record, filters, job.window,
      job.key, job.aggregate, job.sink_key, job.mode);
}

JobSpec spec_of(const SmallJob& job) { return parse_job_file(job_text(job), "small.toml"); }

InputPartition partition_of(const std::string& name, const std::vector<std::string>& lines) {
  InputPartition partition;
  partition.name = name;
  for (const std::string& line : lines) partition.text += line + '\n';
  return partition;
}

Input input_of(const std::vector<std::string>& lines) { return {{partition_of("p.jsonl", lines)}}; }

std::string record(const std::string& key, std::int64_t time, const std::string& more) {
  return fmt::format(R"({{"k": "{}", "t": {}{}{}}})", key, time, more.empty() ? "" : ", ", more);
}

std::vector<std::string> rows_of(const Reference& reference) {
  std::vector<std::string> rows;
  for (const auto& row : reference.rows()) {
    rows.push_back(to_text(row.cells, reference.columns()));
  }
  return rows;
}

std::vector<std::string> rows_of(const SmallJob& job, const std::vector<std::string>& lines) {
  return rows_of(Reference(spec_of(job), input_of(lines)));
}

}  // namespace millrace::properties
