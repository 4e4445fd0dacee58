#include "millrace/posix/random_chance.hpp"

#include <random>

#include "millrace/env/int128.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace::posix {
namespace {

std::uint64_t random_word() {
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
}

}  // namespace

RandomChance::RandomChance() : seed_(random_word()) {}

std::uint64_t RandomChance::below(Site, std::uint64_t bound, std::uint32_t) {
  invariant(bound != 0, "a choice is among at least one");
  // An odd step visits every word once before it repeats one; mix64 hides the order.
  const std::uint64_t word = mix64(seed_ + ++draws_ * 0x9E3779B97F4A7C15U);
  return static_cast<std::uint64_t>(static_cast<Uint128>(word) * bound >> 64);
}

}  // namespace millrace::posix
