#pragma once

#include "millrace/env/event_time.hpp"
#include "millrace/env/instant.hpp"

namespace millrace {

/// A node's clocks.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Time since some start. Never goes back while the node lives; means nothing after a restart.
  virtual Instant now() = 0;

  /// What the node believes the date to be. May be wrong, drift and jump, so nothing that must be
  /// right depends on it.
  virtual EventTime wall() = 0;
};

}  // namespace millrace
