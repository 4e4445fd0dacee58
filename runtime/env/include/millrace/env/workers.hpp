#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace millrace {

/// How a child process ended.
struct ChildEnd {
  int index = 0;
  int exit_code = 0;  ///< Of a normal end.
  int signal = 0;     ///< 0: a normal end.
};

/// Runs a function in child processes, so that the death of one is an event and not the end.
///
/// Processes and not threads, because SQLite has state that all threads of a process share.
class Workers {
 public:
  virtual ~Workers() = default;

  /// What a child does; `say` sends a line to the parent, whole lines only.
  using Child =
      std::function<int(int index, const std::function<void(std::string_view line)>& say)>;
  /// A line from child `index`.
  using OnLine = std::function<void(int index, std::string_view line)>;
  /// A child ended. True: start it again with the same index.
  using OnEnd = std::function<bool(const ChildEnd& end)>;
  /// Called several times a second while children run. False: end them all.
  using OnTick = std::function<bool()>;

  /// Runs `count` children to their end. Must be called while the process has one thread.
  virtual void run(int count, const Child& child, const OnLine& on_line, const OnEnd& on_end,
                   const OnTick& on_tick) = 0;
};

}  // namespace millrace
