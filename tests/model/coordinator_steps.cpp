// What a coordinator does: as coordinator.cpp, head_register.cpp and leadership.cpp of the product.

#include <algorithm>
#include <functional>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"
#include "millrace/runtime/coordinator/takeover.hpp"

#include "steps.hpp"

namespace millrace::model {
namespace {

Coordinator& at(World& world, int who) { return world.coordinators[static_cast<std::size_t>(who)]; }

Reign& reign_of(World& world, const Coordinator& coordinator) {
  return world.reigns[coordinator.reign - std::size_t{1}];
}

CheckpointId id_in(const Reign& reign, std::uint64_t n) {
  return n == 0 ? CheckpointId::genesis() : CheckpointId{{reign.term}, n};
}

}  // namespace

void Steps::coordinator_steps(int who) {
  const Phase phase = before_->coordinators[static_cast<std::size_t>(who)].phase;
  switch (phase) {
    case Phase::unborn:
      // Coordinators differ in nothing before they begin, so they may as well begin in order.
      if (who > 0 && before_->coordinators[static_cast<std::size_t>(who) - 1].phase == phase) {
        return;
      }
      read_head(who);
      return;  // Dead before it began is the same as never begun.
    case Phase::watching: read_head(who); break;
    case Phase::storing: break;
    case Phase::swapping: send_swap(who); break;
    case Phase::reading_refusal: read_refusal(who); break;
    case Phase::loading: load(who); break;
    case Phase::recovering:
      hear_of_recovery(who);
      begin_again(who);
      break;
    case Phase::leading:
      trigger(who);
      hear_published(who);
      begin_again(who);
      break;
    case Phase::collecting:
      hear_acknowledgements(who);
      hear_published(who);
      give_up_checkpoint(who);
      begin_again(who);
      break;
    case Phase::confirming: confirm(who); break;
    case Phase::ended_in_refusal:
    case Phase::dead: return;
  }
  sweep(who);
  crash(who);
}

/// Its tasks may go on for a while: nobody can make them stop.
void Steps::end_reign(World& world, int who) const {
  Coordinator& coordinator = at(world, who);
  if (coordinator.reign == 0) return;
  Reign& reign = reign_of(world, coordinator);
  coordinator.reign = 0;
  coordinator.accepted = {};
  reign.is_led = 0;
  reign.heard_published = 0;
  forget_acknowledgements(reign);
}

/// Whoever gives up owning keeps nothing but what is out of its hands.
void Steps::retire(World& world, int who, Phase phase) const {
  end_reign(world, who);
  Coordinator& coordinator = at(world, who);
  const ManifestNumber manifest = coordinator.manifest_on_its_way;
  coordinator = {};
  coordinator.phase = phase;
  // A manifest that was on its way when its writer stopped is of no use to anybody: no swap to it
  // was sent, and nobody else uses its name. So it may as well never arrive.
  if (!rules_.manifest_durable_before_swap) coordinator.manifest_on_its_way = manifest;
}

void Steps::read_head(int who) {
  const HeadNumber found = before_->head;
  std::optional<Head> head;
  if (found != 0) head = catalogue_.head(found).value;
  const TakeoverPlan plan = decide_takeover(head, false);
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  coordinator.known = found;
  coordinator.known_version = static_cast<std::uint8_t>(before_->version);
  if (const auto* anew = std::get_if<BeginAnew>(&plan)) {
    swap_manifest(after, who, anew->term, catalogue_.genesis(who));
  } else {
    if (std::get<Resume>(plan).term > Term{static_cast<std::uint64_t>(bounds_.terms)}) return;
    take_over(after, who);
  }
  happens(after, [&] {
    return fmt::format("{} reads the head: {}.", name_of_coordinator(who),
                       found == 0 ? "there is none" : swap_text(found));
  });
}

/// The next term over the head that it knows, with the same manifest.
void Steps::take_over(World& world, int who) {
  Coordinator& coordinator = at(world, who);
  const KnownHead& known = catalogue_.head(coordinator.known);
  const Term term = std::get<Resume>(decide_takeover(known.value, false)).term;
  coordinator.target =
      catalogue_.next_head(coordinator.known, who, coordinator.known_version, term, known.manifest);
  coordinator.phase = Phase::swapping;
  end_reign(world, who);
}

/// A manifest of its own, and when it is durable the head that names it.
void Steps::swap_manifest(World& world, int who, Term term, ManifestNumber manifest) {
  Coordinator& coordinator = at(world, who);
  coordinator.target =
      catalogue_.next_head(coordinator.known, who, coordinator.known_version, term, manifest);
  coordinator.manifest_on_its_way = manifest;
  coordinator.phase = rules_.manifest_durable_before_swap ? Phase::storing : Phase::swapping;
}

void Steps::send_swap(int who) {
  const HeadNumber target = before_->coordinators[static_cast<std::size_t>(who)].target;
  const auto tell = [&](std::string_view how) {
    return fmt::format("{} swaps the head to {}: {}.", name_of_coordinator(who), swap_text(target),
                       how);
  };

  World answered = *before_;
  if (land(answered, target)) {
    World unanswered = answered;
    follow(answered, who,
           decide_swap({SwapOutcome::stored, std::nullopt}, catalogue_.head(target).value));
    happens(answered, [&] { return tell("it is stored"); });
    remain_unknown(unanswered, who);
    happens(unanswered, [&] { return tell("it is stored, and the answer is lost"); });
  } else {
    at(answered, who).phase = Phase::reading_refusal;
    happens(answered, [&] { return tell("it is refused"); });
  }

  World late = *before_;
  if (send_late(late, target)) {
    remain_unknown(late, who);
    happens(late, [&] { return tell("it is late, and there is no answer"); });
  }
}

/// Returns false if that would be nothing new.
bool Steps::send_late(World& world, HeadNumber swap) const {
  auto& late = world.late_swaps;
  if (rules_.register_compares_versions && catalogue_.head(swap).expected < world.version) {
    return false;  // It would be refused whenever it arrives.
  }
  if (std::find(late.begin(), late.end(), swap) != late.end()) return false;
  // As long as the rules hold, whoever has a swap on its way that can still be stored does nothing
  // but repeat it, so there is room.
  if (late.back() != 0) {
    invariant(!(rules_ == Rules{}), "there is at most one late swap of each coordinator");
    return false;
  }
  late.back() = swap;
  std::sort(late.begin(), late.end(), std::greater<>());
  return true;
}

void Steps::remain_unknown(World& world, int who) {
  Coordinator& coordinator = at(world, who);
  if (!rules_.unknown_swap_is_repeated) {
    coordinator.phase = Phase::reading_refusal;
    return;
  }
  const Head& mine = catalogue_.head(coordinator.target).value;
  follow(world, who, decide_swap({SwapOutcome::unknown, std::nullopt}, mine));
}

void Steps::follow(World& world, int who, SwapStep step) {
  switch (step) {
    case SwapStep::won: win(world, who); break;
    case SwapStep::lost: retire(world, who, Phase::watching); break;
    case SwapStep::repeat: at(world, who).phase = Phase::swapping; break;
  }
}

void Steps::read_refusal(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  const KnownHead& mine = catalogue_.head(coordinator.target);
  SwapFacts facts{SwapOutcome::refused, std::nullopt};
  if (before_->head != 0) facts.found = catalogue_.head(before_->head).value;
  SwapStep step = decide_swap(facts, mine.value);
  std::string_view finding = "finds its own swap";
  if (step == SwapStep::won) see(Sight::own_swap_found);
  if (step == SwapStep::lost) {
    finding = "finds somebody else's head, and stops";
    if (mine.parent == 0) see(Sight::genesis_lost);
    if (catalogue_.descends(before_->head, coordinator.target)) see(Sight::won_yet_lost);
    if (!rules_.loser_stops) {
      finding = "finds somebody else's head, and goes on";
      step = SwapStep::won;
    }
  }
  const bool was_not_there = before_->head == coordinator.known;
  if (!rules_.unknown_swap_is_repeated && was_not_there && coordinator.reign != 0) {
    // It takes "not there" for "never": the checkpoint has failed, and what it wrote goes.
    finding = "does not find its swap, takes the checkpoint for failed, and removes its manifest";
    remove(after, only(catalogue_.manifest(mine.manifest).name));
    coordinator.target = 0;
    coordinator.phase = Phase::leading;
  } else {
    follow(after, who, step);
  }
  happens(after, [&] {
    return fmt::format("{} reads the head, and {}.", name_of_coordinator(who), finding);
  });
}

/// What a coordinator does once it believes that its swap was stored.
void Steps::win(World& world, int who) {
  Coordinator& coordinator = at(world, who);
  const KnownHead& before = catalogue_.head(coordinator.known);
  const KnownHead& mine = catalogue_.head(coordinator.target);
  coordinator.known = coordinator.target;
  ++coordinator.known_version;
  coordinator.has_won_known = 1;
  coordinator.target = 0;
  if (coordinator.reign == 0) {  // It was a takeover.
    coordinator.phase = Phase::loading;
    return;
  }
  Reign& reign = reign_of(world, coordinator);
  const auto n = static_cast<std::size_t>(mine.value.checkpoint.n);
  reign.decided[n - 1] = mine.manifest;
  // What is visible by all that it has heard.
  const CheckpointId visible =
      std::max(catalogue_.manifest(reign.restored).value.id, id_in(reign, reign.heard_published));
  remove(world, catalogue_.superseded(before.manifest, mine.manifest,
                                      std::min(visible, before.value.checkpoint)));
  coordinator.phase = Phase::leading;
}

void Steps::load(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  const bool readable =
      holds(after, catalogue_.manifest(catalogue_.head(coordinator.known).manifest));
  if (readable) {
    open_reign(after, who);
  } else {
    coordinator.phase = Phase::confirming;
  }
  happens(after, [&] {
    return fmt::format("{} {}.", name_of_coordinator(who),
                       readable ? "reads the manifest, and lets its committer bring the sink back"
                                : "cannot read the manifest");
  });
}

void Steps::open_reign(World& world, int who) const {
  Coordinator& coordinator = at(world, who);
  const KnownHead& head = catalogue_.head(coordinator.known);
  // A term has one owner, so its number is a place; without the rules it may have two.
  auto place = static_cast<std::size_t>(head.value.term.number - 1);
  if (world.reigns[place].term != 0) place = static_cast<std::size_t>(bounds_.terms);
  while (place < most_reigns && world.reigns[place].term != 0) ++place;
  invariant(place < most_reigns, "a world has room for every reign");
  Reign& reign = world.reigns[place];
  reign.term = static_cast<std::uint8_t>(head.value.term.number);
  reign.owner = static_cast<std::uint8_t>(who);
  reign.restored = head.manifest;
  reign.is_led = 1;
  coordinator.reign = static_cast<std::uint8_t>(place + 1);
  coordinator.phase = Phase::recovering;
}

void Steps::hear_of_recovery(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  Reign& reign = reign_of(after, coordinator);
  if (reign.committer == CommitterPhase::recovered) {
    coordinator.phase = Phase::leading;
    reign.owes_sweep = 1;
    happens(after, [&] {
      return fmt::format("{} hears that the sink is back, and starts its writers.",
                         name_of_coordinator(who));
    });
  } else if (reign.committer == CommitterPhase::refused) {
    coordinator.phase = Phase::confirming;
    happens(after, [&] {
      return fmt::format("{} hears that the sink cannot be brought back.",
                         name_of_coordinator(who));
    });
  }
}

/// Something fails, or is believed to: the repair is a takeover, over the head that it knows.
void Steps::begin_again(int who) {
  if (!bounds_.owners_begin_again) return;
  const Coordinator& leader = before_->coordinators[static_cast<std::size_t>(who)];
  if (catalogue_.head(leader.known).value.term.number >=
      static_cast<std::uint64_t>(bounds_.terms)) {
    return;
  }
  World after = *before_;
  take_over(after, who);
  happens(after, [&] {
    return fmt::format("{} sees something fail, and wants to take over anew.",
                       name_of_coordinator(who));
  });
}

void Steps::trigger(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  Reign& reign = reign_of(after, coordinator);
  int in_all = 0;
  for (const Reign& each : after.reigns) in_all += each.triggered;
  if (reign.triggered == bounds_.checkpoints_per_term || in_all == bounds_.checkpoints_in_all) {
    return;
  }
  ++reign.triggered;
  coordinator.phase = Phase::collecting;
  happens(after, [&] {
    return fmt::format("{} triggers checkpoint {}.{}.", name_of_coordinator(who), reign.term,
                       reign.triggered);
  });
}

void Steps::hear_acknowledgements(int who) {
  const Coordinator& leader = before_->coordinators[static_cast<std::size_t>(who)];
  const Reign& own = before_->reigns[leader.reign - std::size_t{1}];
  const CheckpointId pending = id_in(own, own.triggered);
  for (const Reign& reign : before_->reigns) {
    for (std::size_t writer = 0; writer < most_writers; ++writer) {
      for (const AckNumber ack : reign.writers[writer].acknowledged) {
        if (ack == 0) continue;
        const AckOutcome outcome = catalogue_.acknowledge(pending, leader.accepted, ack);
        if (outcome == AckOutcome::stale) see(Sight::old_acknowledgement_dropped);
        if (outcome != AckOutcome::accepted) continue;
        World after = *before_;
        Coordinator& coordinator = at(after, who);
        coordinator.accepted[writer] = ack;
        const bool complete = catalogue_.is_complete(pending, coordinator.accepted);
        if (complete) {
          const ManifestNumber manifest = catalogue_.manifest_after(
              catalogue_.head(coordinator.known).manifest, pending, coordinator.accepted);
          coordinator.accepted = {};
          swap_manifest(after, who, {own.term}, manifest);
          for (const Needed& staged : catalogue_.manifest(manifest).staged) {
            if (staged.id < pending && own.decided[staged.id.n - 1] == 0) {
              see(Sight::rows_rode_along);
            }
          }
        }
        happens(after, [&] {
          return fmt::format("{} counts, for {}, what writer {} says of {}{}.",
                             name_of_coordinator(who), to_text(pending), writer,
                             to_text(catalogue_.acknowledgement(ack).id),
                             complete ? ": all are in, and it writes the manifest" : "");
        });
      }
    }
  }
}

void Steps::give_up_checkpoint(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  coordinator.accepted = {};
  coordinator.phase = Phase::leading;
  happens(after, [&] {
    const Reign& reign = reign_of(after, coordinator);
    return fmt::format("{} gives checkpoint {}.{} up.", name_of_coordinator(who), reign.term,
                       reign.triggered);
  });
}

void Steps::hear_published(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  Reign& reign = reign_of(after, coordinator);
  if (reign.published == reign.heard_published) return;
  reign.heard_published = reign.published;
  const CheckpointId visible = id_in(reign, reign.published);
  NameSet gone = 0;
  for (const Needed& staged :
       catalogue_.manifest(catalogue_.head(coordinator.known).manifest).staged) {
    if (staged.id <= visible) gone |= only(staged.name);
  }
  remove(after, gone);
  happens(after, [&] {
    return fmt::format("{} hears that {} is published.", name_of_coordinator(who),
                       to_text(visible));
  });
}

void Steps::sweep(int who) {
  for (std::size_t place = 0; place < most_reigns; ++place) {
    const Reign& reign = before_->reigns[place];
    if (reign.owner != who || reign.owes_sweep == 0) continue;
    NameSet garbage = 0;
    for (std::size_t name = 0; name < most_names; ++name) {
      if (before_->store[name] == 0) continue;
      const auto number = static_cast<NameNumber>(name);
      if (catalogue_.is_swept(number, {reign.term}, reign.restored)) garbage |= only(number);
    }
    if (garbage == 0) continue;
    see(Sight::orphan_swept);
    World after = *before_;
    remove(after, garbage);
    after.reigns[place].owes_sweep = 0;
    happens(after, [&] {
      std::string names;
      for (std::size_t name = 0; name < most_names; ++name) {
        if ((garbage >> name & 1) == 0) continue;
        names += (names.empty() ? "" : ", ") + catalogue_.name(static_cast<NameNumber>(name));
      }
      return fmt::format("{}'s sweep for its term {} removes {}.", name_of_coordinator(who),
                         reign.term, names);
    });
  }
}

void Steps::confirm(int who) {
  World after = *before_;
  Coordinator& coordinator = at(after, who);
  const bool owns = before_->version == coordinator.known_version;
  see(owns ? Sight::owner_refused : Sight::zombie_found_nothing);
  if (owns) {
    coordinator.phase = Phase::ended_in_refusal;
  } else {
    retire(after, who, Phase::watching);
  }
  happens(after, [&] {
    return fmt::format(
        "{} asks the register, and {}.", name_of_coordinator(who),
        owns ? "tells the user that the job cannot go on" : "finds that it owns nothing any more");
  });
}

void Steps::crash(int who) {
  World after = *before_;
  retire(after, who, Phase::dead);
  happens(after, [&] { return fmt::format("{} dies.", name_of_coordinator(who)); }).is_crash = true;
}

}  // namespace millrace::model
