#include "millrace/posix/stop_signals.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include <signal.h>
#include <unistd.h>

#include "millrace/env/invariant.hpp"

namespace millrace::posix {
namespace {

constexpr int exit_code_interrupted = 130;
constexpr std::array stopping_signals{SIGINT, SIGTERM};

// A signal handler is given nothing but a number, so this cannot live anywhere else.
std::atomic<int> received = 0;
std::atomic<bool> installed = false;
std::array<struct ::sigaction, stopping_signals.size()> before{};

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not wait");

extern "C" void on_stopping_signal(int) {
  if (received.fetch_add(1) != 0) ::_exit(exit_code_interrupted);
}

}  // namespace

StopSignals::StopSignals() {
  invariant(!installed.exchange(true), "stopping signals are received in one place");
  received = 0;
  struct ::sigaction action {};
  action.sa_handler = &on_stopping_signal;
  // Without SA_RESTART: a wait of the main thread ends, and it looks at `requested`.
  for (std::size_t i = 0; i < stopping_signals.size(); ++i) {
    ::sigaction(stopping_signals[i], &action, &before[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < stopping_signals.size(); ++i) {
    ::sigaction(stopping_signals[i], &before[i], nullptr);
  }
  installed = false;
}

bool StopSignals::requested() const { return received != 0; }

}  // namespace millrace::posix
