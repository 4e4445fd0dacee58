#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "window_operator.hpp"

using namespace millrace;

namespace {

/// What windows are to give, worked out row by row and window by window, from lists.
class NaiveWindows {
 public:
  explicit NaiveWindows(WindowSpec spec) : spec_(spec) {}

  std::vector<std::string> out;

  void row(std::int64_t time, std::int64_t key, std::int64_t value) {
    bool is_taken = false;
    for (Window window : windows_of(time)) {
      if (spec_.kind == WindowSpec::Kind::sessions) window = together(key, window);
      if (clean_up_time(window) <= watermark_) continue;
      is_taken = true;
      Held& held = find(key, window);
      held.values.push_back(value);
      if (held.window.end.ms - 1 <= watermark_ && spec_.trigger != WindowSpec::Trigger::every) {
        fire(key, held);
      } else if (spec_.trigger != WindowSpec::Trigger::at_end &&
                 ++held.waiting >= spec_.rows_or_span) {
        held.waiting = 0;
        fire(key, held);
      }
    }
    if (!is_taken) out.push_back("late=" + std::to_string(value));
  }

  void watermark(std::int64_t time) {
    if (time <= watermark_) return;
    for (auto& [key, windows] : held_) {
      for (Held& held : windows) {
        const std::int64_t last = held.window.end.ms - 1;
        const bool ends_now = watermark_ < last && last <= time;
        if (ends_now && spec_.trigger != WindowSpec::Trigger::every) fire(key, held);
      }
      std::erase_if(windows, [&](const Held& held) { return clean_up_time(held.window) <= time; });
    }
    watermark_ = time;
  }

 private:
  struct Held {
    Window window;
    std::vector<std::int64_t> values;
    std::int64_t waiting = 0;
    int results = 0;
  };

  std::vector<Window> windows_of(std::int64_t time) const {
    if (spec_.kind == WindowSpec::Kind::global) return {Global::window()};
    if (spec_.kind == WindowSpec::Kind::sessions) return {{{time}, {time + spec_.gap.count()}}};
    std::vector<Window> windows;
    const std::int64_t slide = spec_.sliding.slide.count();
    const std::int64_t size = spec_.sliding.size.count();
    for (std::int64_t start = time - size + 1; start <= time; ++start) {
      if ((start - spec_.sliding.offset.count()) % slide == 0) {
        windows.push_back({{start}, {start + size}});
      }
    }
    return windows;
  }
  std::int64_t clean_up_time(Window window) const {
    const std::int64_t last = window.end.ms - 1;
    const std::int64_t most = EventTime::max().ms;
    return spec_.lateness.count() > most - std::max<std::int64_t>(last, 0)
               ? most
               : last + spec_.lateness.count();
  }
  Held& find(std::int64_t key, Window window) {
    auto& windows = held_[key];
    for (Held& held : windows) {
      if (held.window == window) return held;
    }
    windows.push_back({window, {}});
    return windows.back();
  }
  /// Puts the key's sessions that a row's window touches into one, and returns its bounds.
  Window together(std::int64_t key, Window window) {
    auto& windows = held_[key];
    Held all{window, {}};
    for (const Held& held : windows) {
      if (held.window.start > window.end || held.window.end < window.start) continue;
      all.window.start = std::min(all.window.start, held.window.start);
      all.window.end = std::max(all.window.end, held.window.end);
      all.values.insert(all.values.end(), held.values.begin(), held.values.end());
      all.waiting += held.waiting;
    }
    for (const Held& held : windows) {
      if (held.window == all.window) all.results = held.results;
    }
    const auto before = windows.size();
    std::erase_if(windows, [&](const Held& held) {
      return held.window.start <= window.end && held.window.end >= window.start;
    });
    if (windows.size() != before) windows.push_back(all);
    return all.window;
  }
  void fire(std::int64_t key, Held& held) {
    if (held.values.empty()) return;
    std::int64_t sum = 0;
    for (const std::int64_t value : held.values) sum += value;
    std::string text = key == 1 ? "" : std::to_string(key) + ":";
    text += spec_.kind == WindowSpec::Kind::global
                ? "all"
                : std::to_string(held.window.start.ms) + ".." + std::to_string(held.window.end.ms);
    text += "=" + std::to_string(sum);
    if (held.results != 0) text += "#" + std::to_string(held.results);
    ++held.results;
    out.push_back(std::move(text));
    if (spec_.purges) held.values.clear();
  }

  WindowSpec spec_;
  std::int64_t watermark_ = EventTime::min().ms;
  std::map<std::int64_t, std::vector<Held>> held_;
};

const char* const kinds[] = {"tumbling 10",  "tumbling 7 3",   "sliding 10 5", "sliding 12 4 1",
                             "sliding 10 4", "sliding 11 3 2", "sessions 6",   "global"};
const char* const modes[] = {"",          ", late 4",         ", late 30", ", late forever",
                             ", purging", ", late 9, purging"};
const char* const triggers[] = {"", ", every 3", ", early 2"};

/// Tells the same to a window operator and to the reference. Every so often the operator is
/// restored, at another parallelism.
void compare(const std::string& words, std::uint64_t seed, std::uint32_t batch_rows,
             bool is_restored) {
  CAPTURE(words, seed, batch_rows, is_restored);
  Draws draws(seed);
  FakeWorld world;
  const WindowSpec spec = window_spec(words);
  const int first = is_restored ? 1 + static_cast<int>(draws.below(4)) : 1;
  auto windows = window_operator(world, spec, first);
  windows->batch_rows = batch_rows;
  NaiveWindows naive(spec);
  std::vector<std::string> came;
  std::int64_t now = -60;
  for (int i = 0; i < 250; ++i) {
    // Sometimes nothing comes for long: longer than windows, sessions and lateness.
    now += static_cast<std::int64_t>(draws.one_in(40) ? 60 : draws.below(3));
    const auto time = now - static_cast<std::int64_t>(draws.below(25));
    const auto key = static_cast<std::int64_t>(draws.below(6));
    const auto value = static_cast<std::int64_t>(draws.below(1'000));
    windows->row(time, key, value);
    naive.row(time, key, value);
    if (draws.one_in(5)) {
      const std::int64_t mark = now - 12 - static_cast<std::int64_t>(draws.below(4));
      windows->watermark({mark});
      naive.watermark(mark);
    }
    if (is_restored && draws.one_in(50)) {
      windows = windows->restored(1 + static_cast<int>(draws.below(4)));
    }
  }
  windows->watermark(EventTime::max());
  naive.watermark(EventTime::max().ms);
  std::sort(naive.out.begin(), naive.out.end());
  CHECK(windows->taken() == naive.out);
}

template <class Each>
void each_kind(Each&& each) {
  for (const char* const kind : kinds) {
    for (const char* const mode : modes) {
      for (const char* const trigger : triggers) each(std::string(kind) + trigger + mode);
    }
  }
}

}  // namespace

TEST_CASE("windows of every kind give what is worked out row by row, wherever batches end",
          "[runtime][window]") {
  std::uint64_t seed = 1;
  each_kind([&](const std::string& words) {
    for (const std::uint32_t batch_rows : {1U, 7U, 1024U}) {
      compare(words, ++seed, batch_rows, false);
      compare(words + ", merged", ++seed, batch_rows, false);
      compare(words + ", by key", ++seed, batch_rows, false);
    }
  });
}

TEST_CASE("windows of every kind go on in other subtasks as if nothing had been",
          "[runtime][window]") {
  std::uint64_t seed = 1'000;
  each_kind([&](const std::string& words) {
    for (const std::uint32_t batch_rows : {1U, 7U}) {
      compare(words, ++seed, batch_rows, true);
      compare(words + ", merged", ++seed, batch_rows, true);
    }
  });
}

TEST_CASE("what has been cleaned up leaves nothing in the state", "[runtime][window]") {
  each_kind([&](const std::string& words) {
    if (words.find("forever") != std::string::npos) return;
    CAPTURE(words);
    FakeWorld world;
    auto windows = window_operator(world, window_spec(words), 1);
    const std::size_t empty = windows->state_bytes();
    for (std::int64_t i = 0; i < 40; ++i) {
      windows->row(i * 3, i % 7, i);
      if (i % 5 == 4) windows->watermark({i * 3 - 15});
      if (i % 9 == 8) windows->row(i * 3 - 20, i % 7, i);
    }
    CHECK(windows->state_bytes() > empty);
    windows->watermark(EventTime::max());
    CHECK(windows->state_bytes() == empty);
  });
}

TEST_CASE("what one subtask had let out and another had not comes out once, put together",
          "[runtime][window]") {
  for (const char* const words :
       {"tumbling 10", "sliding 10 5", "sliding 10 4, merged", "sliding 10 5, late 20",
        "tumbling 10, late forever", "tumbling 10, by key", "sliding 10 5, late 20, by key",
        "sessions 10", "sessions 10, late 20"}) {
    for (const int parallelism : {1, 2, 3}) {
      for (const bool is_restored_twice : {false, true}) {
        CAPTURE(words, parallelism, is_restored_twice);
        FakeWorld world;
        NaiveWindows naive(window_spec(words));
        auto windows = window_operator(world, window_spec(words), 2);
        for (std::int64_t i = 0; i < 60; ++i) {
          windows->row(i % 23, i % 10, i);
          naive.row(i % 23, i % 10, i);
        }
        windows->watermark({4});
        windows->watermark_of(1, {17});
        windows = windows->restored(parallelism);
        if (is_restored_twice) windows = windows->restored(parallelism);
        windows->watermark({18});
        naive.watermark(18);
        std::sort(naive.out.begin(), naive.out.end());
        CHECK(windows->taken() == std::exchange(naive.out, {}));
        windows->watermark(EventTime::max());
        naive.watermark(EventTime::max().ms);
        std::sort(naive.out.begin(), naive.out.end());
        CHECK(windows->taken() == naive.out);
      }
    }
  }
}
