#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/env/anchor.hpp"
#include "millrace/env/instant.hpp"

namespace millrace::faults {

/// When a fault happens: at an instant of the run, or when somebody gets somewhere.
using Moment = std::variant<Instant, Anchor>;

/// The process of a node dies, and is started again after `down`.
///
/// Breaks no promise of a device: what the process wrote stays readable, synced or not, and the
/// machine resets its connections. Survivable on every node.
struct Kill {
  std::string node;
  Moment at;
  std::chrono::nanoseconds down{0};
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
  friend bool operator==(const PowerLoss&, const PowerLoss&) = default;
};

/// Nothing of a node runs for a while. It does not notice, and wakes up as what it was: a zombie,
/// if others have gone on without it. Survivable on every node.
struct Pause {
  std::string node;
  Moment at;
  std::chrono::nanoseconds lasts{0};
  friend bool operator==(const Pause&, const Pause&) = default;
};

using Fault = std::variant<Kill, PowerLoss, Pause>;

/// The names of the kinds of faults, in the order of the variant.
inline constexpr std::string_view kinds[] = {"kill", "power_loss", "pause"};
std::string_view kind_of(const Fault& fault);
const std::string& node_of(const Fault& fault);
const Moment& moment_of(const Fault& fault);

/// Everything that will go wrong in one run, decided before it starts.
struct Plan {
  std::vector<Fault> faults;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// One line, every unit in it: `kill node=worker1 at='sink_staged n=3' down=200ms`.
std::string to_text(const Fault& fault);

/// Throws UsageError naming the word that does not belong and what was expected.
Fault parse_fault(std::string_view text);

/// `250ms`, `1500us`, `3s`, `17ns`: in the largest unit that divides it.
std::string to_text(std::chrono::nanoseconds span);
/// Throws UsageError.
std::chrono::nanoseconds parse_span(std::string_view text);

}  // namespace millrace::faults
