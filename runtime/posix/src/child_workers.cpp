#include "millrace/posix/child_workers.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "descriptor.hpp"
#include "system_error.hpp"

namespace millrace::posix {
namespace {

/// Between two calls of `on_tick`.
constexpr int tick_ms = 100;

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw IoError(fmt::format("cannot make a pipe: {}", error_text(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Whatever waits in buffers is written by the process that put it there, and by no copy of it.
void flush_everything() {
  std::cout.flush();
  std::fflush(nullptr);
}

void write_line(int pipe, std::string_view line) {
  invariant(line.find('\n') == line.npos, "a line that a child says is one line");
  std::string text(line);
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const auto count = ::write(pipe, left.data(), left.size());
    if (count >= 0) {
      left.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw IoError(fmt::format("nobody listens to this child: {}", error_text(errno)));
    }
  }
}

/// The life of a child. It ends here and never returns into what is the parent's stack.
[[noreturn]] void live(const Workers::Child& child, int index, int pipe, ::pid_t parent) noexcept {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (::getppid() != parent) ::_exit(1);
  const int code = child(index, [pipe](std::string_view line) { write_line(pipe, line); });
  flush_everything();
  ::_exit(code);
}

/// A child as the parent sees it; killed when it goes away.
class RunningChild {
 public:
  RunningChild(int index, const Workers::Child& child) : index_(index) {
    auto pipe = open_pipe();
    flush_everything();
    const auto parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) {
      throw IoError(fmt::format("cannot start a child: {}", error_text(errno)));
    }
    if (process_ == 0) live(child, index, pipe.writing.number(), parent);
    pipe_ = std::move(pipe.reading);
    ::fcntl(pipe_.number(), F_SETFL, O_NONBLOCK);
  }
  RunningChild(RunningChild&& other) noexcept
      : index_(other.index_),
        process_(std::exchange(other.process_, 0)),
        pipe_(std::move(other.pipe_)),
        unfinished_(std::move(other.unfinished_)) {}
  RunningChild& operator=(RunningChild&&) = delete;
  ~RunningChild() { kill(); }

  int index() const { return index_; }
  int pipe() const { return pipe_.number(); }

  /// Delivers the whole lines that have come. False: no more can come.
  bool read(const Workers::OnLine& on_line) {
    std::array<char, 64 * 1024> piece;
    while (true) {
      const auto count = ::read(pipe_.number(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return true;
      if (count == 0) return false;
      unfinished_.append(piece.data(), static_cast<std::size_t>(count));
      deliver(on_line);
    }
  }

  /// How it ended, if it did.
  std::optional<ChildEnd> look() {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
    process_ = 0;
    ChildEnd end;
    end.index = index_;
    if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
    } else {
      end.exit_code = WEXITSTATUS(status);
    }
    return end;
  }

  void kill() noexcept {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
  }

 private:
  void deliver(const Workers::OnLine& on_line) {
    std::size_t begin = 0;
    for (auto end = unfinished_.find('\n'); end != std::string::npos;
         end = unfinished_.find('\n', begin)) {
      on_line(index_, std::string_view(unfinished_).substr(begin, end - begin));
      begin = end + 1;
    }
    unfinished_.erase(0, begin);
  }

  int index_;
  ::pid_t process_ = 0;  ///< 0: it has ended and was waited for.
  Descriptor pipe_;
  std::string unfinished_;  ///< The beginning of a line.
};

/// Waits until a child says something, a signal arrives or it is time for a tick.
void wait_for_news(const std::vector<RunningChild>& children) {
  std::vector<::pollfd> pipes;
  for (const auto& child : children) pipes.push_back({child.pipe(), POLLIN, 0});
  if (::poll(pipes.data(), pipes.size(), tick_ms) < 0) {
    invariant(errno == EINTR, "only a signal interrupts the wait for children");
  }
}

}  // namespace

void ChildWorkers::run(int count, const Child& child, const OnLine& on_line, const OnEnd& on_end,
                       const OnTick& on_tick) {
  std::vector<RunningChild> children;
  for (int index = 0; index < count; ++index) children.emplace_back(index, child);
  while (!children.empty()) {
    wait_for_news(children);
    std::vector<RunningChild> still_running;
    for (auto& running : children) {
      // In this order: what it wrote before its end is in the pipe once the end is seen.
      const auto end = running.look();
      running.read(on_line);
      if (!end) {
        still_running.push_back(std::move(running));
      } else if (on_end(*end)) {
        still_running.emplace_back(end->index, child);
      }
    }
    children = std::move(still_running);
    if (children.empty() || on_tick()) continue;
    for (auto& running : children) {
      running.kill();
      running.read(on_line);
    }
    return;
  }
}

}  // namespace millrace::posix
