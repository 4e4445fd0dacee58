#pragma once

#include <atomic>
#include <cstdint>

#include "millrace/env/parker.hpp"

namespace millrace::posix {

/// The parker of a task that is a thread.
///
/// One word that the kernel can wait for (a futex). Whoever wakes a task that is at work only
/// writes the word; the kernel is called for one that sleeps.
class ThreadParker final : public Parker {
 public:
  bool park_until(Instant deadline) override;
  void unpark() override;
  void step(Site) override { throw_if_cancelled(); }

  /// Ends the present and every later `park_until` with Cancelled. From any thread, for good.
  void cancel();
  void throw_if_cancelled() const;

 private:
  enum State : std::uint32_t { working, parked, unparked };
  std::atomic<std::uint32_t> state_ = working;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace millrace::posix
