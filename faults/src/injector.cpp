#include "millrace/faults/injector.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::faults {

Injector::Injector(sim::World& world, const Plan& plan) : world_(world) {
  watches_.reserve(plan.faults.size());
  for (const Fault& fault : plan.faults) {
    const auto node = world.find_node(node_of(fault));
    if (!node) {
      throw UsageError(
          fmt::format("fault `{}`: there is no node `{}`", to_text(fault), node_of(fault)));
    }
    Watch watch{fault, *node, std::nullopt};
    if (const auto* anchor = std::get_if<Anchor>(&moment_of(fault))) watch.anchor.emplace(*anchor);
    watches_.push_back(std::move(watch));
  }
  for (Watch& watch : watches_) {
    if (watch.anchor) continue;
    world.at(std::get<Instant>(moment_of(watch.fault)), [this, &watch] {
      if (armed_) fire(watch);
    });
  }
  world.on_landmark([this](const sim::LandmarkEvent& event) { observe(event); });
}

void Injector::observe(const sim::LandmarkEvent& event) {
  if (!armed_) return;
  for (Watch& watch : watches_) {
    // Every watch counts every landmark that fits, whatever the others do.
    if (watch.spent || !watch.anchor) continue;
    if (watch.anchor->observe(event.landmark, event.role, event.life, event.fields)) fire(watch);
  }
}

void Injector::fire(Watch& watch) {
  watch.spent = true;
  ++spent_count_;
  if (!inflict(watch)) return;
  watch.fired = true;
  ++firings_[watch.fault.index()];
  world_.trace().record(sim::EventKind::fault, watch.fault.index(), watch.node.index, 0,
                        world_.now().ns);
}

/// Returns whether the node was in a state in which that meant anything.
bool Injector::inflict(const Watch& watch) {
  const sim::NodeId node = watch.node;
  const sim::NodeState state = world_.state_of(node);
  const bool runs = state == sim::NodeState::up || state == sim::NodeState::paused;
  if (const auto* kill = std::get_if<Kill>(&watch.fault)) {
    if (!runs) return false;
    world_.kill(node);
    heal_after(kill->down, [this, node] { world_.start(node); });
  } else if (const auto* loss = std::get_if<PowerLoss>(&watch.fault)) {
    if (state == sim::NodeState::dark) return false;
    world_.lose_power(node);
    heal_after(loss->down, [this, node] { world_.start(node); });
  } else if (const auto* pause = std::get_if<Pause>(&watch.fault)) {
    if (state != sim::NodeState::up) return false;
    world_.pause(node);
    heal_after(pause->lasts, [this, node] { world_.wake(node); });
  }
  return true;
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
