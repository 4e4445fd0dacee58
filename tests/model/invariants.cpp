#include "invariants.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "millrace/runtime/coordinator/takeover.hpp"

#include "database.hpp"

namespace millrace::model {
namespace {

/// What a reader should see of a checkpoint, from how far its manifest says that it has read.
bool shows_just(const Sink& sink, const KnownManifest& manifest) {
  for (std::size_t writer = 0; writer < most_writers; ++writer) {
    for (int record = 0; record < most_records; ++record) {
      const int expected = record < manifest.records[writer] ? 1 : 0;
      if (times_visible(sink, static_cast<int>(writer), record) != expected) return false;
    }
  }
  return true;
}

bool has_won(const Coordinator& coordinator) { return coordinator.has_won_known != 0; }

bool one_owner_a_version(const World& world) {
  const auto& all = world.coordinators;
  for (std::size_t one = 0; one < all.size(); ++one) {
    for (std::size_t other = one + 1; other < all.size(); ++other) {
      if (has_won(all[one]) && has_won(all[other]) &&
          all[one].known_version == all[other].known_version) {
        return false;
      }
    }
  }
  return true;
}

bool winners_are_ancestors(const World& world, const Catalogue& catalogue) {
  return std::all_of(
      world.coordinators.begin(), world.coordinators.end(), [&](const Coordinator& coordinator) {
        return !has_won(coordinator) || catalogue.descends(world.head, coordinator.known);
      });
}

bool no_owner_is_refused(const World& world) {
  return std::none_of(
      world.coordinators.begin(), world.coordinators.end(),
      [](const Coordinator& coordinator) { return coordinator.phase == Phase::ended_in_refusal; });
}

bool goes_forward(const Sink& before, const Sink& after) {
  if (after.published.wide() < before.published.wide()) return false;
  for (int writer = 0; writer < most_writers; ++writer) {
    for (int record = 0; record < most_records; ++record) {
      if (times_visible(after, writer, record) < times_visible(before, writer, record)) {
        return false;
      }
    }
  }
  return true;
}

bool are_there(const World& world, const std::vector<Needed>& objects) {
  return std::all_of(objects.begin(), objects.end(), [&](const Needed& object) {
    return world.store[object.name] == object.edition;
  });
}

bool head_is_readable(const World& world, const KnownManifest& manifest) {
  return world.store[manifest.name] == manifest.edition && are_there(world, manifest.states);
}

bool visible_is_decided(const World& world, const Catalogue& catalogue) {
  if (world.sink.lineage == 0) return true;
  const auto shown = catalogue.decided_on_the_way(world.head, world.sink.published.wide());
  return shown != 0 && shows_just(world.sink, catalogue.manifest(shown));
}

/// A takeover from here by somebody whom nobody disturbs.
bool takeover_would_publish(const World& world, const Rules& rules, Catalogue& catalogue) {
  const KnownHead& head = catalogue.head(world.head);
  const TakeoverPlan plan = decide_takeover(head.value, false);
  const auto* resume = std::get_if<Resume>(&plan);
  if (resume == nullptr) return false;
  const KnownManifest& manifest = catalogue.manifest(head.manifest);

  World next = world;
  const Fenced fenced = fence(next, rules, manifest, resume->term);
  if (fenced.outcome != FenceOutcome::fenced) return false;
  NameSet missing = 0;
  for (const Needed& staged : catalogue.above(head.manifest, fenced.marker->published)) {
    if (next.store[staged.name] == 0) missing |= only(staged.name);
  }
  const SinkAnswer& answer = catalogue.recovery(head.manifest, fenced, missing);
  if (answer.kind != SinkAnswer::Kind::publish) return false;
  const PublishResult result =
      publish(next, manifest.value.lineage, resume->term, manifest.value.id, answer.objects);
  return (result == PublishResult::inserted || result == PublishResult::repeated) &&
         shows_just(next.sink, manifest);
}

}  // namespace

std::string_view to_text(Claim claim) {
  switch (claim) {
    case Claim::decided_is_kept: return "a new head is made of the one that it replaces";
    case Claim::readers_go_forward: return "what a reader has seen stays";
    case Claim::one_owner_a_version: return "no two owners have both written the same version";
    case Claim::winners_are_ancestors: return "whoever was told `won` is an ancestor of the head";
    case Claim::head_is_readable: return "the head's manifest is durable, and all its state";
    case Claim::unpublished_is_kept:
      return "staged rows that the head lists and nobody sees are there";
    case Claim::visible_is_decided:
      return "a reader sees just the rows of one decided checkpoint, each once";
    case Claim::no_owner_is_refused: return "nobody who owns the job is refused it";
    case Claim::takeover_would_publish:
      return "a takeover that nobody disturbs shows all that was decided";
    case Claim::all_is_visible: return "in the end all that was decided is visible";
  }
  return "";
}

std::optional<Claim> broken_by_step(const World& before, const World& after,
                                    const Catalogue& catalogue, ClaimSet held) {
  if (held.has(Claim::decided_is_kept) && after.head != before.head &&
      catalogue.head(after.head).parent != before.head) {
    return Claim::decided_is_kept;
  }
  if (held.has(Claim::readers_go_forward) && !goes_forward(before.sink, after.sink)) {
    return Claim::readers_go_forward;
  }
  return std::nullopt;
}

std::optional<Claim> broken_in(const World& world, const Rules& rules, Catalogue& catalogue,
                               ClaimSet held) {
  const auto is_broken = [&](Claim claim, auto holds) { return held.has(claim) && !holds(); };
  if (is_broken(Claim::one_owner_a_version, [&] { return one_owner_a_version(world); })) {
    return Claim::one_owner_a_version;
  }
  if (is_broken(Claim::winners_are_ancestors,
                [&] { return winners_are_ancestors(world, catalogue); })) {
    return Claim::winners_are_ancestors;
  }
  if (is_broken(Claim::visible_is_decided, [&] { return visible_is_decided(world, catalogue); })) {
    return Claim::visible_is_decided;
  }
  if (is_broken(Claim::no_owner_is_refused, [&] { return no_owner_is_refused(world); })) {
    return Claim::no_owner_is_refused;
  }
  if (world.head == 0) return std::nullopt;  // There is no job yet.
  const ManifestNumber number = catalogue.head(world.head).manifest;
  if (is_broken(Claim::head_is_readable,
                [&] { return head_is_readable(world, catalogue.manifest(number)); })) {
    return Claim::head_is_readable;
  }
  if (is_broken(Claim::unpublished_is_kept, [&] {
        return are_there(world, catalogue.above(number, world.sink.published.wide()));
      })) {
    return Claim::unpublished_is_kept;
  }
  if (is_broken(Claim::takeover_would_publish,
                [&] { return takeover_would_publish(world, rules, catalogue); })) {
    return Claim::takeover_would_publish;
  }
  return std::nullopt;
}

bool has_live_owner(const World& world) {
  return std::any_of(world.coordinators.begin(), world.coordinators.end(),
                     [&](const Coordinator& coordinator) {
                       return has_won(coordinator) && coordinator.known == world.head &&
                              coordinator.phase != Phase::ended_in_refusal;
                     });
}

std::optional<Claim> broken_at_end(const World& world, const Catalogue& catalogue, ClaimSet held) {
  if (!held.has(Claim::all_is_visible)) return std::nullopt;
  if (!has_live_owner(world)) return std::nullopt;  // A takeover would; another claim says so.
  const KnownHead& head = catalogue.head(world.head);
  const bool all = world.sink.lineage != 0 &&
                   world.sink.published.wide() == head.value.checkpoint &&
                   shows_just(world.sink, catalogue.manifest(head.manifest));
  return all ? std::nullopt : std::optional(Claim::all_is_visible);
}

}  // namespace millrace::model
