#include "millrace/runtime/job_file.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/state/key_hash.hpp"

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
    spec_.source = read_source(root_.section("source"));
    rows_ = spec_.source.fields;
    std::vector<TomlSection> steps = root_.sections("step");
    for (TomlSection& step : steps) read_step(step);
    spec_.sink = read_sink(root_.section("sink"), columns(), identity());
    if (spec_.window) read_late_rows(steps.back());
    read_checkpoint();
    root_.finish();
    return std::move(spec_);
  }

 private:
  void read_step(TomlSection& step) {
    int kinds = 0;
    for (const char* const kind : {"filter", "set", "keep", "window"}) kinds += step.has(kind);
    if (kinds != 1) {
      step.fail("a [[step]] has one of `filter`, `set`, `keep`, and `window` with `aggregate`");
    }
    if (spec_.window) {
      step.fail("a step behind the window: the window is expected to be the last step");
    }
    if (step.has("window")) {
      spec_.window = read_window_step(step, rows_);
      step.has("late");  // Read when the sink is known.
    } else {
      spec_.steps.push_back(read_row_step(step, rows_));
      rows_ = fields_after(spec_.steps.back(), std::move(rows_));
    }
    step.finish();
  }

  std::vector<Field> columns() const {
    return spec_.window ? fields_of_result(*spec_.window, rows_) : rows_;
  }
  /// What tells the rows of the sink apart. Of rows without a window nobody can say.
  Identity identity() const {
    Identity identity;
    if (!spec_.window) return identity;
    for (const std::uint32_t number : spec_.window->key) {
      identity.columns.push_back(rows_[number].name);
    }
    identity.has_bounds = spec_.window->has_bounds();
    return identity;
  }

  void read_late_rows(TomlSection& window_step) {
    if (!window_step.has("late")) return;
    if (!spec_.window->has_bounds()) {
      window_step.fail_key("late", "`late` of a global window: nothing is late for it");
    }
    spec_.late = read_late(window_step.section("late"), spec_.sink);
  }

  void read_checkpoint() {
    spec_.state_directory = spec_.name + ".state";
    if (!root_.has("checkpoint")) return;
    TomlSection checkpoint = root_.section("checkpoint");
    spec_.state_directory = checkpoint.text_or("directory", spec_.state_directory);
    spec_.checkpoint_interval = checkpoint.duration_or("interval", std::chrono::seconds(1));
    if (spec_.checkpoint_interval == Duration::zero()) {
      checkpoint.fail_key("interval", "`checkpoint.interval` is 0; a span above 0 is expected");
    }
    checkpoint.finish();
  }

  TomlSection root_;
  JobSpec spec_;
  std::vector<Field> rows_;  ///< As the steps so far leave them.
};

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
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  return JobFileReader(document.root()).read();
}

std::string to_toml(const JobSpec& spec) {
  std::string out =
      fmt::format("[job]\nname = {}\nparallelism = {}\n", toml_quoted(spec.name), spec.parallelism);
  out += to_toml(spec.source);
  for (const StepSpec& step : spec.steps) out += to_toml(step);
  if (spec.window) out += to_toml(*spec.window, fields_of_rows(spec));
  if (spec.late) out += late_to_toml(*spec.late);
  out += to_toml(spec.sink);
  return out + fmt::format("[checkpoint]\ndirectory = {}\ninterval = {}\n",
                           toml_quoted(spec.state_directory),
                           toml_quoted(describe(spec.checkpoint_interval)));
}

}  // namespace millrace
