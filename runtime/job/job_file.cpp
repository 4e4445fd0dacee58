#include "millrace/runtime/job_file.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/state/key_hash.hpp"

#include "checkpoint_section.hpp"
#include "field_names.hpp"
#include "job_inputs.hpp"
#include "join_step.hpp"
#include "named_rows.hpp"
#include "row_step.hpp"
#include "sink_section.hpp"
#include "source_section.hpp"
#include "window_step.hpp"

namespace millrace {
namespace {

/// Reads a job file, section by section, into a spec.
class JobFileReader {
 public:
  explicit JobFileReader(TomlSection root) : root_(std::move(root)) {}

  JobSpec read() {
    TomlSection job = root_.section("job");
    spec_.name = job.text("name");
    spec_.parallelism =
        static_cast<std::uint32_t>(job.integer_or("parallelism", 1, 1, key_group_count));
    job.finish();
    read_sources();
    read_steps();
    read_sinks();
    read_late_rows();
    rows_.expect_all_read();
    read_operation();
    root_.finish();
    return std::move(spec_);
  }

 private:
  // Sources.

  void read_sources() {
    if (!root_.has("sources")) return read_one_source(root_.section("source"), "source");
    if (root_.has("source")) {
      root_.fail_key("source", "[source] and [sources.NAME]: either is expected, not both");
    }
    TomlSection sources = root_.section("sources");
    for (const TomlEntry& entry : sources.entries()) {
      read_one_source(sources.section(entry.key.c_str()), entry.key);
    }
    if (spec_.sources.empty()) sources.fail("one source or more is expected, [sources.NAME]");
  }
  void read_one_source(const TomlSection& section, const std::string& name) {
    rows_.take_name(name, section);
    spec_.sources.push_back(read_source(section, name));
    rows_.add({name, spec_.sources.back().fields, true, section}, true);
  }

  // Steps.

  void read_steps() {
    std::vector<TomlSection> steps = root_.sections("step");
    for (TomlSection& step : steps) {
      if (step.has("name")) rows_.expect(step.text("name"));
    }
    for (TomlSection& step : steps) read_step(step);
  }

  void read_step(TomlSection& step) {
    int kinds = 0;
    for (const char* const kind : {"filter", "set", "keep", "join", "window"}) {
      kinds += step.has(kind);
    }
    if (kinds != 1) {
      step.fail(
          "a [[step]] has one of `filter`, `set`, `keep`, `join`, and `window` with "
          "`aggregate` or `top`");
    }
    StepSpec read;
    if (step.has("name")) {
      read.name = step.text("name");
      rows_.take_name(read.name, step, "name");
    }
    bool has_time = true;
    if (step.has("join")) {
      read_join(step, read);
    } else {
      read.inputs = rows_.read_from(step);
      has_time = rows_.have_time(read.inputs);
      read_work(step, read);
    }
    if (read.name.empty() && !is_row_step(read.work)) rows_.take_name(operator_name(read), step);
    const auto* const window = std::get_if<WindowSpec>(&read.work);
    if (window != nullptr) has_time = window->has_bounds();
    rows_.add({read.name, fields_after(read.work, fields_of(read.inputs)), has_time, step}, false);
    spec_.steps.push_back(std::move(read));
    step.finish();
  }

  void read_work(TomlSection& step, StepSpec& read) {
    const std::vector<Field>& fields = fields_of(read.inputs);
    expect_rows(step, read.inputs.front());
    if (!step.has("window")) {
      read.work = read_row_step(step, fields);
      return;
    }
    expect_time(step, "window", read.inputs);
    read.work = read_window_step(step, fields);
    if (step.has("late")) late_.push_back({step, spec_.steps.size()});
  }

  void read_join(TomlSection& step, StepSpec& read) {
    if (step.has("from")) {
      step.fail_key("from", fmt::format("{} of a join, which names its `left` and `right` rows",
                                        step.path_of("from")));
    }
    TomlSection join = step.section("join");
    read.inputs = {rows_.read_side(join, "left"), rows_.read_side(join, "right")};
    for (const std::size_t number : read.inputs) expect_rows(step, number);
    expect_time(step, "join", read.inputs);
    const NamedRows::Rows& left = rows_[read.inputs[0]];
    const NamedRows::Rows& right = rows_[read.inputs[1]];
    read.work = read_join_step(step, join, {{left.name, left.fields}, {right.name, right.fields}});
  }

  const std::vector<Field>& fields_of(const Inputs& inputs) const {
    return rows_[inputs.front()].fields;
  }
  /// The results of a window may have more columns than rows can have fields.
  void expect_rows(const TomlSection& step, std::size_t number) const {
    const std::size_t fields = rows_[number].fields.size();
    if (fields <= Row::most_fields) return;
    step.fail(fmt::format("the rows that this step reads have {} fields; at most {} are expected",
                          fields, Row::most_fields));
  }
  void expect_time(const TomlSection& step, const char* key, const Inputs& inputs) const {
    if (rows_.have_time(inputs)) return;
    step.fail_key(key, fmt::format("{} of results of a global window: it never ends, so that they "
                                   "have no event time",
                                   step.path_of(key)));
  }

  // Sinks.

  void read_sinks() {
    if (!root_.has("sinks")) {
      TomlSection sink = root_.section("sink");
      const Inputs inputs = rows_.read_from(sink);
      return read_one_sink(sink, "sink", inputs);
    }
    if (root_.has("sink")) {
      root_.fail_key("sink", "[sink] and [sinks.NAME]: either is expected, not both");
    }
    TomlSection sinks = root_.section("sinks");
    for (const TomlEntry& entry : sinks.entries()) {
      TomlSection sink = sinks.section(entry.key.c_str());
      const Inputs inputs = rows_.read_given_from(sink);
      read_one_sink(sink, entry.key, inputs);
    }
    if (spec_.sinks.empty()) sinks.fail("one sink or more is expected, [sinks.NAME]");
  }

  void read_one_sink(TomlSection& section, const std::string& name, const Inputs& inputs) {
    rows_.take_name(name, section);
    if (inputs.size() > 1) expect_rows(section, inputs.front());
    SinkSpec sink = read_sink(section, fields_of(inputs), identity_of(inputs));
    sink.name = name;
    sink.inputs = inputs;
    expect_own_table(sink, section);
    spec_.sinks.push_back(std::move(sink));
  }

  /// What tells the rows of a sink apart. Of others than results of a window nobody can say.
  Identity identity_of(const Inputs& inputs) const {
    Identity identity;
    const StepSpec* const step = inputs.size() == 1 ? spec_.step_at(inputs.front()) : nullptr;
    const auto* const window = step == nullptr ? nullptr : std::get_if<WindowSpec>(&step->work);
    if (window == nullptr) return identity;
    for (const std::uint32_t number : window->key) {
      identity.columns.push_back(fields_of(step->inputs)[number].name);
    }
    if (window->top) identity.columns.emplace_back("rank");
    identity.has_bounds = window->has_bounds();
    return identity;
  }

  void expect_own_table(const SinkSpec& sink, const TomlSection& section) const {
    for (const JobTable& other : tables_of(spec_)) {
      if (other.sink.table != sink.table || other.sink.database != sink.database) continue;
      section.fail_key(
          "table", fmt::format("{} is the table of {}", section.path_of("table"),
                               other.sink.name == "sink" ? "the sink"
                                                         : fmt::format("`{}`", other.sink.name)));
    }
  }

  /// When the sinks are known: a table of late rows lies beside theirs, if nothing else is said.
  void read_late_rows() {
    for (auto& [step, number] : late_) {
      StepSpec& read = spec_.steps[number];
      auto& window = std::get<WindowSpec>(read.work);
      if (!window.has_bounds()) {
        step.fail_key("late", "`late` of a global window: nothing is late for it");
      }
      TomlSection section = step.section("late");
      SinkSpec late = read_late(section, spec_.sinks.front());
      late.name = read.name.empty() ? "late" : read.name + "_late";
      rows_.take_name(late.name, section);
      expect_own_table(late, section);
      window.late = std::move(late);
    }
  }

  void read_operation() {
    TomlSection checkpoint = root_.section("checkpoint");
    spec_.state_directory = checkpoint.text_or("directory", spec_.name + ".state");
    spec_.checkpoint = read_checkpoint(checkpoint);
    checkpoint.finish();
    TomlSection restart = root_.section("restart");
    spec_.restart = read_restart(restart);
    restart.finish();
  }

  struct LateRows {
    TomlSection step;
    std::size_t number;
  };

  TomlSection root_;
  JobSpec spec_;
  NamedRows rows_;
  std::vector<LateRows> late_;
};

/// `from = "a"`, or a list.
std::string from_text(const JobSpec& spec, const Inputs& inputs) {
  const std::vector<std::string> names = names_of(spec, inputs);
  return fmt::format("from = {}\n",
                     names.size() == 1 ? toml_quoted(names.front()) : toml_list(names));
}

std::string step_text(const JobSpec& spec, std::size_t number,
                      const std::vector<std::vector<Field>>& rows) {
  const StepSpec& step = spec.steps[number];
  std::string out = "[[step]]\n";
  if (!step.name.empty()) out += fmt::format("name = {}\n", toml_quoted(step.name));
  if (!is_default_input(spec, number)) out += from_text(spec, step.inputs);
  if (const auto* window = std::get_if<WindowSpec>(&step.work)) {
    return out + to_toml(*window, rows[step.inputs.front()]);
  }
  if (const auto* join = std::get_if<JoinSpec>(&step.work)) {
    return out + to_toml(*join, join_sides(spec, rows, step));
  }
  return out + to_toml(step.work);
}

/// Both may be missing, and can be set all the same.
void add_operation(TomlDocument& document) {
  for (const char* const section : {"checkpoint", "restart"}) document.add_table(section);
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw UsageError(
        fmt::format("--set {}: key=value is expected, such as sink.table=other", text));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

JobSpec parse_job_file(std::string_view text, const std::string& file,
                       const std::vector<Setting>& settings) {
  TomlDocument document(text, file);
  add_operation(document);
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  return JobFileReader(document.root()).read();
}

OperationSettings parse_operation(const std::vector<Setting>& settings) {
  TomlDocument document("", "--set");
  add_operation(document);
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  TomlSection root = document.root();
  TomlSection checkpoint = root.section("checkpoint");
  TomlSection restart = root.section("restart");
  OperationSettings read{checkpoint.text_or("directory", ""), read_checkpoint(checkpoint),
                         read_restart(restart)};
  checkpoint.finish();
  restart.finish();
  root.finish();
  return read;
}

std::string to_toml(const JobSpec& spec) {
  std::string out =
      fmt::format("[job]\nname = {}\nparallelism = {}\n", toml_quoted(spec.name), spec.parallelism);
  for (const SourceSpec& source : spec.sources) {
    out += to_toml(source, section_of_source(spec, source));
  }
  const std::vector<std::vector<Field>> rows = fields_of_rows(spec);
  for (std::size_t i = 0; i < spec.steps.size(); ++i) out += step_text(spec, i, rows);
  for (const SinkSpec& sink : spec.sinks) {
    out += fmt::format("[{}]\n", section_of_sink(spec, sink));
    if (!is_default_input(spec, sink)) out += from_text(spec, sink.inputs);
    out += to_toml(sink);
  }
  return out + fmt::format("[checkpoint]\ndirectory = {}\n{}[restart]\n{}",
                           toml_quoted(spec.state_directory), to_toml(spec.checkpoint),
                           to_toml(spec.restart));
}

}  // namespace millrace
