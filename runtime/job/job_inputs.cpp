#include "job_inputs.hpp"

namespace millrace {
namespace {

/// What is read behind so many steps, if nothing is said: the last of them, or the only source.
Inputs default_input(const JobSpec& spec, std::size_t steps) {
  if (steps > 0) return {spec.sources.size() + steps - 1};
  return spec.sources.size() == 1 ? Inputs{0} : Inputs{};
}

}  // namespace

std::vector<std::string> names_of(const JobSpec& spec, const Inputs& inputs) {
  std::vector<std::string> names;
  for (const std::size_t number : inputs) {
    const StepSpec* const step = spec.step_at(number);
    names.push_back(step == nullptr ? spec.sources[number].name : step->name);
  }
  return names;
}

bool is_default_input(const JobSpec& spec, std::size_t step) {
  if (std::holds_alternative<JoinSpec>(spec.steps[step].work)) return true;  // It names both.
  return spec.steps[step].inputs == default_input(spec, step);
}

bool is_default_input(const JobSpec& spec, const SinkSpec& sink) {
  return section_of_sink(spec, sink) == "sink" &&
         sink.inputs == default_input(spec, spec.steps.size());
}

std::string section_of_source(const JobSpec& spec, const SourceSpec& source) {
  const bool is_only = spec.sources.size() == 1 && source.name == "source";
  return is_only ? "source" : "sources." + source.name;
}

std::string section_of_sink(const JobSpec& spec, const SinkSpec& sink) {
  const bool is_only = spec.sinks.size() == 1 && sink.name == "sink";
  return is_only ? "sink" : "sinks." + sink.name;
}

}  // namespace millrace
