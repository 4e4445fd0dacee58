#include "fiber.hpp"

#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <signal.h>

#include "forked.hpp"

using namespace millrace::sim;
using millrace::posix::run_forked;

namespace {

/// Says so when it goes away.
class Guard {
 public:
  explicit Guard(bool& gone) : gone_(gone) {}
  ~Guard() { gone_ = true; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  bool& gone_;
};

/// The stack that the pool would lend next.
void* next_stack(StackPool& stacks) {
  const StackPool::Stack stack = stacks.take();
  stacks.give_back(stack);
  return stack.top;
}

/// Uses more than a KiB of stack per level. Returns the number of levels.
int recurse(int levels) {
  volatile char used[1024];
  used[0] = 1;
  return levels == 0 ? 0 : recurse(levels - 1) + used[0];
}

std::string message_of_present_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a fiber stops where it yields and goes on there", "[sim][fiber]") {
  std::vector<std::string> log;
  StackPool stacks;
  Fiber* self = nullptr;
  Fiber fiber(stacks, [&] {
    for (const char* step : {"one", "two", "three"}) {
      log.emplace_back(step);
      self->yield();
    }
  });
  self = &fiber;

  CHECK_FALSE(fiber.started());
  for (int i = 0; i < 3; ++i) {
    fiber.resume();
    log.emplace_back("outside");
    CHECK(fiber.started());
    CHECK_FALSE(fiber.done());
  }
  fiber.resume();

  CHECK(fiber.done());
  CHECK(log == std::vector<std::string>{"one", "outside", "two", "outside", "three", "outside"});
}

TEST_CASE("fibers keep their own variables, however they are mixed", "[sim][fiber]") {
  constexpr std::size_t count = 100;
  StackPool stacks;
  std::vector<std::unique_ptr<Fiber>> fibers(count);
  std::vector<std::size_t> sums(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    fibers[i] = std::make_unique<Fiber>(stacks, [&, i] {
      std::size_t sum = 0;
      for (std::size_t step = 0; step <= i; ++step) {
        sum += step;
        fibers[i]->yield();
      }
      sums[i] = sum;
    });
  }

  for (std::size_t left = count; left != 0;) {
    for (std::size_t i = 0; i < count; ++i) {
      Fiber& fiber = *fibers[i * 37 % count];
      if (fiber.done()) continue;
      fiber.resume();
      if (fiber.done()) --left;
    }
  }

  for (std::size_t i = 0; i < count; ++i) CHECK(sums[i] == i * (i + 1) / 2);
}

TEST_CASE("a fiber that has ended gives back its stack and what its body held", "[sim][fiber]") {
  StackPool stacks;
  void* const stack = next_stack(stacks);
  const auto held = std::make_shared<int>(1);
  Fiber fiber(stacks, [held] {});
  CHECK(next_stack(stacks) != stack);

  fiber.resume();

  CHECK(next_stack(stacks) == stack);
  CHECK(held.use_count() == 1);
}

TEST_CASE("a stack is used again by later fibers", "[sim][fiber]") {
  StackPool stacks;
  std::vector<const void*> places;
  for (int i = 0; i < 3; ++i) {
    Fiber fiber(stacks, [&places] {
      const int local = 0;
      places.push_back(&local);
    });
    fiber.resume();
  }

  CHECK(places[1] == places[0]);
  CHECK(places[2] == places[0]);
}

TEST_CASE("an abandoned fiber runs no destructor and gives back its stack", "[sim][fiber]") {
  bool gone = false;
  StackPool stacks;
  void* const stack = next_stack(stacks);
  Fiber* self = nullptr;
  Fiber fiber(stacks, [&] {
    const Guard guard(gone);
    self->yield();
  });
  self = &fiber;
  fiber.resume();

  fiber.abandon();
  fiber.abandon();  // Once is enough.

  CHECK_FALSE(gone);
  CHECK(fiber.done());
  CHECK(next_stack(stacks) == stack);
}

TEST_CASE("a fiber that goes away before its end is abandoned", "[sim][fiber]") {
  bool gone = false;
  bool started = false;
  StackPool stacks;
  void* const stack = next_stack(stacks);
  {
    Fiber* self = nullptr;
    Fiber fiber(stacks, [&] {
      const Guard guard(gone);
      self->yield();
    });
    self = &fiber;
    fiber.resume();
  }
  CHECK_FALSE(gone);
  CHECK(next_stack(stacks) == stack);

  {
    const Fiber fiber(stacks, [&] { started = true; });
  }  // Never resumed.
  CHECK_FALSE(started);
  CHECK(next_stack(stacks) == stack);
}

TEST_CASE("a fiber that follows an abandoned one on its stack is whole", "[sim][fiber]") {
  StackPool stacks;
  for (int i = 0; i < 20; ++i) {
    Fiber* self = nullptr;
    int sum = 0;
    Fiber fiber(stacks, [&] {
      std::array<int, 1000> numbers{};
      numbers.fill(i);
      self->yield();
      for (const int number : numbers) sum += number;
      self->yield();
    });
    self = &fiber;
    fiber.resume();
    fiber.resume();
    CHECK(sum == 1000 * i);
    fiber.abandon();
  }
}

TEST_CASE("a fiber may outlive the fiber that made it", "[sim][fiber]") {
  StackPool stacks;
  std::unique_ptr<Fiber> inner;
  int steps = 0;
  Fiber outer(stacks, [&] {
    inner = std::make_unique<Fiber>(stacks, [&] {
      ++steps;
      inner->yield();
      ++steps;
    });
  });
  outer.resume();
  REQUIRE(outer.done());

  inner->resume();
  inner->resume();

  CHECK(inner->done());
  CHECK(steps == 2);
}

TEST_CASE("exceptions that two fibers handle at once do not mix", "[sim][fiber]") {
  StackPool stacks;
  std::vector<std::string> rethrown;
  std::array<std::unique_ptr<Fiber>, 2> fibers;
  const std::array<std::string, 2> names{"left", "right"};
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    fibers.at(i) = std::make_unique<Fiber>(stacks, [&, i] {
      try {
        throw std::runtime_error(names.at(i));
      } catch (const std::exception&) {
        fibers.at(i)->yield();
        rethrown.push_back(message_of_present_exception());
        fibers.at(i)->yield();
        rethrown.push_back(message_of_present_exception());
      }
    });
  }

  try {
    throw std::runtime_error("main");
  } catch (const std::exception&) {
    for (int round = 0; round < 3; ++round) {
      for (const auto& fiber : fibers) fiber->resume();
      rethrown.push_back(message_of_present_exception());
    }
  }

  CHECK(fibers[0]->done());
  CHECK(fibers[1]->done());
  CHECK(std::current_exception() == nullptr);
  CHECK(rethrown ==
        std::vector<std::string>{"main", "left", "right", "main", "left", "right", "main"});
}

TEST_CASE("a fiber that stops in the middle of unwinding leaves nobody else unwinding",
          "[sim][fiber]") {
  /// Yields while an exception passes by.
  struct Yielding {
    Fiber*& fiber;
    int& uncaught;
    ~Yielding() {
      fiber->yield();
      uncaught = std::uncaught_exceptions();
    }
  };
  StackPool stacks;
  Fiber* self = nullptr;
  int inside = 0;
  bool caught = false;
  Fiber fiber(stacks, [&] {
    try {
      const Yielding yielding{self, inside};
      throw std::runtime_error("on its way");
    } catch (const std::exception&) {
      caught = true;
    }
  });
  self = &fiber;

  fiber.resume();
  CHECK(std::uncaught_exceptions() == 0);
  CHECK_FALSE(caught);
  fiber.resume();

  CHECK(inside == 1);
  CHECK(caught);
}

TEST_CASE("a fiber has room for a deep call", "[sim][fiber]") {
  StackPool stacks;
  int depth = -1;
  Fiber fiber(stacks, [&] { depth = recurse(100); });

  fiber.resume();

  CHECK(depth == 100);
}

TEST_CASE("a fiber that runs off its stack ends the process instead of writing elsewhere",
          "[sim][fiber]") {
  const auto end = run_forked([] {
    StackPool stacks;
    const auto neighbour = stacks.take();
    Fiber fiber(stacks, [] { recurse(1'000'000); });
    fiber.resume();
    stacks.give_back(neighbour);
  });

  CHECK(end.signal == SIGSEGV);
}

TEST_CASE("a fiber that has ended is not resumed", "[sim][fiber]") {
  const auto end = run_forked([] {
    StackPool stacks;
    Fiber fiber(stacks, [] {});
    fiber.resume();
    fiber.resume();
  });

  CHECK(end.signal == SIGABRT);
  CHECK(end.errors.find("a fiber that has ended is not resumed") != std::string::npos);
}
