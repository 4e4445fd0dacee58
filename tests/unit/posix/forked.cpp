#include "forked.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::posix {
namespace {

constexpr int threw = 99;

std::pair<int, int> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe can be made");
  return {ends[0], ends[1]};
}

[[noreturn]] void live(const std::function<void()>& body) {
  // The test framework catches signals to report them; here they are what is tested.
  for (const int signal : {SIGINT, SIGTERM, SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(threw);
  }
  ::_exit(0);
}

}  // namespace

ForkedEnd run_forked(const std::function<void()>& body) {
  const auto [reading, writing] = open_pipe();
  std::fflush(nullptr);
  const auto process = ::fork();
  if (process == 0) {
    ::dup2(writing, STDERR_FILENO);
    ::close(writing);
    live(body);
  }
  ::close(writing);
  ForkedEnd end;
  std::array<char, 4096> piece{};
  for (auto count = ::read(reading, piece.data(), piece.size()); count > 0;
       count = ::read(reading, piece.data(), piece.size())) {
    end.errors.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(reading);
  int status = 0;
  ::waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

LinePipe::LinePipe() {
  const auto [reading, writing] = open_pipe();
  reading_ = reading;
  writing_ = writing;
}

LinePipe::~LinePipe() {
  ::close(reading_);
  close_sending();
}

void LinePipe::send(const std::string& line) const {
  const auto text = line + '\n';
  if (::write(writing_, text.data(), text.size()) < 0) throw std::runtime_error("nobody reads");
}

std::string LinePipe::receive() {
  std::string line;
  char c = 0;
  while (::read(reading_, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

void LinePipe::close_sending() {
  if (writing_ >= 0) ::close(std::exchange(writing_, -1));
}

}  // namespace millrace::posix
