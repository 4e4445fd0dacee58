#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/window.hpp"

#include "fake_world.hpp"

namespace millrace {

/// A window operator of the tests, in words:
///
///     tumbling 10 +3      size, and an offset
///     sliding 10 4 +1     size, slide, offset
///     sessions 10
///     global
///
/// and, behind commas: `late 5`, `late forever`, `purging`, a trigger (`every 3`, `early 3`,
/// `wall 50`, `obedient`), `by key` (not in panes, where both can be), `merged` (a fold that cannot
/// be taken apart).
struct WindowSpec {
  enum class Kind : std::uint8_t { sliding, sessions, global };
  enum class Trigger : std::uint8_t { at_end, every, early, wall, obedient };

  Kind kind = Kind::sliding;
  Sliding sliding{Duration{10}, Duration{10}};
  Duration gap{10};
  Trigger trigger = Trigger::at_end;
  std::int64_t rows_or_span = 0;
  Duration lateness{0};
  bool purges = false;
  bool by_key = false;
  bool merged = false;

  bool shares_panes() const {
    return kind == Kind::sliding && trigger == Trigger::at_end && !purges && !by_key;
  }
};
WindowSpec window_spec(std::string_view words);

/// All subtasks of a window operator. Values are added up; results and late rows are taken as text:
/// `2:0..10=11#1` is the result of key 2 for the window from 0 to 10, its second, the sum 11. Key
/// 1, pane 0 and the bounds of the global window (`all`) are left out; a late row is `late=11`.
class WindowOperator {
 public:
  virtual ~WindowOperator() = default;
  /// Rows are collected in batches of this size; everything else hands on what there is.
  std::uint32_t batch_rows = 1;

  virtual void row(std::int64_t time, std::int64_t key, std::int64_t value) = 0;
  virtual void watermark(EventTime time) = 0;
  /// For one subtask alone, as behind inputs that fell idle.
  virtual void watermark_of(std::size_t subtask, EventTime time) = 0;
  /// Rings as a task does: those subtasks that asked to be called by now.
  virtual void wall(EventTime now) = 0;
  /// Everything that came out since the last time, sorted.
  virtual std::vector<std::string> taken() = 0;
  /// A checkpoint, and an operator of other parallelism that was started from it.
  virtual std::unique_ptr<WindowOperator> restored(int parallelism) = 0;
  /// Of a snapshot: that of nothing is the least there is.
  virtual std::size_t state_bytes() = 0;
};
std::unique_ptr<WindowOperator> window_operator(FakeWorld& world, const WindowSpec& spec,
                                                int parallelism);

}  // namespace millrace
