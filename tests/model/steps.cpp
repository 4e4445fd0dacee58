#include "steps.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"

namespace millrace::model {

std::string_view to_text(Sight sight) {
  switch (sight) {
    case Sight::genesis_lost: return "a genesis came too late";
    case Sight::late_swap_landed: return "a late swap landed";
    case Sight::late_swap_of_dead_landed: return "a late swap of a dead coordinator landed";
    case Sight::late_swap_refused: return "a late swap was refused";
    case Sight::own_swap_found: return "a coordinator found its own swap in the register";
    case Sight::won_yet_lost: return "a coordinator lost whose swap had landed";
    case Sight::zombie_published: return "a zombie made decided rows visible";
    case Sight::zombie_published_nothing: return "a zombie published what was visible";
    case Sight::zombie_turned_away: return "a zombie was turned away by the fence";
    case Sight::recovery_published: return "a recovery made rows visible";
    case Sight::publish_repeated: return "a publish was repeated";
    case Sight::old_acknowledgement_dropped: return "an old acknowledgement was dropped";
    case Sight::rows_rode_along: return "rows of a checkpoint that was given up rode along";
    case Sight::orphan_staged: return "a zombie's writer staged rows";
    case Sight::orphan_swept: return "a sweep removed something";
    case Sight::owner_refused: return "an owner was refused its job";
    case Sight::zombie_found_nothing: return "a zombie found its job's state swept, and was silent";
  }
  return "";
}

char name_of_coordinator(int who) { return static_cast<char>('A' + who); }

World Steps::beginning() {
  World world;
  if (!bounds_.begins_owned) return world;
  Coordinator& owner = world.coordinators[0];
  swap_manifest(world, 0, Term{}.next(), catalogue_.genesis(0));
  const KnownManifest& genesis = catalogue_.manifest(catalogue_.head(owner.target).manifest);
  world.store[genesis.name] = genesis.edition;
  owner.manifest_on_its_way = 0;
  land(world, owner.target);
  win(world, 0);
  return world;
}

std::span<const Step> Steps::from(const World& world, bool tell) {
  before_ = &world;
  tell_ = tell;
  count_ = 0;
  for (int who = 0; who < bounds_.coordinators; ++who) {
    coordinator_steps(who);
    land_manifest(who);
  }
  for (std::size_t which = 0; which < most_late_swaps; ++which) land_late_swap(which);
  for (std::size_t reign = 0; reign < most_reigns; ++reign) {
    if (world.reigns[reign].term == 0) continue;
    fence_sink(reign);
    decide_recovery(reign);
    publish_restored(reign);
    publish_next(reign);
    for (int writer = 0; writer < bounds_.writers; ++writer) handle_barrier(reign, writer);
  }
  return {steps_.data(), count_};
}

/// The register's answer to a swap: whether it stored it.
bool Steps::land(World& world, HeadNumber swap) {
  if (rules_.register_compares_versions && world.version != catalogue_.head(swap).expected) {
    return false;
  }
  world.head = swap;
  ++world.version;
  forget_hopeless_swaps(world);
  return true;
}

/// A swap on its way that expects an older version will be refused whenever it arrives, and nobody
/// hears of it: it may as well arrive now. So said by the register's comparison, and only by it.
void Steps::forget_hopeless_swaps(World& world) {
  if (!rules_.register_compares_versions) return;
  for (HeadNumber& swap : world.late_swaps) {
    if (swap == 0 || catalogue_.head(swap).expected >= world.version) continue;
    see(Sight::late_swap_refused);
    swap = 0;
  }
  std::sort(world.late_swaps.begin(), world.late_swaps.end(), std::greater<>());
}

bool Steps::holds(const World& world, const KnownManifest& manifest) const {
  return world.store[manifest.name] == manifest.edition;
}

void Steps::remove(World& world, NameSet names) const {
  for (std::size_t name = 0; name < most_names; ++name) {
    if ((names >> name & 1) != 0) world.store[name] = 0;
  }
}

bool Steps::is_zombie(const Reign& reign) const {
  return catalogue_.head(before_->head).value.term > Term{reign.term};
}

void Steps::land_manifest(int sender) {
  const auto who = static_cast<std::size_t>(sender);
  const ManifestNumber number = before_->coordinators[who].manifest_on_its_way;
  if (number == 0) return;
  World after = *before_;
  const KnownManifest& manifest = catalogue_.manifest(number);
  Coordinator& coordinator = after.coordinators[who];
  after.store[manifest.name] = manifest.edition;
  coordinator.manifest_on_its_way = 0;
  // To hear of it later would be to do what follows later.
  const bool is_waited_for = coordinator.phase == Phase::storing;
  if (is_waited_for) coordinator.phase = Phase::swapping;
  happens(after, [&] {
    return fmt::format(
        "{}'s write of {} arrives: it is durable{}.", name_of_coordinator(sender),
        catalogue_.name(manifest.name),
        is_waited_for ? fmt::format(", and {} hears it", name_of_coordinator(sender)) : "");
  });
}

void Steps::land_late_swap(std::size_t which) {
  const HeadNumber swap = before_->late_swaps[which];
  if (swap == 0) return;
  const int sender = catalogue_.head(swap).sender;
  World after = *before_;
  after.late_swaps[which] = 0;
  const bool stored = land(after, swap);
  std::sort(after.late_swaps.begin(), after.late_swaps.end(), std::greater<>());
  const bool is_dead = before_->coordinators[static_cast<std::size_t>(sender)].phase == Phase::dead;
  if (!stored) see(Sight::late_swap_refused);
  if (stored) see(is_dead ? Sight::late_swap_of_dead_landed : Sight::late_swap_landed);
  happens(after, [&] {
    return fmt::format("A late swap of {} arrives, to {}: {}.", name_of_coordinator(sender),
                       swap_text(swap), stored ? "it is stored" : "it is refused");
  });
}

std::string Steps::swap_text(HeadNumber swap) const {
  const Head& head = catalogue_.head(swap).value;
  return fmt::format("term {} at checkpoint {}", head.term.number, to_text(head.checkpoint));
}

std::string Steps::task_text(const Reign& reign, std::string_view task) const {
  return fmt::format("{} of {}'s term {}", task, name_of_coordinator(reign.owner), reign.term);
}

}  // namespace millrace::model
