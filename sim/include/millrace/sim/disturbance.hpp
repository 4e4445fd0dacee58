#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "millrace/env/chance.hpp"
#include "millrace/sim/node_id.hpp"

namespace millrace::sim {

// What goes wrong with the devices of a world without any node dying of it. A disturbance is there
// from the moment it is asked for until it is ended, through all lives of its nodes. Those that
// overlap do so independently: a connection is whole again when the last cut of it ends.

/// A disturbance that was asked for; `World::end` undoes it.
struct Disturbance {
  std::uint64_t number = 0;
  friend auto operator<=>(Disturbance, Disturbance) = default;
};

/// Called when a disturbance does something for the first time: before that nobody can tell that it
/// is there. On the main stack or on that of a task; must not end lives or disturbances itself.
using TookEffect = std::function<void()>;

/// Which connections: those between a node and a peer, or all others. Never those within a node.
struct Between {
  NodeId node;
  std::optional<NodeId> peer;  ///< Nothing: everybody else.
};

/// Which way, seen from the node of a Between.
enum class Way : std::uint8_t { both, out, in };

/// What becomes of the frames on control lanes (env/network.hpp). Each is a chance of every frame.
struct FrameChances {
  Ratio lose;
  Ratio repeat;  ///< It comes a second time, perhaps much later.
  Ratio hold;    ///< It comes late, and what was sent after it overtakes it.
  friend bool operator==(const FrameChances& one, const FrameChances& other) {
    const auto same = [](Ratio a, Ratio b) { return a.part == b.part && a.whole == b.whole; };
    return same(one.lose, other.lose) && same(one.repeat, other.repeat) &&
           same(one.hold, other.hold);
  }
};

/// How a disk fails.
enum class DiskTrouble : std::uint8_t {
  error,  ///< Whatever is done to it fails. Of a write any first part may be there.
  full,   ///< What would make a file longer is refused.
};

}  // namespace millrace::sim
