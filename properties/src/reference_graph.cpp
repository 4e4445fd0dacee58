#include "reference_graph.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "reference_join.hpp"
#include "reference_table.hpp"

namespace millrace::properties {
namespace {

bool are_certain(const ReferenceStream& stream) {
  return stream.is_certain && std::all_of(stream.rows.begin(), stream.rows.end(),
                                          [](const ReferenceRow& row) { return row.is_certain; });
}

/// Results of a window as rows, if there are just these.
ReferenceRow row_of(const Reference::ExpectedRow& result) {
  ReferenceRow row{result.cells, result.last_instant, result.last_instant - 1, {}, true};
  if (result.causes == nullptr) return row;
  // Of the global window: it comes with one of these, and nobody knows which.
  row.causes = *result.causes;
  return row;
}

}  // namespace

ReferenceGraph::ReferenceGraph(const JobSpec& spec, const Input& input) : spec_(spec) {
  for (std::size_t i = 0; i < spec.sources.size(); ++i) {
    ReferenceSource source = reference_source(spec, i, input);
    records_ += source.stream.rows.size();
    streams_.push_back(std::move(source.stream));
    progress_.push_back(std::move(source.progress));
  }
  const std::vector<std::vector<Field>> fields = fields_of_rows(spec);
  for (const StepSpec& step : spec.steps) {
    streams_.push_back(rows_behind(streams_.size(), step, fields[step.inputs.front()]));
  }
}

ReferenceStream ReferenceGraph::rows_into(const Inputs& inputs) const {
  std::vector<const ReferenceStream*> streams;
  for (const std::size_t number : inputs) streams.push_back(&streams_[number]);
  return reference_union(streams);
}

ReferenceStream ReferenceGraph::rows_behind(std::size_t number, const StepSpec& step,
                                            const std::vector<Field>& fields) {
  if (const auto* join = std::get_if<JoinSpec>(&step.work)) {
    ReferencePairs pairs =
        reference_join(*join, streams_[step.inputs[0]], streams_[step.inputs[1]]);
    count_late(pairs.may_be_late, pairs.stream.is_certain);
    return std::move(pairs.stream);
  }
  ReferenceStream rows = rows_into(step.inputs);
  if (const auto* window = std::get_if<WindowSpec>(&step.work)) {
    return fold(number, *window, rows, fields);
  }
  apply_row_step(step.work, rows.rows);
  return rows;
}

ReferenceStream ReferenceGraph::fold(std::size_t number, const WindowSpec& window,
                                     const ReferenceStream& into,
                                     const std::vector<Field>& fields) {
  Folded folded{reference_window(window, fields, into), are_certain(into)};
  count_late(folded.results.may_be_late.size(), into.is_certain);
  if (window.has_bounds()) {
    folded.results.knows_progress = into.waits_for_all;
  } else {
    folded.results.knows_progress =
        into.knows_progress && std::all_of(into.rows.begin(), into.rows.end(),
                                           [](const auto& row) { return row.causes.size() == 1; });
  }
  ReferenceStream out;
  out.sources = into.sources;
  out.is_ordered = false;
  out.waits_for_all = into.waits_for_all;
  out.is_certain = folded.is_certain && folded.results.families.open.empty();
  for (const Reference::ExpectedRow& result : folded.results.rows) {
    out.is_certain = out.is_certain && result.is_certain;
    out.rows.push_back(row_of(result));
  }
  if (window.has_bounds()) {
    out.clock = into.sources;
  } else {
    out.knows_progress = false;
  }
  windows_.emplace(number, std::move(folded));
  return out;
}

void ReferenceGraph::count_late(std::uint64_t rows, bool is_certain) {
  if (!is_certain) may_be_late_.reset();
  if (may_be_late_) *may_be_late_ += rows;
}

ReferenceGraph::Table ReferenceGraph::table(const JobTable& table) const {
  if (table.late_of) {
    const Folded& folded = windows_.at(spec_.sources.size() + *table.late_of);
    Table late;
    late.is_certain = folded.is_certain;
    late.results.knows_progress = false;
    for (const OwnedRow& row : folded.results.may_be_late) {
      late.results.rows.push_back({row});
      late.results.rows.back().is_certain = false;
    }
    return late;
  }
  const Inputs& inputs = table.sink.inputs;
  const auto window = windows_.find(inputs.front());
  if (inputs.size() == 1 && window != windows_.end()) {
    const StepSpec& step = *spec_.step_at(inputs.front());
    return {window->second.results, window->second.is_certain, streams_[inputs.front()].sources,
            rows_into(step.inputs).rows.size()};
  }
  const ReferenceStream rows = rows_into(inputs);
  Table made{reference_table(table.schema, rows), rows.is_certain, rows.sources, rows.rows.size()};
  // Rows that come by the time wait for all sources that say it.
  made.results.knows_progress =
      made.results.knows_progress && rows.knows_progress &&
      (rows.clock.empty() || (rows.clock == rows.sources && rows.waits_for_all));
  made.results.is_ordered = rows.is_ordered;
  return made;
}

}  // namespace millrace::properties
