#include "millrace/faults/injector.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::faults {

Injector::Injector(sim::World& world, const Plan& plan) : world_(world) {
  watches_.reserve(plan.faults.size());
  for (const Fault& fault : plan.faults) {
    Watch watch{fault, struck_by(fault), std::nullopt, std::nullopt};
    const std::string* const peer = peer_of(fault);
    if (peer != nullptr && *peer != everybody) watch.peer = node_named(fault, *peer);
    if (const auto* anchor = std::get_if<Anchor>(&moment_of(fault))) watch.anchor.emplace(*anchor);
    const auto* const after = std::get_if<After>(&moment_of(fault));
    if (after != nullptr && after->ordinal > watches_.size()) {
      throw UsageError(fmt::format(
          "fault `{}`: `after=` is the number of an earlier fault of the plan, counted from 1; "
          "there are {} in front of it",
          to_text(fault), watches_.size()));
    }
    watches_.push_back(std::move(watch));
  }
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const auto* const instant = std::get_if<Instant>(&moment_of(watches_[i].fault));
    if (instant == nullptr) continue;
    world.at(*instant, [this, i] { meet(i); });
  }
  world.on_landmark([this](const sim::LandmarkEvent& event) { observe(event); });
}

sim::NodeId Injector::struck_by(const Fault& fault) const {
  if (node_of(fault) != here) return node_named(fault, node_of(fault));
  if (std::holds_alternative<Anchor>(moment_of(fault))) return {};
  throw UsageError(
      fmt::format("fault `{}`: `node=here` is the node of whoever reaches an anchor; `at=` with "
                  "one is expected",
                  to_text(fault)));
}

sim::NodeId Injector::node_named(const Fault& fault, const std::string& name) const {
  if (const auto node = world_.find_node(name)) return *node;
  throw UsageError(fmt::format("fault `{}`: there is no node `{}`", to_text(fault), name));
}

void Injector::disarm() {
  armed_ = false;
  for (const auto& [index, disturbance] : lurking_) world_.end(disturbance);
  lurking_.clear();
}

void Injector::observe(const sim::LandmarkEvent& event) {
  if (!armed_) return;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    // Every watch counts every landmark that fits, whatever the others do.
    Watch& watch = watches_[i];
    if (watch.spent || !watch.anchor) continue;
    if (!watch.anchor->observe(event.landmark, event.role, event.life, event.fields)) continue;
    if (node_of(watch.fault) == here) watch.node = event.node;
    meet(i);
  }
}

/// The moment of a fault has come.
void Injector::meet(std::size_t index) {
  if (!armed_) return;
  Watch& watch = watches_[index];
  watch.spent = true;
  ++spent_count_;
  const std::uint64_t io = io_of(watch.fault);
  if (io == 0) return begin(index);
  lurking_[index] = world_.at_disk_operation(watch.node, io, [this, index] {
    lurking_.erase(index);
    begin(index);
  });
}

void Injector::begin(std::size_t index) {
  std::visit([this, index](const auto& fault) { inflict(index, fault); }, watches_[index].fault);
}

/// A fault has done something. Those that come after it can be told when.
void Injector::note_fired(std::size_t index) {
  Watch& watch = watches_[index];
  watch.fired = true;
  ++firings_[watch.fault.index()];
  world_.trace().record(sim::EventKind::fault, watch.fault.index(), watch.node.index, 0,
                        world_.now().ns);
  for (std::size_t i = index + 1; i < watches_.size(); ++i) {
    const auto* const after = std::get_if<After>(&moment_of(watches_[i].fault));
    if (after == nullptr || after->ordinal != index + 1) continue;
    world_.at(world_.now() + after->delay, [this, i] { meet(i); });
  }
}

// Lives. Each does nothing if the node is in no state in which it means anything.

void Injector::inflict(std::size_t index, const Kill& kill) {
  const sim::NodeId node = watches_[index].node;
  const sim::NodeState state = world_.state_of(node);
  if (state != sim::NodeState::up && state != sim::NodeState::paused) return;
  world_.kill(node);
  heal_after(kill.down, [this, node] { world_.start(node); });
  note_fired(index);
}

void Injector::inflict(std::size_t index, const PowerLoss& loss) {
  const sim::NodeId node = watches_[index].node;
  if (world_.state_of(node) == sim::NodeState::dark) return;
  world_.lose_power(node);
  heal_after(loss.down, [this, node] { world_.start(node); });
  note_fired(index);
}

void Injector::inflict(std::size_t index, const Pause& pause) {
  const sim::NodeId node = watches_[index].node;
  if (world_.state_of(node) != sim::NodeState::up) return;
  world_.pause(node);
  heal_after(pause.lasts, [this, node] { world_.wake(node); });
  note_fired(index);
}

// Disturbances. They are there from now on, and count from when they do something.

void Injector::inflict(std::size_t index, const Cut& cut) {
  end_after(cut.lasts, world_.cut(between(index), cut.way, noting(index)));
}

void Injector::inflict(std::size_t index, const Reset&) {
  if (world_.reset_connections(between(index)) != 0) note_fired(index);
}

void Injector::inflict(std::size_t index, const Slow& slow) {
  end_after(slow.lasts, world_.slow(between(index), slow.by, noting(index)));
}

void Injector::inflict(std::size_t index, const LoseAnswer& lost) {
  lurking_[index] = world_.lose_answer(watches_[index].node, lost.operation, [this, index] {
    lurking_.erase(index);
    note_fired(index);
  });
}

void Injector::inflict(std::size_t index, const LateAnswer& late) {
  const auto by = late.by;
  lurking_[index] =
      world_.delay_answer(watches_[index].node, late.operation, by, [this, index, by] {
        lurking_.erase(index);
        // Nothing is to be undone, but until it has happened the world is not calm.
        heal_after(by, [] {});
        note_fired(index);
      });
}

void Injector::inflict(std::size_t index, const DiskError& error) {
  end_after(error.lasts,
            world_.trouble_disk(watches_[index].node, sim::DiskTrouble::error, noting(index)));
}

void Injector::inflict(std::size_t index, const DiskFull& full) {
  end_after(full.lasts,
            world_.trouble_disk(watches_[index].node, sim::DiskTrouble::full, noting(index)));
}

void Injector::inflict(std::size_t index, const Frames& frames) {
  end_after(frames.lasts, world_.disturb_frames(between(index), frames.chances, noting(index)));
}

sim::Between Injector::between(std::size_t index) const {
  return {watches_[index].node, watches_[index].peer};
}

sim::TookEffect Injector::noting(std::size_t index) {
  return [this, index] { note_fired(index); };
}

void Injector::end_after(std::chrono::nanoseconds span, sim::Disturbance disturbance) {
  heal_after(span, [this, disturbance] { world_.end(disturbance); });
}

void Injector::heal_after(std::chrono::nanoseconds span, std::function<void()> heal) {
  ++healing_;
  world_.at(world_.now() + span, [this, heal = std::move(heal)] {
    --healing_;
    heal();
  });
}

std::vector<std::string> Injector::unfired() const {
  std::vector<std::string> faults;
  for (const Watch& watch : watches_) {
    if (!watch.fired) faults.push_back(to_text(watch.fault));
  }
  return faults;
}

}  // namespace millrace::faults
