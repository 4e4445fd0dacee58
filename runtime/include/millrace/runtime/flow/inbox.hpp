#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/runtime/flow/lane.hpp"

namespace millrace {

/// All lanes into a task. Keeps the order within a lane; between lanes there is none, and chance
/// decides.
class Inbox {
 public:
  Inbox(Env& env, int lanes);

  /// Connects the producer's end of a lane. Until then the lane has nothing.
  void attach(int lane, std::unique_ptr<LaneIn> in);

  /// Keeps `lane` closed: what is in it stays, and its producer waits once it is full.
  void hold(int lane) { lanes_[static_cast<std::size_t>(lane)].held = true; }
  void release_all();

  struct Taken {
    int lane = 0;
    Message message;
  };
  /// The next message of a lane that is not held; nothing if there is none now.
  std::optional<Taken> try_take();

 private:
  struct Slot {
    std::unique_ptr<LaneIn> in;
    std::optional<Message> next;  ///< Taken out of the lane already, with the rank it drew.
    std::uint64_t rank = 0;
    bool held = false;
  };

  Env& env_;
  std::vector<Slot> lanes_;
  std::size_t turn_ = 0;  ///< Who is first among equal ranks.
};

}  // namespace millrace
