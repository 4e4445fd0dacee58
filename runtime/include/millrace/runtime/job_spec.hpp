#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/expression.hpp"
#include "millrace/runtime/operators/row_aggregate.hpp"
#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source/written_rows.hpp"

namespace millrace {

/// Where rows come from.
struct SourceSpec {
  RowFormat format = RowFormat::jsonl;
  std::string files;          ///< As written: a path, relative to the job file.
  std::string address;        ///< The same, relative to the working directory.
  std::vector<Field> fields;  ///< In the order of the file.
  WrittenTime event_time;
  Duration disorder{0};
  std::optional<Duration> idle_after;  ///< By the clock, and not by event time.
  OnBadRecord on_bad_record = OnBadRecord::fail;
  friend bool operator==(const SourceSpec&, const SourceSpec&) = default;
};

/// A filter, as it was written and as it was understood.
struct FilterSpec {
  std::string text;
  Expression expression;
  friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

/// A field of the rows behind a step, and what it is of those before.
struct Assignment {
  std::string name;
  std::string text;
  Arithmetic value;
  std::uint32_t field = 0;  ///< Its number behind the step: one that there was, or the next.
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// Works out fields, all of them from the row as it came.
struct SetSpec {
  std::vector<Assignment> assignments;
  friend bool operator==(const SetSpec&, const SetSpec&) = default;
};

/// Keeps some fields, in this order.
struct KeepSpec {
  std::vector<std::string> names;
  std::vector<std::uint32_t> fields;  ///< Their numbers before the step.
  friend bool operator==(const KeepSpec&, const KeepSpec&) = default;
};

/// A step that makes of each row another or none.
using StepSpec = std::variant<FilterSpec, SetSpec, KeepSpec>;

/// The fields of rows behind a step.
std::vector<Field> fields_after(const StepSpec& step, std::vector<Field> before);

/// Which rows of a key are folded together.
struct WindowShape {
  enum class Kind : std::uint8_t { tumbling, sliding, sessions, global };
  Kind kind = Kind::tumbling;
  Duration size{0};        ///< Of sessions, the gap that ends them. Of the global one, nothing.
  Duration slide{0};       ///< Of sliding ones.
  Duration offset{0};      ///< Of tumbling and sliding ones: at least 0 and less than the slide.
  std::int64_t every = 0;  ///< Of the global one: it lets a result out at every so-many-th row.
  friend bool operator==(const WindowShape&, const WindowShape&) = default;
};

/// A fold of the rows of each key and window.
struct WindowSpec {
  WindowShape shape;
  std::vector<std::uint32_t> key;  ///< Numbers of fields.
  Duration allowed_lateness{0};
  std::vector<AggregateColumn> aggregates;

  /// The global window has no ends that would say anything.
  bool has_bounds() const { return shape.kind != WindowShape::Kind::global; }
  /// Whether a window may have several results.
  bool has_panes() const { return !has_bounds() || allowed_lateness > Duration::zero(); }
  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

/// Where rows go.
struct SinkSpec {
  std::string name;  ///< Of the operator.
  std::string table;
  std::string database;
  std::vector<std::string> key;  ///< Names of columns. May be empty.
  bool unique_key = false;
  SinkMode mode = SinkMode::staged;
  friend bool operator==(const SinkSpec&, const SinkSpec&) = default;
};

/// What a job file says, validated: names are resolved, types fit, nothing is left to find out but
/// what the world holds.
///
/// Data and no code, so that the job can be run, and its reference can interpret it independently.
struct JobSpec {
  std::string name;
  std::uint32_t parallelism = 1;

  SourceSpec source;
  std::vector<StepSpec> steps;
  std::optional<WindowSpec> window;  ///< Nothing: rows go into the sink as the steps leave them.
  SinkSpec sink;
  std::optional<SinkSpec> late;  ///< For rows that are too late for their windows, as they came.

  std::string state_directory;
  std::chrono::milliseconds checkpoint_interval{1000};

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// What a step says, in words: `filter` and its condition.
FingerprintPart fingerprint_part(const StepSpec& step);

/// The rows that come out of the steps, and so into the window, if there is one.
std::vector<Field> fields_of_rows(const JobSpec& spec);
/// A window's result as a row: its key, `window_start` and `window_end`, `pane`, its aggregates;
/// without what says nothing of these windows.
std::vector<Field> fields_of_result(const WindowSpec& window, const std::vector<Field>& rows);

/// A table that a job writes, and the sink that it is written by.
struct JobTable {
  SinkSpec sink;
  TableSchema schema;
};
/// All of a job, the one of its results first.
std::vector<JobTable> tables_of(const JobSpec& spec);

/// The job that a spec describes: the same that the builder of stream.hpp would make of it, over
/// rows of type Row. Its operators are called `source`, `window`, `sink` and `late`.
Job build_job(const JobSpec& spec);

/// What must not change while there is state of the job, key by key as in the job file.
std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec);

}  // namespace millrace
