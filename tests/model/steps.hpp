#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue.hpp"
#include "rules.hpp"
#include "world.hpp"

namespace millrace::model {

/// What is worth having happened, lest an exploration that finds nothing wrong have looked at
/// nothing interesting.
enum class Sight : std::uint8_t {
  genesis_lost,              ///< Somebody else's genesis was faster.
  late_swap_landed,          ///< Its sender was told nothing, and goes on asking.
  late_swap_of_dead_landed,  ///< Its sender is dead: a takeover nobody leads, or a checkpoint.
  late_swap_refused,
  own_swap_found,            ///< A refusal by one's own earlier attempt is a success.
  won_yet_lost,              ///< One's own attempt had landed, and somebody has built on it since.
  zombie_published,          ///< Somebody of an older term made rows visible.
  zombie_published_nothing,  ///< ... found them visible.
  zombie_turned_away,        ///< ... was stopped by the fence.
  recovery_published,        ///< A takeover made rows visible that were decided before it.
  publish_repeated,          ///< Its answer had been lost.
  old_acknowledgement_dropped,
  rows_rode_along,  ///< A checkpoint lists what one that was given up had staged.
  orphan_staged,    ///< A zombie's writer stages after its successor's takeover.
  orphan_swept,
  zombie_found_nothing,  ///< What it needed was swept; it asked the register, and is silent.
  owner_refused,         ///< ... and still owned the job. Not by the rules as they stand.
};
inline constexpr int sights = 17;
std::string_view to_text(Sight sight);

/// A step that can be taken, and where it leads.
struct Step {
  World after;
  bool is_crash = false;
  std::string story;  ///< A sentence, if asked for.
};

/// Everything that can happen next, by the rules. The control flow of coordinator, committer and
/// writer is written here once more; what they decide is decided by the product's functions.
///
/// Each step reads or writes at one place: the register, one object, the database, a message. What
/// a coordinator does on its own between two of those goes with the step before.
class Steps {
 public:
  Steps(const Rules& rules, const Bounds& bounds, Catalogue& catalogue)
      : rules_(rules), bounds_(bounds), catalogue_(catalogue) {}

  World beginning();

  /// Valid until the next call. With `tell`, each step has its story.
  std::span<const Step> from(const World& world, bool tell);

  /// How often what was seen while stepping, by Sight.
  const std::array<std::uint64_t, sights>& seen() const { return seen_; }

 private:
  // Of coordinators.
  void coordinator_steps(int who);
  void read_head(int who);
  void send_swap(int who);
  void read_refusal(int who);
  void load(int who);
  void hear_of_recovery(int who);
  void begin_again(int who);
  void trigger(int who);
  void hear_acknowledgements(int who);
  void give_up_checkpoint(int who);
  void hear_published(int who);
  void sweep(int who);
  void confirm(int who);
  void crash(int who);

  // Of what is on its way.
  void land_manifest(int sender);
  void land_late_swap(std::size_t which);

  // Of a reign's tasks.
  void fence_sink(std::size_t reign);
  void decide_recovery(std::size_t reign);
  void publish_restored(std::size_t reign);
  void publish_next(std::size_t reign);
  void handle_barrier(std::size_t reign, int writer);

  // Parts of steps, on a world that is being made.
  bool land(World& world, HeadNumber swap);
  void forget_hopeless_swaps(World& world);
  bool send_late(World& world, HeadNumber swap) const;
  void remain_unknown(World& world, int who);
  void follow(World& world, int who, SwapStep step);
  void win(World& world, int who);
  void open_reign(World& world, int who) const;
  void end_reign(World& world, int who) const;
  void forget_acknowledgements(Reign& reign) const;
  void retire(World& world, int who, Phase phase) const;
  void take_over(World& world, int who);
  void swap_manifest(World& world, int who, Term term, ManifestNumber manifest);
  void remove(World& world, NameSet names) const;
  bool holds(const World& world, const KnownManifest& manifest) const;

  /// Adds a step. `story` makes its sentence.
  template <class Story>
  Step& happens(const World& after, Story story) {
    if (count_ == steps_.size()) steps_.emplace_back();
    Step& step = steps_[count_++];
    step.after = after;
    step.is_crash = false;
    if (tell_) step.story = story();
    return step;
  }
  void see(Sight sight) { ++seen_[static_cast<std::size_t>(sight)]; }
  const SinkAnswer& recovery_of(const Reign& reign, NameSet missing);
  bool is_zombie(const Reign& reign) const;

  std::string swap_text(HeadNumber swap) const;
  std::string task_text(const Reign& reign, std::string_view task) const;

  const Rules& rules_;
  const Bounds& bounds_;
  Catalogue& catalogue_;
  const World* before_ = nullptr;
  bool tell_ = false;
  std::size_t count_ = 0;
  std::vector<Step> steps_;  ///< Of which `count_` are meant: their memory is used again.
  std::array<std::uint64_t, sights> seen_{};
};

/// `A`, `B`, `C`.
char name_of_coordinator(int who);

}  // namespace millrace::model
