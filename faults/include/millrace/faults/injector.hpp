#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
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
  /// Throws UsageError: the plan names a node that the world does not have, or one by `here`
  /// without an anchor, or a fault comes after one that does not stand in front of it.
  Injector(sim::World& world, const Plan& plan);

  /// The storm is over: what has not happened yet will not.
  void disarm();

  /// Whether everything of the plan has happened and is healed.
  bool is_over() const {
    return spent_count_ == watches_.size() && lurking_.empty() && healing_ == 0;
  }
  /// Whether everything that has happened is healed.
  bool is_calm() const { return healing_ == 0; }

  const Firings& firings() const { return firings_; }
  /// What never happened, as it stands in the plan: its moment never came, or found the node in no
  /// state for it. A plan whose fault never fired says so.
  std::vector<std::string> unfired() const;

 private:
  struct Watch {
    Fault fault;
    sim::NodeId node;                 ///< Of `here`: not known before its moment.
    std::optional<sim::NodeId> peer;  ///< Nothing: everybody, or the fault has none.
    std::optional<AnchorWatch> anchor;
    bool spent = false;  ///< Its moment has come.
    bool fired = false;  ///< And it did something.
  };
  using Lurking = std::map<std::size_t, sim::Disturbance>;

  sim::NodeId struck_by(const Fault& fault) const;
  sim::NodeId node_named(const Fault& fault, const std::string& name) const;
  void observe(const sim::LandmarkEvent& event);
  void meet(std::size_t index);
  void begin(std::size_t index);
  void note_fired(std::size_t index);

  // What each kind does when it begins.
  void inflict(std::size_t index, const Kill& kill);
  void inflict(std::size_t index, const PowerLoss& loss);
  void inflict(std::size_t index, const Pause& pause);
  void inflict(std::size_t index, const Cut& cut);
  void inflict(std::size_t index, const Reset& reset);
  void inflict(std::size_t index, const Slow& slow);
  void inflict(std::size_t index, const LoseAnswer& lost);
  void inflict(std::size_t index, const LateAnswer& late);
  void inflict(std::size_t index, const DiskError& error);
  void inflict(std::size_t index, const DiskFull& full);
  void inflict(std::size_t index, const Frames& frames);

  sim::Between between(std::size_t index) const;
  sim::TookEffect noting(std::size_t index);
  void end_after(std::chrono::nanoseconds span, sim::Disturbance disturbance);
  void heal_after(std::chrono::nanoseconds span, std::function<void()> heal);

  sim::World& world_;
  std::vector<Watch> watches_;
  std::size_t spent_count_ = 0;
  Lurking lurking_;  ///< Faults whose moment has come and which wait for somebody to do a thing.
  int healing_ = 0;  ///< Faults that have happened and are not over.
  Firings firings_{};
  bool armed_ = true;
};

}  // namespace millrace::faults
