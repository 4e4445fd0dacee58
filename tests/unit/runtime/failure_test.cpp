#include "millrace/runtime/control/failure.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"

#include "damage.hpp"

using namespace millrace;

namespace {

template <class Error>
Failure described(const Error& error) {
  return describe_failure(std::make_exception_ptr(error), "window.1");
}

}  // namespace

TEST_CASE("a failure of the world tells who met it, and that trying again is of use",
          "[runtime][failure]") {
  const Failure world = described(ConnectionLost("gone"));
  CHECK(world.kind == Failure::Kind::world);
  CHECK(world.text == "window.1: gone");
  CHECK_FALSE(is_permanent(world));

  CHECK_FALSE(is_permanent(described(WorldError("x"))));
  CHECK_FALSE(is_permanent(described(IoError("x"))));
  CHECK_FALSE(is_permanent(described(NoSpace("x"))));
  CHECK_FALSE(is_permanent(described(Unavailable("x"))));

  CHECK(described(UsageError("x")).kind == Failure::Kind::usage);
  // A function's failure tells its operator itself, alike in whichever subtask, and is tried again.
  CHECK(described(FunctionFailed("x")).kind == Failure::Kind::function);
  CHECK(described(FunctionFailed("x")).text == "x");
  CHECK_FALSE(is_permanent(described(FunctionFailed("x"))));
  CHECK(described(JobFailed("x")).kind == Failure::Kind::failed);
  CHECK(is_permanent(described(UsageError("x"))));
  CHECK(is_permanent(described(JobFailed("x"))));
}

TEST_CASE("a refusal keeps its reason", "[runtime][failure]") {
  const Failure failure = described(Refused(Refusal::sink_ahead, "too far"));

  CHECK(failure.kind == Failure::Kind::refused);
  CHECK(failure.refusal == Refusal::sink_ahead);
  CHECK(failure.text == "too far");
  CHECK(is_permanent(failure));
}

TEST_CASE("state that cannot be read is refused and not tried again", "[runtime][failure]") {
  const Failure failure = described(CorruptObject("state/1.1-window.0: torn"));

  CHECK(failure.kind == Failure::Kind::refused);
  CHECK(failure.refusal == Refusal::state_unreadable);
}

TEST_CASE("an error that is none of ours is not described", "[runtime][failure]") {
  CHECK_THROWS_AS(described(std::logic_error("a bug")), std::logic_error);
}

TEST_CASE("a failure is thrown again as what it was", "[runtime][failure]") {
  const auto again = [](const auto& error) { throw_failure(described(error)); };

  CHECK(message_of<UsageError>([&] { again(UsageError("x")); }) == "x");
  CHECK(message_of<JobFailed>([&] { again(JobFailed("x")); }) == "x");
  CHECK(message_of<WorldError>([&] { again(IoError("x")); }) == "window.1: x");
  try {
    again(Refused(Refusal::marker_missing, "x"));
    FAIL("nothing was thrown");
  } catch (const Refused& refused) {
    CHECK(refused.why() == Refusal::marker_missing);
    CHECK(std::string(refused.what()) == "x");
  }
}
