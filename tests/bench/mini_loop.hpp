#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/context/fiber.hpp>

namespace millrace::bench {

/// The least that a simulator is: fibers, and a heap of instants at which one of them goes on. The
/// floor of what `sim` does, which has lives, lanes, draws, cancellation and a trace besides.
class MiniLoop {
 public:
  using Fiber = boost::context::fiber;

  MiniLoop() = default;
  ~MiniLoop();
  MiniLoop(const MiniLoop&) = delete;
  MiniLoop& operator=(const MiniLoop&) = delete;

  /// Adds a fiber, which runs at once until it waits. Returns its number.
  std::size_t add(std::function<void()> body);
  /// Unwinds a fiber, wherever it is.
  void end(std::size_t fiber) { fibers_[fiber]->inside = {}; }

  /// Lets the running fiber wait until an event is for it. Returns the event's payload.
  std::uint64_t wait();
  void schedule(std::uint64_t at, std::size_t fiber, std::uint64_t payload) {
    push({at, ++order_, fiber, payload});
  }
  std::uint64_t now() const { return now_; }
  void stop() { stopped_ = true; }
  void clear() { events_.clear(); }

  /// Until nothing happens any more, or somebody calls `stop`.
  void run();

  std::uint64_t draw(std::uint64_t bound) {
    chance_ = chance_ * 6364136223846793005U + 1442695040888963407U;
    return (chance_ >> 33) % bound;
  }

 private:
  struct Event {
    std::uint64_t at;
    std::uint64_t order;
    std::size_t fiber;
    std::uint64_t payload;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Slot {
    Fiber inside;
    Fiber outside;
    std::uint64_t payload = 0;
  };
  void push(const Event& event);

  std::vector<std::unique_ptr<Slot>> fibers_;
  std::vector<Event> events_;
  Slot* running_ = nullptr;
  std::uint64_t now_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t chance_ = 1;
  bool stopped_ = false;
};

}  // namespace millrace::bench
