#include "millrace/posix/stop_signals.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>
#include <signal.h>

#include "forked.hpp"

using millrace::posix::run_forked;
using millrace::posix::StopSignals;

TEST_CASE("the first signal is a wish", "[posix][signals]") {
  const StopSignals signals;
  CHECK_FALSE(signals.requested());

  ::raise(SIGINT);

  CHECK(signals.requested());
}

TEST_CASE("signals that came earlier are forgotten", "[posix][signals]") {
  {
    const StopSignals earlier;
    ::raise(SIGTERM);
    CHECK(earlier.requested());
  }
  const StopSignals signals;
  CHECK_FALSE(signals.requested());
}

TEST_CASE("the second signal ends the process at once", "[posix][signals]") {
  const auto end = run_forked([] {
    const StopSignals signals;
    ::raise(SIGTERM);
    if (!signals.requested()) throw std::runtime_error("the first signal was not seen");
    ::raise(SIGINT);
    throw std::runtime_error("the second signal did not end the process");
  });

  CHECK(end.exit_code == 130);
  CHECK(end.errors.empty());
}

TEST_CASE("signals do what they did before once nobody waits for them", "[posix][signals]") {
  const auto end = run_forked([] {
    { const StopSignals signals; }
    ::raise(SIGINT);
  });

  CHECK(end.signal == SIGINT);
}
