#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"
#include "millrace/files/file_log.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/runtime/job/layout.hpp"
#include "millrace/runtime/job/names.hpp"

#include "commands.hpp"
#include "guarantee.hpp"
#include "job_loading.hpp"
#include "job_picture.hpp"

namespace millrace::tool {
namespace {

void print_input(const JobSpec& spec, const SourceSpec& source) {
  posix::PosixDisk disk;
  const auto partitions = FileLog(disk).partitions(source.address, Instant::never());
  std::int64_t bytes = 0;
  for (const PartitionFacts& partition : partitions) bytes += partition.end;
  const std::string name = spec.sources.size() == 1 ? "" : source.name + " from ";
  fmt::print("input     {}{}: {} partitions, {} bytes\n", name, source.address, partitions.size(),
             bytes);
  fmt::print("          event time `{}`, out of order by at most {}; a bad record: {}\n",
             source.fields[source.event_time.field].name, describe(source.disorder),
             describe(source.on_bad_record));
  if (source.idle_after) {
    fmt::print("          a partition that gives nothing for {} is not waited for\n",
               describe(*source.idle_after));
  }
}

std::string text_of(const WindowShape& shape) {
  using Kind = WindowShape::Kind;
  const std::string behind =
      shape.offset == Duration::zero() ? "" : fmt::format(", {} behind", describe(shape.offset));
  switch (shape.kind) {
    case Kind::tumbling: return describe(shape.size) + " long" + behind;
    case Kind::sliding:
      return fmt::format("{} long every {}{}", describe(shape.size), describe(shape.slide), behind);
    case Kind::sessions: return fmt::format("until {} pass without a row", describe(shape.size));
    case Kind::global: return fmt::format("of all rows, told at every {}", shape.every);
  }
  return "";
}

std::string text_of(const WindowSpec& window, const std::vector<Field>& rows) {
  std::vector<std::string> key;
  for (const std::uint32_t field : window.key) key.push_back(rows[field].name);
  std::vector<std::string> folds;
  if (window.top) {
    folds.push_back(fmt::format("top {} by {}", window.top->most, rows[window.top->by].name));
  }
  for (const AggregateColumn& column : window.aggregates) {
    folds.push_back(fmt::format("{} = {}", column.name, describe(column, rows)));
  }
  return fmt::format("{}, per {}: {}", text_of(window.shape), fmt::join(key, ", "),
                     fmt::join(folds, ", "));
}

std::string text_of(const JoinSpec& join, const std::vector<std::string>& names,
                    const std::vector<Field>& left, const std::vector<Field>& right) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < join.left_key.size(); ++i) {
    keys.push_back(fmt::format("{}.{} = {}.{}", names[0], left[join.left_key[i]].name, names[1],
                               right[join.right_key[i]].name));
  }
  const auto span = [](Duration from) {
    return from < Duration::zero() ? fmt::format("{} before", describe(-from))
                                   : fmt::format("{} behind", describe(from));
  };
  const std::string where = join.window
                                ? fmt::format("in windows {}", text_of(*join.window))
                                : fmt::format("{} from {} to {} {}", names[1], span(-join.before),
                                              span(join.after), names[0]);
  return fmt::format("{}, {}", fmt::join(keys, ", "), where);
}

void print_step(const JobSpec& spec, const StepSpec& step,
                const std::vector<std::vector<Field>>& rows) {
  std::vector<std::string> names;
  for (const std::size_t number : step.inputs) {
    const StepSpec* const before = spec.step_at(number);
    names.push_back(before == nullptr ? spec.sources[number].name : before->name);
  }
  const std::vector<Field>& fields = rows[step.inputs.front()];
  FingerprintPart said;
  if (const auto* const window = std::get_if<WindowSpec>(&step.work)) {
    said = {"window", text_of(*window, fields)};
  } else if (const auto* const join = std::get_if<JoinSpec>(&step.work)) {
    said = {"join", text_of(*join, names, fields, rows[step.inputs[1]])};
  } else {
    said = fingerprint_part(step.work);
  }
  // What has no name reads what stands before it.
  const bool is_named = std::none_of(names.begin(), names.end(),
                                     [](const std::string& name) { return name.empty(); });
  const std::string from =
      is_named && (spec.sources.size() > 1 || spec.sinks.size() > 1 || step.inputs.size() > 1)
          ? fmt::format(" of {}", fmt::join(names, " and "))
          : "";
  const std::string who = step.name + from;
  fmt::print("{:<9} {}{}{}\n", said.key, who, who.empty() ? "" : ": ", said.value);
  const auto* const window = std::get_if<WindowSpec>(&step.work);
  if (window != nullptr && window->allowed_lateness > Duration::zero()) {
    fmt::print("          told again for rows that come up to {} later\n",
               describe(window->allowed_lateness));
  }
}

void print_tasks(const Layout& layout) {
  fmt::print("tasks     {} in all\n", layout.task_count());
  for (const ChainLayout& chain : layout.chains) {
    std::vector<std::string> names;
    for (const StageLayout& stage : chain.stages) {
      names.push_back(stage.node->name.empty() ? "steps" : stage.node->name);
    }
    fmt::print("          {} x  {}{}\n", chain.parallelism, fmt::join(names, " > "),
               chain.is_source() ? "" : "  (rows come to it by key)");
  }
}

/// What a reader of a table is promised, and why.
void print_table(const RealJob::Table& table, std::chrono::nanoseconds interval) {
  constexpr std::size_t width = 80;
  const std::string indent(10, ' ');
  std::vector<std::string> columns;
  for (const auto& column : table.schema.columns) columns.push_back(column.name);
  fmt::print("sink      table {} ({}) in {}\n", table.schema.table, fmt::join(columns, ", "),
             table.database);
  const Guarantee guarantee = guarantee_of(table.schema.mode, interval, table.due);
  fmt::print("{}{}\n", indent,
             wrapped(fmt::format("{}: {}.", guarantee.promise, guarantee.reason), width, indent));
  fmt::print("{}{}\n", indent, wrapped(guarantee.latency + ".", width, indent));
}

std::string span_text(std::chrono::nanoseconds span) {
  return describe(std::chrono::duration_cast<Duration>(span));
}

void print_checkpoints(const CheckpointOptions& options) {
  const std::string pause =
      options.min_pause.count() == 0
          ? ""
          : fmt::format(", at least {} behind the last", span_text(options.min_pause));
  fmt::print(
      "          a checkpoint every {}{}; given up after {}, and once more than {} in a row\n"
      "          have failed, the job restarts\n",
      span_text(options.interval), pause, span_text(options.timeout), options.tolerable_failures);
}

void print_restarts(const RestartOptions& options) {
  if (options.attempts == 0) {
    fmt::print("          no restart: what goes wrong ends the job\n");
    return;
  }
  const bool is_fixed = options.strategy == RestartOptions::Strategy::fixed;
  const std::string delay = is_fixed
                                ? span_text(options.delay)
                                : fmt::format("{}, doubling up to {}", span_text(options.delay),
                                              span_text(options.max_delay));
  const std::string budget =
      options.within ? "within " + span_text(*options.within) : "without a completed checkpoint";
  fmt::print("          a restart waits {}; after {} of them {} the job fails\n", delay,
             options.attempts, budget);
}

/// Replaces what was there: a picture can be drawn again.
void write_picture(const std::string& path, const std::string& picture) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << picture;
  file.close();
  if (file) return;
  throw UsageError(fmt::format("--svg {}: {}", path,
                               errno == 0 ? "it cannot be written" : std::strerror(errno)));
}

}  // namespace

int check_command(const CheckFlags& flags, const Jobs& jobs) {
  const RealJob real = load_real_job(flags.job, flags.settings, jobs);
  fmt::print("job       {}\n", real.name);
  if (find_job(jobs, flags.job) == nullptr) {
    const JobSpec spec = load_job(flags.job, flags.settings);
    for (const SourceSpec& source : spec.sources) print_input(spec, source);
    const auto rows = fields_of_rows(spec);
    for (const StepSpec& step : spec.steps) print_step(spec, step, rows);
  }
  const Layout layout = plan_layout(real.job, static_cast<int>(real.parallelism));
  print_tasks(layout);
  for (const RealJob::Table& table : real.tables) print_table(table, real.checkpoint.interval);
  fmt::print("state     {}\n", real.state_directory);
  print_checkpoints(real.checkpoint);
  print_restarts(real.restart);
  if (!flags.svg_file.empty()) {
    write_picture(flags.svg_file, picture_of(real, layout));
    fmt::print("picture   {}\n", flags.svg_file);
  }
  return 0;
}

}  // namespace millrace::tool
