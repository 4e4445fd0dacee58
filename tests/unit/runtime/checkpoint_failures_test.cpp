#include "millrace/runtime/coordinator/checkpoint_failures.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

CheckpointFailures tolerating(std::uint32_t failures) {
  CheckpointOptions options;
  options.tolerable_failures = failures;
  return CheckpointFailures(options);
}

CheckpointId id(std::uint64_t n) { return {{2}, n}; }

}  // namespace

TEST_CASE("one failed checkpoint more in a row than is tolerable is too many",
          "[runtime][checkpoint_failures]") {
  for (const std::uint32_t tolerable : {0U, 1U, 3U}) {
    CheckpointFailures failures = tolerating(tolerable);
    for (std::uint64_t n = 1; n <= tolerable; ++n) CHECK_FALSE(failures.failed(id(n)));
    CHECK(failures.failed(id(tolerable + 1)));
  }
}

TEST_CASE("when checkpoints have failed too often, counting begins anew",
          "[runtime][checkpoint_failures]") {
  CheckpointFailures failures = tolerating(1);
  CHECK_FALSE(failures.failed(id(1)));
  REQUIRE(failures.failed(id(2)));

  CHECK_FALSE(failures.failed(id(3)));
  CHECK(failures.failed(id(4)));
}

TEST_CASE("a completed checkpoint makes the counting of failed ones begin anew",
          "[runtime][checkpoint_failures]") {
  CheckpointFailures failures = tolerating(1);
  CHECK_FALSE(failures.failed(id(1)));

  failures.completed(id(2));

  CHECK_FALSE(failures.failed(id(3)));
  CHECK(failures.failed(id(4)));
}

TEST_CASE("a checkpoint fails once, and not when it or a later one was completed",
          "[runtime][checkpoint_failures]") {
  CheckpointFailures failures = tolerating(1);
  CHECK_FALSE(failures.failed(id(2)));
  CHECK_FALSE(failures.failed(id(2)));
  CHECK_FALSE(failures.failed(id(1)));
  REQUIRE(failures.failed(id(3)));

  failures.completed(id(5));
  CHECK_FALSE(failures.failed(id(4)));
  CHECK_FALSE(failures.failed(id(5)));
  CHECK_FALSE(failures.failed(id(6)));
  CHECK(failures.failed(id(7)));
}
