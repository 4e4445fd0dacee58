#pragma once

#include "millrace/env/clock.hpp"

namespace millrace::posix {

/// The machine's clocks. Any number of tasks may use one.
class RealClock final : public Clock {
 public:
  Instant now() override;
  EventTime wall() override;
};

}  // namespace millrace::posix
