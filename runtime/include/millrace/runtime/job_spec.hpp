#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/checkpoint_options.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/expression.hpp"
#include "millrace/runtime/operators/row_aggregate.hpp"
#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source/written_rows.hpp"

namespace millrace {

/// Where rows come from.
struct SourceSpec {
  std::string name = "source";  ///< Of the operator.
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

/// Which rows somebody reads: those of the sources by their numbers, and behind them those of the
/// steps. Several are a union, and of a join left and right.
using Inputs = std::vector<std::size_t>;

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

/// Where rows go.
struct SinkSpec {
  std::string name;  ///< Of the operator.
  Inputs inputs;     ///< Of a table of late rows, none.
  std::string table;
  std::string database;
  std::vector<std::string> key;  ///< Names of columns. May be empty.
  bool unique_key = false;
  SinkMode mode = SinkMode::staged;
  friend bool operator==(const SinkSpec&, const SinkSpec&) = default;
};

/// The rows of each key and window that are largest by a field, with their rank.
struct TopSpec {
  std::uint32_t most = 1;
  std::uint32_t by = 0;  ///< A field.
  friend bool operator==(const TopSpec&, const TopSpec&) = default;
};

/// A fold of the rows of each key and window.
struct WindowSpec {
  WindowShape shape;
  std::vector<std::uint32_t> key;  ///< Numbers of fields.
  Duration allowed_lateness{0};
  std::vector<AggregateColumn> aggregates;  ///< Or, if there are none,
  std::optional<TopSpec> top;               ///< some of the rows themselves.
  std::optional<SinkSpec> late;  ///< For rows that are too late for their windows, as they came.

  /// The global window has no ends that would say anything.
  bool has_bounds() const { return shape.kind != WindowShape::Kind::global; }
  /// Whether a window may have several results.
  bool has_panes() const { return !has_bounds() || allowed_lateness > Duration::zero(); }
  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

/// A column of the rows that a join makes.
struct JoinColumn {
  enum class From : std::uint8_t { left, right, window_start, window_end };
  Field made;
  From from = From::left;
  std::uint32_t field = 0;  ///< Of that side.
  friend bool operator==(const JoinColumn&, const JoinColumn&) = default;
};

/// Pairs of a left and a right row with equal keys, none of them null, that lie in one window or
/// close together.
struct JoinSpec {
  std::vector<std::uint32_t> left_key;   ///< Numbers of fields,
  std::vector<std::uint32_t> right_key;  ///< each of the type of the one at its place.
  std::optional<WindowShape> window;     ///< Tumbling or sliding. Nothing: close together, which is
  Duration before{0};                    ///< left.time - before <= right.time <= left.time + after.
  Duration after{0};                     ///< Each may be negative, and both together not.
  std::vector<JoinColumn> columns;
  bool has_own_columns = false;  ///< The file says which.
  friend bool operator==(const JoinSpec&, const JoinSpec&) = default;
};

/// What becomes of rows.
using StepWork = std::variant<FilterSpec, SetSpec, KeepSpec, WindowSpec, JoinSpec>;

/// Something that makes rows of rows.
struct StepSpec {
  std::string name;  ///< Empty: it has none, and is read by what stands behind it at most.
  Inputs inputs;
  StepWork work;
  friend bool operator==(const StepSpec&, const StepSpec&) = default;
};

/// Whether a step makes of each row another or none, and so keeps nothing.
bool is_row_step(const StepWork& work);

/// The fields of rows behind a step that reads rows of these fields. Of a join they do not matter.
std::vector<Field> fields_after(const StepWork& work, std::vector<Field> before);

/// What a job file says, validated: names are resolved, types fit, nothing is left to find out but
/// what the world holds.
///
/// Data and no code, so that the job can be run, and its reference can interpret it independently.
/// Every step stands behind those that it reads from, and every row is read by somebody.
struct JobSpec {
  std::string name;
  std::uint32_t parallelism = 1;

  std::vector<SourceSpec> sources;
  std::vector<StepSpec> steps;
  std::vector<SinkSpec> sinks;

  std::string state_directory;
  CheckpointOptions checkpoint;  ///< Its spans, and those of the next, in whole milliseconds.
  RestartOptions restart;

  /// Whose rows have this number: a step, or null if it is a source.
  const StepSpec* step_at(std::size_t number) const {
    return number < sources.size() ? nullptr : &steps[number - sources.size()];
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// What a filter, set or keep says, in words: `filter` and its condition.
FingerprintPart fingerprint_part(const StepWork& work);

/// The fields of all rows, by their numbers.
std::vector<std::vector<Field>> fields_of_rows(const JobSpec& spec);
/// A window's result as a row: its key, `window_start` and `window_end`, `pane`, its aggregates;
/// without what says nothing of these windows. Of the largest rows `window_start`, `window_end`,
/// `rank` and all that they hold.
std::vector<Field> fields_of_result(const WindowSpec& window, const std::vector<Field>& rows);

/// The operator of a step that keeps state: its name, or what it is.
std::string operator_name(const StepSpec& step);

/// A table that a job writes, and the sink that it is written by.
struct JobTable {
  SinkSpec sink;
  TableSchema schema;
  std::optional<std::size_t> late_of;  ///< The step whose late rows they are; nothing: results.
};
/// All of a job: those of its sinks first, and then those of late rows.
std::vector<JobTable> tables_of(const JobSpec& spec);

/// The job that a spec describes: the same that the builder of stream.hpp would make of it, over
/// rows of type Row. What a file gives no name is called `source`, `window`, `sink` and `late`.
Job build_job(const JobSpec& spec);

/// What must not change while there is state of the job, key by key as in the job file.
std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec);

}  // namespace millrace
