#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job_spec.hpp"

#include "job_inputs.hpp"
#include "join_step.hpp"
#include "row_step.hpp"
#include "source_section.hpp"
#include "window_step.hpp"

namespace millrace {
namespace {

using Parts = std::vector<FingerprintPart>;

void add_source(const SourceSpec& source, const std::string& section, Parts& parts) {
  const auto add = [&](const char* key, std::string value) {
    parts.push_back({fmt::format("{}.{}", section, key), std::move(value)});
  };
  std::vector<std::string> fields;
  for (const Field& field : source.fields) fields.push_back(describe(field));
  add("format", std::string(describe(source.format)));
  add("files", source.files);
  add("fields", fmt::format("{}", fmt::join(fields, ", ")));
  add("event_time", source.fields[source.event_time.field].name);
  add("disorder", describe(source.disorder));
  add("on_bad_record", describe(source.on_bad_record));
  if (source.event_time.format != TimeFormat::ms) {
    add("event_time_format", std::string(describe(source.event_time.format)));
  }
}

/// The parts of a step, under its name if it has one. Filters and the like that have none are
/// numbered.
class StepParts {
 public:
  StepParts(const JobSpec& spec, Parts& parts)
      : spec_(spec), rows_(fields_of_rows(spec)), parts_(parts) {}

  void add(std::size_t number) {
    const StepSpec& step = spec_.steps[number];
    const std::string prefix = step.name.empty() ? "" : step.name + ".";
    Parts own = parts_of(step);
    for (FingerprintPart& part : own) part.key.insert(0, prefix);
    if (!is_default_input(spec_, number)) {
      own.push_back({(step.name.empty() ? own.front().key : step.name) + ".from",
                     fmt::format("{}", fmt::join(names_of(spec_, step.inputs), ", "))});
    }
    std::move(own.begin(), own.end(), std::back_inserter(parts_));
  }

 private:
  Parts parts_of(const StepSpec& step) {
    Parts own;
    if (const auto* window = std::get_if<WindowSpec>(&step.work)) {
      add_fingerprint(*window, rows_[step.inputs.front()], own);
    } else if (const auto* join = std::get_if<JoinSpec>(&step.work)) {
      add_fingerprint(*join, join_sides(spec_, rows_, step), own);
    } else {
      own.push_back(fingerprint_part(step.work));
      if (step.name.empty()) own.back().key += fmt::format(" {}", ++counts_[own.back().key]);
    }
    return own;
  }

  const JobSpec& spec_;
  std::vector<std::vector<Field>> rows_;
  Parts& parts_;
  std::map<std::string, int> counts_;
};

}  // namespace

std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec) {
  Parts parts;
  for (const SourceSpec& source : spec.sources) {
    add_source(source, section_of_source(spec, source), parts);
  }
  StepParts steps(spec, parts);
  for (std::size_t i = 0; i < spec.steps.size(); ++i) steps.add(i);
  const auto add_table = [&parts](const std::string& section, const SinkSpec& sink) {
    parts.push_back({section + ".table", sink.table});
    parts.push_back({section + ".mode", std::string(describe(sink.mode))});
  };
  for (const StepSpec& step : spec.steps) {
    const auto* const window = std::get_if<WindowSpec>(&step.work);
    if (window == nullptr || !window->late) continue;
    add_table(step.name.empty() ? "late" : step.name + ".late", *window->late);
  }
  for (const SinkSpec& sink : spec.sinks) {
    const std::string section = section_of_sink(spec, sink);
    add_table(section, sink);
    parts.push_back({section + ".key", fmt::format("{}", fmt::join(sink.key, ", "))});
    if (is_default_input(spec, sink)) continue;
    parts.push_back(
        {section + ".from", fmt::format("{}", fmt::join(names_of(spec, sink.inputs), ", "))});
  }
  return parts;
}

}  // namespace millrace
