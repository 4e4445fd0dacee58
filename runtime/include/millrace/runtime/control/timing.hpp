#pragma once

#include <chrono>

namespace millrace {

/// How long things between coordinator and workers may take.
struct ControlTiming {
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(500);  ///< Beats come this often.
  std::chrono::nanoseconds dead_after = std::chrono::seconds(2);  ///< Silence this long is death.
  std::chrono::nanoseconds resend = std::chrono::milliseconds(200);
};

}  // namespace millrace
