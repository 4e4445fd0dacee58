#include "tool.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::tests {
namespace {

constexpr const char* kill_variable = "MILLRACE_KILL_AT=";

void check(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(std::string("the test cannot ") + what);
}

/// A file without a name, in memory.
int open_nameless(const char* what) {
  const int file = ::memfd_create(what, MFD_CLOEXEC);
  check(file >= 0, "make a file for what the tool says");
  return file;
}

std::string whole_text(int file) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const auto count = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    check(count >= 0, "read what the tool says");
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

/// Pointers to texts, with a null pointer behind them, as the operating system wants them.
std::vector<char*> pointers_to(Tool::Words& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Tool::Words environment_with(const Tool::Words& more) {
  Tool::Words all;
  for (char** line = ::environ; *line != nullptr; ++line) {
    const std::string text = *line;
    if (!text.starts_with(kill_variable)) all.push_back(text);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

Tool::Tool(const std::string& directory, const Words& arguments, const Words& environment)
    : output_(open_nameless("output")), errors_(open_nameless("errors")) {
  Words words{MILLRACE_TOOL};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Words surroundings = environment_with(environment);
  ::posix_spawn_file_actions_t actions;
  check(::posix_spawn_file_actions_init(&actions) == 0, "start the tool");
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  ::posix_spawn_file_actions_adddup2(&actions, output_, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  const int failure = ::posix_spawn(&process_, MILLRACE_TOOL, &actions, nullptr,
                                    pointers_to(words).data(), pointers_to(surroundings).data());
  ::posix_spawn_file_actions_destroy(&actions);
  check(failure == 0, "start the tool");
}

Tool::~Tool() {
  if (!is_reaped_) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status_, 0);
  }
  ::close(output_);
  ::close(errors_);
}

void Tool::send(int signal) const {
  if (!is_reaped_) ::kill(process_, signal);
}

bool Tool::has_ended() {
  if (!is_reaped_) is_reaped_ = ::waitpid(process_, &status_, WNOHANG) == process_;
  return is_reaped_;
}

std::string Tool::output() const { return whole_text(output_); }

ToolEnd Tool::wait() {
  while (!is_reaped_) {
    is_reaped_ = ::waitpid(process_, &status_, 0) == process_;
    check(is_reaped_ || errno == EINTR, "wait for the tool");
  }
  ToolEnd end;
  if (WIFSIGNALED(status_)) {
    end.signal = WTERMSIG(status_);
  } else {
    end.exit_code = WEXITSTATUS(status_);
  }
  end.output = whole_text(output_);
  end.errors = whole_text(errors_);
  return end;
}

ToolEnd run_tool_in(const std::string& directory, const Tool::Words& arguments,
                    const Tool::Words& environment) {
  return Tool(directory, arguments, environment).wait();
}

Tool::Words killed_at(const std::string& anchor) { return {kill_variable + anchor}; }

}  // namespace millrace::tests
