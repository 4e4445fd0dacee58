#pragma once

#include <cstdint>

#include "millrace/env/chance.hpp"

namespace millrace::posix {

/// Chance from the operating system, which is asked once. Belongs to one task.
class RandomChance final : public Chance {
 public:
  RandomChance();
  std::uint64_t below(Site site, std::uint64_t bound, std::uint32_t part = 0) override;
  std::uint64_t explore(Site, std::uint64_t, std::uint32_t = 0) override { return 0; }

 private:
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
};

}  // namespace millrace::posix
