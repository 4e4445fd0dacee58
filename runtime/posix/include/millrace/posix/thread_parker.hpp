#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "millrace/env/parker.hpp"

namespace millrace::posix {

/// The parker of a task that is a thread.
class ThreadParker final : public Parker {
 public:
  bool park_until(Instant deadline) override;
  void unpark() override;
  void step(Site) override { throw_if_cancelled(); }

  /// Ends the present and every later `park_until` with Cancelled. From any thread, for good.
  void cancel();
  void throw_if_cancelled() const;

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  bool unparked_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace millrace::posix
