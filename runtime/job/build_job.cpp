#include <map>
#include <optional>
#include <utility>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job_spec.hpp"
#include "millrace/runtime/operators/row_top.hpp"
#include "millrace/runtime/source/csv_rows.hpp"
#include "millrace/runtime/source/json_rows.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/trigger.hpp"

#include "row_functions.hpp"
#include "row_sinks.hpp"
#include "row_steps.hpp"

namespace millrace {
namespace {

Source<Row> rows_of(const SourceSpec& source) {
  WrittenRows rows{source.address, source.fields, source.event_time, source.on_bad_record};
  switch (source.format) {
    case RowFormat::jsonl: return json_rows(std::move(rows));
    case RowFormat::csv: return csv_rows(std::move(rows));
  }
  violated("files hold rows in some format", Where::here());
}

auto read_from(const SourceSpec& source) {
  auto unstamped = from(source.name, rows_of(source));
  if (source.idle_after) unstamped = unstamped.idle_after(*source.idle_after);
  return unstamped.event_time(source.event_time, disorder(source.disorder));
}

Sliding sliding_of(const WindowShape& shape) {
  return shape.kind == WindowShape::Kind::tumbling ? tumbling(shape.size, shape.offset)
                                                   : sliding(shape.size, shape.slide, shape.offset);
}

/// What a window lets out.
template <class Value>
struct Results {
  Stream<Windowed<Row, Value>> on_time;
  std::optional<Stream<Row>> late;
};

/// Makes the results of rows by key, by some fold.
template <class Fold, class Value>
class Windowing {
 public:
  Windowing(const WindowSpec& window, std::string name, Fold fold)
      : window_(window), name_(std::move(name)), fold_(std::move(fold)) {}

  template <class Keyed>
  Results<Value> of(const Keyed& keyed) const {
    const WindowShape& shape = window_.shape;
    switch (shape.kind) {
      case WindowShape::Kind::tumbling:
      case WindowShape::Kind::sliding: return ended(keyed.window(sliding_of(shape)));
      case WindowShape::Kind::sessions: return ended(keyed.window(sessions(shape.size)));
      case WindowShape::Kind::global:
        return {keyed.window(global()).trigger(every_rows(shape.every)).aggregate(name_, fold_),
                std::nullopt};
    }
    violated("a window is of a kind", Where::here());
  }

 private:
  template <class Windows>
  Results<Value> ended(const Windows& windows) const {
    const auto windowed = windows.allow_lateness(window_.allowed_lateness);
    if (!window_.late) return {windowed.aggregate(name_, fold_), std::nullopt};
    const auto [on_time, late] = windowed.aggregate_and_late(name_, fold_);
    return {on_time, late};
  }

  const WindowSpec& window_;
  std::string name_;
  Fold fold_;
};

/// Makes a job's streams as they are asked for.
class Building {
 public:
  explicit Building(const JobSpec& spec)
      : spec_(spec), fields_(fields_of_rows(spec)), readers_(fields_.size(), 0) {
    for (const StepSpec& step : spec.steps) count(step.inputs);
    for (const SinkSpec& sink : spec.sinks) count(sink.inputs);
  }

  std::vector<End> ends() {
    std::vector<End> ends;
    for (const JobTable& table : tables_of(spec_)) {
      ends.push_back(table.late_of ? end_of_late_rows(table) : end_of(table));
    }
    return ends;
  }

 private:
  void count(const Inputs& inputs) {
    for (const std::size_t number : inputs) ++readers_[number];
  }

  // Ends.

  End end_of(const JobTable& table) {
    const Inputs& inputs = table.sink.inputs;
    const StepSpec* const step = inputs.size() == 1 ? spec_.step_at(inputs.front()) : nullptr;
    const auto* const window = step == nullptr ? nullptr : std::get_if<WindowSpec>(&step->work);
    if (window != nullptr && !window->top) {  // Its results need not become rows first.
      return folded(inputs.front())
          .on_time.to(table.sink.name,
                      sink_of_results(table, *window, fields_[step->inputs.front()]));
    }
    const Sink<Row> sink = sink_of_rows(table, fields_[inputs.front()]);
    return with_rows<End>(inputs, [&](const auto& rows) { return rows.to(table.sink.name, sink); });
  }
  End end_of_late_rows(const JobTable& table) {
    const StepSpec& step = spec_.steps[*table.late_of];
    const std::size_t number = spec_.sources.size() + *table.late_of;
    const Stream<Row> late =
        std::get<WindowSpec>(step.work).top ? *ranked(number).late : *folded(number).late;
    return late.to(table.sink.name, sink_of_rows(table, fields_[step.inputs.front()]));
  }

  // Rows.

  /// Filters, sets and keeps that follow each other, read by nobody else.
  struct Chain {
    Inputs from;
    std::vector<StepWork> steps;
  };
  Chain chain_behind(Inputs from) const {
    Chain chain{std::move(from), {}};
    for (bool is_first = true; chain.from.size() == 1; is_first = false) {
      const std::size_t number = chain.from.front();
      const StepSpec* const step = spec_.step_at(number);
      if (step == nullptr || !is_row_step(step->work)) break;
      if (!is_first && readers_[number] > 1) break;
      chain.steps.insert(chain.steps.begin(), step->work);
      chain.from = step->inputs;
    }
    return chain;
  }

  /// What `use` makes of the rows of all inputs. Rows of a source that are only filtered, and read
  /// by nobody else, come in one run with the reading.
  template <class Made, class Use>
  Made with_rows(const Inputs& inputs, const Use& use) {
    if (inputs.size() == 1 && readers_[inputs.front()] > 1) return use(rows(inputs.front()));
    return with_chain<Made>(chain_behind(inputs), use);
  }
  template <class Made, class Use>
  Made with_chain(const Chain& chain, const Use& use) {
    const std::vector<Field>& fields = fields_[chain.from.front()];
    const bool is_own_source = chain.from.size() == 1 &&
                               chain.from.front() < spec_.sources.size() &&
                               readers_[chain.from.front()] == 1;
    if (!is_own_source) {
      const Stream<Row> base = merged(chain.from);
      if (chain.steps.empty()) return use(base);
      return use(Stream<Row>(base.flat_map(RowSteps(chain.steps, fields))));
    }
    // Filters in front need no row of their own.
    KeepRow keep;
    auto step = chain.steps.begin();
    for (; step != chain.steps.end() && std::holds_alternative<FilterSpec>(*step); ++step) {
      keep.conditions.emplace_back(std::get<FilterSpec>(*step).expression);
    }
    const auto kept = read_from(spec_.sources[chain.from.front()]).filter(std::move(keep));
    if (step == chain.steps.end()) return use(kept);
    return use(Stream<Row>(kept.flat_map(RowSteps({step, chain.steps.end()}, fields))));
  }

  Stream<Row> merged(const Inputs& inputs) {
    Origins origins;
    for (const std::size_t number : inputs) {
      for (Origin& origin : rows(number).closed()) origins.push_back(std::move(origin));
    }
    return Stream<Row>(std::move(origins));
  }

  /// The rows of one number: made once, however many read them.
  Stream<Row> rows(std::size_t number) {
    const auto known = rows_.find(number);
    if (known != rows_.end()) return known->second;
    return rows_.emplace(number, make_rows(number)).first->second;
  }
  Stream<Row> make_rows(std::size_t number) {
    const StepSpec* const step = spec_.step_at(number);
    if (step == nullptr) return Stream<Row>(read_from(spec_.sources[number]));
    if (const auto* const window = std::get_if<WindowSpec>(&step->work)) {
      const std::vector<Field>& fields = fields_[step->inputs.front()];
      if (!window->top) {
        return Stream<Row>(folded(number).on_time.map(RowOfResult(*window, fields)));
      }
      RankedRows rows;
      for (const Field& field : fields) rows.types.push_back(field.type);
      return Stream<Row>(ranked(number).on_time.flat_map(std::move(rows)));
    }
    if (const auto* const join = std::get_if<JoinSpec>(&step->work)) return joined(*step, *join);
    return with_chain<Stream<Row>>(chain_behind({number}),
                                   [](const auto& rows) { return Stream<Row>(rows); });
  }

  // Steps with state.

  using Folded = Results<Row>;
  using Ranked = Results<std::vector<Row>>;

  Folded folded(std::size_t number) {
    const auto known = folded_.find(number);
    if (known != folded_.end()) return known->second;
    const StepSpec& step = *spec_.step_at(number);
    const auto& window = std::get<WindowSpec>(step.work);
    RowAggregate fold(window.aggregates, fields_[step.inputs.front()]);
    const Windowing<RowAggregate, Row> windowing(window, operator_name(step), std::move(fold));
    return folded_.emplace(number, results<Folded>(step, window, windowing)).first->second;
  }
  Ranked ranked(std::size_t number) {
    const auto known = ranked_.find(number);
    if (known != ranked_.end()) return known->second;
    const StepSpec& step = *spec_.step_at(number);
    const auto& window = std::get<WindowSpec>(step.work);
    RowTop fold(window.top->most, window.top->by, fields_[step.inputs.front()]);
    const Windowing<RowTop, std::vector<Row>> windowing(window, operator_name(step),
                                                        std::move(fold));
    return ranked_.emplace(number, results<Ranked>(step, window, windowing)).first->second;
  }
  template <class Made, class Windows>
  Made results(const StepSpec& step, const WindowSpec& window, const Windows& windowing) {
    return with_rows<Made>(step.inputs, [&](const auto& rows) {
      return windowing.of(rows.key_by(KeyOfRow(window.key, fields_[step.inputs.front()])));
    });
  }

  /// One side of a join, on its way to the subtasks of the keys.
  Origins keyed(std::size_t number, const std::vector<std::uint32_t>& key) {
    return with_rows<Origins>({number}, [&](const auto& rows) {
      return rows.filter(HasKey{key}).key_by(KeyOfRow(key, fields_[number])).by_key();
    });
  }
  Stream<Row> joined(const StepSpec& step, const JoinSpec& join) {
    const PairedFlow<Row, Row, Row> pairs(keyed(step.inputs[0], join.left_key),
                                          keyed(step.inputs[1], join.right_key));
    const RowOfPair make{join.columns};
    const std::string name = operator_name(step);
    if (join.window) return pairs.window(sliding_of(*join.window)).join(name, make);
    return pairs.join_within(name, join.before, join.after, RowOfNeighbours{make});
  }

  const JobSpec& spec_;
  std::vector<std::vector<Field>> fields_;  ///< Of all rows,
  std::vector<int> readers_;                ///< and how many read them.
  std::map<std::size_t, Stream<Row>> rows_;
  std::map<std::size_t, Folded> folded_;
  std::map<std::size_t, Ranked> ranked_;
};

}  // namespace

Job build_job(const JobSpec& spec) {
  Job job(spec.name, Building(spec).ends());
  job.set_fingerprint(fingerprint_of(spec));
  return job;
}

}  // namespace millrace
