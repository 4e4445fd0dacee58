#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/env/anchor.hpp"
#include "millrace/env/instant.hpp"
#include "millrace/sim/disturbance.hpp"

namespace millrace::faults {

/// When a fault happens that follows from another: so long after that one took effect.
struct After {
  std::size_t ordinal = 1;  ///< Of a fault earlier in the plan, from 1.
  std::chrono::nanoseconds delay{0};
  friend bool operator==(const After&, const After&) = default;
};

/// When a fault happens: at an instant of the run, when somebody gets somewhere, or after another.
using Moment = std::variant<Instant, Anchor, After>;

/// A node that stands for the one of whoever reaches the fault's anchor.
inline constexpr std::string_view here = "here";

/// The process of a node dies, and is started again after `down`.
///
/// Breaks no promise of a device: what the process wrote stays readable, synced or not, and the
/// machine resets its connections. Survivable on every node.
struct Kill {
  std::string node;
  Moment at;
  std::chrono::nanoseconds down{0};
  std::uint64_t io = 0;  ///< Not at once, but instead of the how-manieth thing done to its disk.
  friend bool operator==(const Kill&, const Kill&) = default;
};

/// A node's machine loses power, and is started again after `down`.
///
/// Breaks no promise of a device: what was synced is there, of the rest anything may be (DISK.md).
/// Nobody is told; the others find out by silence. Survivable on every node.
struct PowerLoss {
  std::string node;
  Moment at;
  std::chrono::nanoseconds down{0};
  std::uint64_t io = 0;  ///< As of Kill.
  friend bool operator==(const PowerLoss&, const PowerLoss&) = default;
};

/// Nothing of a node runs for a while. It does not notice, and wakes up as what it was: a zombie,
/// if others have gone on without it. Survivable on every node.
struct Pause {
  std::string node;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  std::uint64_t io = 0;  ///< In front of the how-manieth thing done to its disk.
  friend bool operator==(const Pause&, const Pause&) = default;
};

/// A peer that stands for all other nodes.
inline constexpr std::string_view everybody = "*";

/// Nothing gets through between a node and a peer: one way, seen from the node, or both. Nobody is
/// told; what was sent comes afterwards, unless its sender has died. Survivable.
struct Cut {
  std::string node;
  std::string peer;
  sim::Way way = sim::Way::both;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The connections between a node and a peer are reset: both lose them. Survivable.
struct Reset {
  std::string node;
  std::string peer;
  Moment at;
  friend bool operator==(const Reset&, const Reset&) = default;
};

/// Everything between a node and a peer takes longer. Survivable.
struct Slow {
  std::string node;
  std::string peer;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  std::chrono::nanoseconds by{0};
  friend bool operator==(const Slow&, const Slow&) = default;
};

/// A device does the next thing that it is asked for, and its answer is lost: who asked learns
/// nothing. Survivable.
struct LoseAnswer {
  std::string node;
  std::string operation;  ///< sim/device_operations.hpp, or `*`: any.
  Moment at;
  friend bool operator==(const LoseAnswer&, const LoseAnswer&) = default;
};

/// The next thing that a device is asked for it does so much later, when who asked may have given
/// up, asked again, died, or lost the job. Survivable.
struct LateAnswer {
  std::string node;
  std::string operation;
  Moment at;
  std::chrono::nanoseconds by{0};
  friend bool operator==(const LateAnswer&, const LateAnswer&) = default;
};

/// Whatever is done to a node's disk fails. Survivable on devices.
struct DiskError {
  std::string node;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  friend bool operator==(const DiskError&, const DiskError&) = default;
};

/// No file of a node's disk can become longer. Survivable on devices.
struct DiskFull {
  std::string node;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  friend bool operator==(const DiskFull&, const DiskFull&) = default;
};

/// Frames on the control lanes between a node and a peer are lost, repeated and held, each with its
/// chance. Survivable: control frames are numbered, acknowledged and sent again.
struct Frames {
  std::string node;
  std::string peer;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  sim::FrameChances chances;
  friend bool operator==(const Frames&, const Frames&) = default;
};

using Fault = std::variant<Kill, PowerLoss, Pause, Cut, Reset, Slow, LoseAnswer, LateAnswer,
                           DiskError, DiskFull, Frames>;

/// The names of the kinds of faults, in the order of the variant.
inline constexpr std::string_view kinds[] = {
    "kill",        "power_loss",  "pause",      "cut",       "reset", "slow",
    "lose_answer", "late_answer", "disk_error", "disk_full", "frames"};
std::string_view kind_of(const Fault& fault);
const std::string& node_of(const Fault& fault);
/// Null: it is about one node only.
const std::string* peer_of(const Fault& fault);
const Moment& moment_of(const Fault& fault);
/// How many operations of the disk after its moment it waits for; 0: none.
std::uint64_t io_of(const Fault& fault);

/// Everything that will go wrong in one run, decided before it starts.
struct Plan {
  std::vector<Fault> faults;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The plan without the faults of which `goes` holds, by their index, and without those that were
/// to come after them. What comes after one that stays is told its new ordinal.
Plan without(const Plan& plan, const std::function<bool(std::size_t index)>& goes);

/// One line, every unit in it: `kill node=worker1 at='sink_staged n=3' down=200ms`.
std::string to_text(const Fault& fault);

/// Throws UsageError naming the word that does not belong and what was expected.
Fault parse_fault(std::string_view text);

/// `250ms`, `1500us`, `3s`, `17ns`: in the largest unit that divides it.
std::string to_text(std::chrono::nanoseconds span);
/// Throws UsageError.
std::chrono::nanoseconds parse_span(std::string_view text);

}  // namespace millrace::faults
