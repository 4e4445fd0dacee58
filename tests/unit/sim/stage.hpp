#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "millrace/sim/stack_pool.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::sim {

inline constexpr Instant at_ms(std::int64_t ms) { return {ms * 1'000'000}; }
inline constexpr Instant at_us(std::int64_t us) { return {us * 1'000}; }

/// Longer than any test takes in virtual time.
inline constexpr Instant one_hour = at_ms(3'600'000);

/// Devices that always take the same time: steps 1 us, messages 100 us, writes 10 us, syncs 500 us.
Timings even_timings();

/// A world for one test.
///
/// What the bodies of its nodes refer to is declared before it, because they are unwound when it
/// goes away. Assertions stand outside of the bodies, which only gather what is to be judged.
class Stage {
 public:
  explicit Stage(Seed seed = {7}, const Timings& timings = Timings{});

  /// A node of kind `worker` that is up from the first moment.
  NodeId add(const std::string& name, World::Boot body);

  /// Does something at an instant of virtual time, on the main stack.
  void at(Instant instant, std::function<void()> action) { world.at(instant, std::move(action)); }
  /// Throws std::runtime_error with the claim of a violation: tests of those run the world itself.
  World::Ended run(Instant limit = one_hour);

 private:
  StackPool stacks_;

 public:
  World world;
};

/// Waits for ever, but for the death of the node.
void wait_for_ever(Env& env);

/// Sleeps until an instant of virtual time.
inline void sleep_until(Env& env, Instant instant) { env.sleep(instant - env.now()); }

/// The claim of the violation that ended the world, or "".
std::string claim_of(const World& world);

/// Whether `text` holds `part`.
inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace millrace::sim
