#include "window_operator.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "millrace/runtime/operators/trigger_window_stage.hpp"
#include "millrace/runtime/operators/window_stage.hpp"

#include "stored_state.hpp"

namespace millrace {
namespace {

struct Itself {
  std::int64_t operator()(std::int64_t value) const { return value; }
};
using Sum = aggregates::Sum<Itself>;

/// The same, but that nothing can be taken out of it.
struct MergedSum {
  struct State {
    std::int64_t sum = 0;
  };
  std::int64_t pick(std::int64_t value) const { return value; }
  void add(State& s, std::int64_t value) const { s.sum += value; }
  void merge(State& s, const State& other) const { s.sum += other.sum; }
  std::int64_t result(const State& s) const { return s.sum; }
};
static_assert(Subtractable<Sum> && !Subtractable<MergedSum>);

/// Does what a row says with its last digit: 2 fires, 3 purges, 4 does both, 5 wakes it five later,
/// 6 at the window's last instant, 7 at once, 8 seven later by the wall clock; 9 every alarm sets
/// the next, three later. At its end a window does nothing.
struct Obedient {
  struct State {
    bool repeats = false;
  };
  Firing on_row(const std::int64_t& value, TriggerContext<State>& here) const {
    switch (value % 10) {
      case 2: return Firing::fire;
      case 3: return Firing::purge;
      case 4: return Firing::fire_and_purge;
      case 5: here.wake(here.time() + Duration{5}); break;
      case 6: here.wake(last_instant(here.window())); break;
      case 7: here.wake(here.time()); break;
      case 8: here.wake_at_wall(here.wall() + Duration{7}); break;
      case 9:
        here.state().repeats = true;
        here.wake(here.time() + Duration{3});
        break;
      default: break;
    }
    return Firing::go_on;
  }
  Firing on_alarm(TriggerContext<State>& here) const {
    if (here.state().repeats) here.wake(here.time() + Duration{3});
    return Firing::fire;
  }
  Firing on_wall_alarm(TriggerContext<State>&) const { return Firing::fire; }
  void merge(State& into, const State& other) const { into.repeats |= other.repeats; }
};

std::string number(EventTime time) { return std::to_string(time.ms); }

using Result = Windowed<std::int64_t, std::int64_t>;

struct Results final : Consumer<Result> {
  std::vector<std::string>* seen = nullptr;
  void take(Batch<Result>& rows) override {
    for (const auto& [time, row] : rows) {
      if (time != last_instant(row.window)) throw std::logic_error("a result has another time");
      std::string text = row.key == 1 ? "" : std::to_string(row.key) + ":";
      text += row.window == Global::window()
                  ? "all"
                  : number(row.window.start) + ".." + number(row.window.end);
      text += "=" + std::to_string(row.value);
      if (row.pane != 0) text += "#" + std::to_string(row.pane);
      seen->push_back(std::move(text));
    }
  }
  void watermark(EventTime) override {}
  void flush() override {}
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}
};
struct Late final : Consumer<std::int64_t> {
  std::vector<std::string>* seen = nullptr;
  void take(Batch<std::int64_t>& rows) override {
    for (const auto& row : rows) seen->push_back("late=" + std::to_string(row.value));
  }
  void watermark(EventTime) override {}
  void flush() override {}
  void link(Way, Stage&) override {}
  void set_idle(bool) override {}
};

template <class Make>
class Operator final : public WindowOperator {
  using Input = Keyed<std::int64_t, std::int64_t>;

 public:
  Operator(FakeWorld& world, Make make, int parallelism) : world_(world), make_(make) {
    for (int i = 0; i < parallelism; ++i) {
      auto subtask = std::make_unique<Driven>();
      const StageContext context{world.env("window." + std::to_string(i)), {i, parallelism}, {}};
      subtask->stage = make(context);
      subtask->results.seen = &seen_;
      subtask->late.seen = &seen_;
      subtask->stage->link({0, 0, 1}, subtask->results);
      subtask->stage->link({1, 0, 1}, subtask->late);
      subtasks_.push_back(std::move(subtask));
    }
  }

  void row(std::int64_t time, std::int64_t key, std::int64_t value) override {
    const auto group = group_of(hash_key(key));
    Driven& subtask =
        *subtasks_[static_cast<std::size_t>(owner_of(group, static_cast<int>(subtasks_.size())))];
    subtask.rows.add({time}, Input{key, value});
    if (subtask.rows.full() || subtask.rows.size() >= batch_rows) hand_on(subtask);
  }
  void watermark(EventTime time) override {
    for (std::size_t i = 0; i < subtasks_.size(); ++i) watermark_of(i, time);
  }
  void watermark_of(std::size_t subtask, EventTime time) override {
    hand_on(*subtasks_[subtask]);
    subtasks_[subtask]->stage->watermark(time);
  }
  void wall(EventTime now) override {
    world_.clock.set_wall(now);
    for (auto& subtask : subtasks_) {
      hand_on(*subtask);
      if (subtask->stage->next_alarm() <= now) subtask->stage->ring(now);
    }
  }
  std::vector<std::string> taken() override {
    for (auto& subtask : subtasks_) hand_on(*subtask);
    std::sort(seen_.begin(), seen_.end());
    return std::exchange(seen_, {});
  }
  std::unique_ptr<WindowOperator> restored(int parallelism) override {
    const Manifest manifest = saved();
    auto other = std::make_unique<Operator>(world_, make_, parallelism);
    other->batch_rows = batch_rows;
    other->seen_ = std::exchange(seen_, {});
    Env env = world_.env();
    for (int i = 0; i < parallelism; ++i) {
      Restored restored;
      restored.sections = load_sections(env, manifest, "window", {i, parallelism});
      other->subtasks_[static_cast<std::size_t>(i)]->stage->restore(restored);
    }
    return other;
  }
  std::size_t state_bytes() override {
    std::size_t sum = 0;
    for (const StateObject& state : saved().states) {
      for (const StateSection& section : state.sections) sum += section.size_bytes;
    }
    return sum;
  }

 private:
  struct Driven {
    Results results;
    Late late;
    std::unique_ptr<Consumer<Input>> stage;
    Batch<Input> rows;
    void save(Snapshot& snapshot) { stage->save(snapshot); }
  };
  void hand_on(Driven& subtask) {
    if (subtask.rows.empty()) return;
    subtask.stage->take(subtask.rows);
    subtask.rows.clear();
  }
  Manifest saved() {
    for (auto& subtask : subtasks_) {
      hand_on(*subtask);
      subtask->stage->flush();
    }
    return checkpoint(world_, {{1}, ++checkpoints_}, "window", subtasks_);
  }

  FakeWorld& world_;
  Make make_;
  std::vector<std::string> seen_;
  std::vector<std::unique_ptr<Driven>> subtasks_;
  std::uint64_t checkpoints_ = 0;
};

template <class Made, class... Parts>
std::unique_ptr<WindowOperator> made(FakeWorld& world, int parallelism, Parts... parts) {
  auto make = [=](const StageContext& context) {
    return std::make_unique<Made>(context, "window", parts...);
  };
  return std::make_unique<Operator<decltype(make)>>(world, make, parallelism);
}

template <class Windows, class Tr, bool purges>
std::unique_ptr<WindowOperator> by_key(FakeWorld& world, int parallelism, Windows windows,
                                       Tr trigger, Duration lateness) {
  using ByKey = TriggerWindowStage<std::int64_t, std::int64_t, Sum, Windows, Tr, purges>;
  return made<ByKey>(world, parallelism, Sum{}, windows, trigger, lateness);
}

template <class Windows>
std::unique_ptr<WindowOperator> by_key(FakeWorld& world, int parallelism, const WindowSpec& spec,
                                       Windows windows) {
  const auto with = [&](auto trigger) {
    using Tr = decltype(trigger);
    return spec.purges
               ? by_key<Windows, Tr, true>(world, parallelism, windows, trigger, spec.lateness)
               : by_key<Windows, Tr, false>(world, parallelism, windows, trigger, spec.lateness);
  };
  switch (spec.trigger) {
    case WindowSpec::Trigger::at_end: return with(triggers::AtEnd{});
    case WindowSpec::Trigger::every: return with(every_rows(spec.rows_or_span));
    case WindowSpec::Trigger::early: return with(early_rows(spec.rows_or_span));
    case WindowSpec::Trigger::wall: return with(every_wall(Duration{spec.rows_or_span}));
    case WindowSpec::Trigger::obedient: return with(Obedient{});
  }
  throw std::logic_error("there is no such trigger");
}

}  // namespace

WindowSpec window_spec(std::string_view words) {
  std::istringstream in{std::string(words)};
  WindowSpec spec;
  std::string part;
  while (std::getline(in, part, ',')) {
    std::istringstream from(part);
    std::string word;
    std::string more;
    std::int64_t first = 0;
    from >> word;
    if (word == "tumbling" || word == "sliding") {
      std::int64_t slide = 0;
      std::int64_t offset = 0;
      from >> first;
      if (word == "sliding") from >> slide;
      from >> offset;
      spec.sliding =
          sliding(Duration{first}, Duration{word == "sliding" ? slide : first}, Duration{offset});
    } else if (word == "sessions") {
      from >> first;
      spec.kind = WindowSpec::Kind::sessions;
      spec.gap = sessions(Duration{first}).gap;
    } else if (word == "global") {
      spec.kind = WindowSpec::Kind::global;
    } else if (word == "late") {
      from >> more;
      spec.lateness = more == "forever" ? Duration::max() : Duration{std::stoll(more)};
    } else if (word == "purging") {
      spec.purges = true;
    } else if (word == "by") {
      spec.by_key = true;
    } else if (word == "merged") {
      spec.merged = true;
    } else {
      from >> spec.rows_or_span;
      spec.trigger = word == "every"      ? WindowSpec::Trigger::every
                     : word == "early"    ? WindowSpec::Trigger::early
                     : word == "wall"     ? WindowSpec::Trigger::wall
                     : word == "obedient" ? WindowSpec::Trigger::obedient
                                          : throw std::logic_error("no such window: " + part);
    }
  }
  return spec;
}

std::unique_ptr<WindowOperator> window_operator(FakeWorld& world, const WindowSpec& spec,
                                                int parallelism) {
  switch (spec.kind) {
    case WindowSpec::Kind::sessions: return by_key(world, parallelism, spec, Sessions{spec.gap});
    case WindowSpec::Kind::global: return by_key(world, parallelism, spec, Global{});
    case WindowSpec::Kind::sliding: break;
  }
  if (!spec.shares_panes()) return by_key(world, parallelism, spec, spec.sliding);
  if (spec.merged) {
    using InPanes = WindowStage<std::int64_t, std::int64_t, MergedSum>;
    return made<InPanes>(world, parallelism, MergedSum{}, spec.sliding, spec.lateness);
  }
  using InPanes = WindowStage<std::int64_t, std::int64_t, Sum>;
  return made<InPanes>(world, parallelism, Sum{}, spec.sliding, spec.lateness);
}

}  // namespace millrace
