#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/anchor.hpp"
#include "millrace/faults/fault.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::faults {

/// How often each kind of fault happened.
using Firings = std::array<std::uint64_t, std::variant_size_v<Fault>>;

/// Makes a plan come true in a world: watches for its moments, does what it says, and sees to it
/// that everything is healed again. Counts what it did.
///
/// Outlives the run of the world, and is made before it.
class Injector {
 public:
  /// Throws UsageError: the plan names a node that the world does not have.
  Injector(sim::World& world, const Plan& plan);

  /// The storm is over: what has not happened yet will not.
  void disarm() { armed_ = false; }

  /// Whether everything of the plan has happened and is healed.
  bool is_over() const { return spent_count_ == watches_.size() && healing_ == 0; }
  /// Whether everything that has happened is healed.
  bool is_calm() const { return healing_ == 0; }

  const Firings& firings() const { return firings_; }
  /// What never happened, as it stands in the plan: its moment never came, or found the node in no
  /// state for it. A plan whose fault never fired says so.
  std::vector<std::string> unfired() const;

 private:
  struct Watch {
    Fault fault;
    sim::NodeId node;
    std::optional<AnchorWatch> anchor;
    bool spent = false;  ///< Its moment has come.
    bool fired = false;  ///< And it did something.
  };
  void observe(const sim::LandmarkEvent& event);
  void fire(Watch& watch);
  bool inflict(const Watch& watch);
  void heal_after(std::chrono::nanoseconds span, std::function<void()> heal);

  sim::World& world_;
  std::vector<Watch> watches_;
  std::size_t spent_count_ = 0;
  int healing_ = 0;  ///< Faults that have happened and are not over.
  Firings firings_{};
  bool armed_ = true;
};

}  // namespace millrace::faults
