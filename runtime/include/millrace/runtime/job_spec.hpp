#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/expression.hpp"
#include "millrace/runtime/operators/row_aggregate.hpp"
#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source/json_rows.hpp"

namespace millrace {

/// A filter, as it was written and as it was understood.
struct FilterSpec {
  std::string text;
  Expression expression;
  friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

/// What a job file says, validated: names are resolved, types fit, nothing is left to find out but
/// what the world holds.
///
/// Data and no code, so that the job can be run, and its reference can interpret it independently.
struct JobSpec {
  std::string name;
  std::uint32_t parallelism = 1;

  std::string files;             ///< As written: a path, relative to the job file.
  std::string address;           ///< The same, relative to the working directory.
  std::vector<Field> fields;     ///< In the order of the file.
  std::uint32_t event_time = 0;  ///< Number of the field that holds it.
  Duration disorder{0};
  OnBadRecord on_bad_record = OnBadRecord::fail;

  std::vector<FilterSpec> filters;
  Duration window_size{0};
  std::vector<std::uint32_t> key;  ///< Numbers of fields.
  std::vector<AggregateColumn> aggregates;

  std::string table;
  std::string database;
  std::vector<std::string> sink_key;  ///< Names of columns. May be empty.
  bool unique_key = false;
  SinkMode mode = SinkMode::staged;

  std::string state_directory;
  std::chrono::milliseconds checkpoint_interval{1000};

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// The table that a job writes: its key's fields, `window_start`, `window_end`, its aggregates.
TableSchema schema_of(const JobSpec& spec);

/// The job that a spec describes: the same that the builder of stream.hpp would make of it, over
/// rows of type Row. Its operators are called `source`, `window` and `sink`.
Job build_job(const JobSpec& spec);

/// What must not change while there is state of the job, key by key as in the job file.
std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec);

}  // namespace millrace
