// What the tasks of a reign do: as committer.cpp, staging.cpp and uploader.cpp of the product.

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "database.hpp"
#include "steps.hpp"

namespace millrace::model {
namespace {

std::string_view result_text(PublishResult result) {
  switch (result) {
    case PublishResult::inserted: return "its rows are visible";
    case PublishResult::repeated: return "that was visible already";
    case PublishResult::turned_away: return "it is turned away by the fence";
    case PublishResult::unreadable: return "its staged rows are gone";
  }
  return "";
}

bool succeeded(PublishResult result) {
  return result == PublishResult::inserted || result == PublishResult::repeated;
}

}  // namespace

void Steps::fence_sink(std::size_t place) {
  const Reign& reign = before_->reigns[place];
  if (reign.committer != CommitterPhase::ordered) return;
  World after = *before_;
  const Fenced fenced = fence(after, rules_, catalogue_.manifest(reign.restored), {reign.term});
  Reign& own = after.reigns[place];
  std::string_view outcome = "is told that a later term has it";
  if (fenced.outcome == FenceOutcome::fenced) {
    outcome = "has its marker";
    own.committer = CommitterPhase::fenced;
    own.marker_when_fenced = SmallId::of(fenced.marker->published);
  } else if (catalogue_.recovery(reign.restored, fenced, 0).kind == SinkAnswer::Kind::superseded) {
    see(Sight::zombie_turned_away);
    own.committer = CommitterPhase::failed;
  } else {
    outcome = "refuses it";
    own.committer = CommitterPhase::refused;
  }
  happens(after, [&] {
    return fmt::format("{} fences the sink, and {}.", task_text(reign, "The committer"), outcome);
  });
}

/// Looks which of the listed objects the store holds.
void Steps::decide_recovery(std::size_t place) {
  const Reign& reign = before_->reigns[place];
  if (reign.committer != CommitterPhase::fenced) return;
  const auto& listed = catalogue_.above(reign.restored, reign.marker_when_fenced.wide());
  NameSet missing = 0;
  for (const Needed& staged : listed) {
    if (before_->store[staged.name] == 0) missing |= only(staged.name);
  }
  const SinkAnswer& answer = recovery_of(reign, missing);
  World after = *before_;
  const bool refuses = answer.kind == SinkAnswer::Kind::refuse;
  after.reigns[place].committer = refuses ? CommitterPhase::refused : CommitterPhase::decided;
  happens(after, [&] {
    return fmt::format("{} looks for {} staged objects above its marker: {}.",
                       task_text(reign, "The committer"), listed.size(),
                       refuses ? answer.refusal : "all are there");
  });
}

const SinkAnswer& Steps::recovery_of(const Reign& reign, NameSet missing) {
  const Lineage lineage = catalogue_.manifest(reign.restored).value.lineage;
  const Marker marker{lineage, {reign.term}, reign.marker_when_fenced.wide()};
  return catalogue_.recovery(reign.restored, {FenceOutcome::fenced, marker}, missing);
}

void Steps::publish_restored(std::size_t place) {
  const Reign& reign = before_->reigns[place];
  if (reign.committer != CommitterPhase::decided) return;
  const Manifest& manifest = catalogue_.manifest(reign.restored).value;
  const auto& objects = recovery_of(reign, 0).objects;  // As it was decided: none was missing.
  World after = *before_;
  const PublishResult result = publish(after, manifest.lineage, {reign.term}, manifest.id, objects);
  const auto tell = [&](std::string_view end) {
    return fmt::format("{} publishes the restored {}: {}{}.", task_text(reign, "The committer"),
                       to_text(manifest.id), result_text(result), end);
  };
  if (result == PublishResult::inserted) {
    see(is_zombie(reign) ? Sight::zombie_published : Sight::recovery_published);
    happens(after, [&] { return tell(", and the answer is lost"); });
  }
  if (result == PublishResult::repeated && !objects.empty()) {
    see(is_zombie(reign) ? Sight::zombie_published_nothing : Sight::publish_repeated);
  }
  if (result == PublishResult::turned_away) see(Sight::zombie_turned_away);
  after.reigns[place].committer =
      succeeded(result) ? CommitterPhase::recovered : CommitterPhase::failed;
  happens(after, [&] { return tell(""); });
}

void Steps::publish_next(std::size_t place) {
  const Reign& reign = before_->reigns[place];
  if (reign.committer != CommitterPhase::recovered) return;
  std::size_t n = reign.published + std::size_t{1};
  while (n <= most_checkpoints && reign.decided[n - 1] == 0) ++n;
  if (n > most_checkpoints) return;

  const Manifest& restored = catalogue_.manifest(reign.restored).value;
  const Lineage lineage = restored.lineage;
  const CheckpointId id{{reign.term}, n};
  const CheckpointId newest =
      reign.published == 0 ? restored.id : CheckpointId{{reign.term}, reign.published};
  World after = *before_;
  const PublishResult result =
      publish(after, lineage, {reign.term}, id, catalogue_.above(reign.decided[n - 1], newest));
  const auto tell = [&](std::string_view end) {
    return fmt::format("{} publishes {}: {}{}.", task_text(reign, "The committer"), to_text(id),
                       result_text(result), end);
  };
  const bool late = is_zombie(reign);
  if (result == PublishResult::inserted) {
    if (late) see(Sight::zombie_published);
    happens(after, [&] { return tell(", and the answer is lost"); });
  }
  if (result == PublishResult::repeated) {
    see(late ? Sight::zombie_published_nothing : Sight::publish_repeated);
  }
  if (result == PublishResult::turned_away) see(Sight::zombie_turned_away);
  Reign& own = after.reigns[place];
  if (succeeded(result)) {
    own.published = static_cast<std::uint8_t>(n);
  } else {
    own.committer = CommitterPhase::failed;
  }
  happens(after, [&] { return tell(""); });
}

/// A barrier has come to a writer: it has one record more, stages it, and acknowledges.
void Steps::handle_barrier(std::size_t place, int writer) {
  const Reign& reign = before_->reigns[place];
  const Writer& task = reign.writers[static_cast<std::size_t>(writer)];
  const int newest = static_cast<int>(std::bit_width(static_cast<unsigned>(task.handled))) - 1;
  const int record = catalogue_.manifest(reign.restored).records[static_cast<std::size_t>(writer)] +
                     std::popcount(static_cast<unsigned>(task.handled));
  // A barrier may be overtaken by the next one, if its checkpoint was given up.
  for (int n = std::max(newest, 0) + 1; n <= reign.triggered; ++n) {
    // It may have heard, or not, what the coordinator knows to be published.
    const int known = reign.heard_published;
    for (const int heard : {0, known}) {
      World after = *before_;
      Writer& own = after.reigns[place].writers[static_cast<std::size_t>(writer)];
      own.handled = static_cast<std::uint8_t>(own.handled | 1 << n);
      own.unpublished = static_cast<std::uint8_t>(own.unpublished | 1 << n);
      own.unpublished = static_cast<std::uint8_t>(own.unpublished >> (heard + 1) << (heard + 1));
      const CheckpointId id{{reign.term}, static_cast<std::uint64_t>(n)};
      after.store[catalogue_.name_of_staged(id, writer)] = edition_of_record(record);
      after.store[catalogue_.name_of_state(id, writer)] = edition_of_state(record + 1);
      own.acknowledged[static_cast<std::size_t>(n) - 1] =
          catalogue_.acknowledgement(id, writer, record + 1, own.unpublished);
      if (reign.is_led == 0) forget_acknowledgements(after.reigns[place]);
      if (is_zombie(reign)) see(Sight::orphan_staged);
      happens(after, [&] {
        return fmt::format("{} stages record {} for {}, and acknowledges.",
                           task_text(reign, fmt::format("Writer {}", writer)), record, to_text(id));
      });
      if (known == 0) break;
    }
  }
}

/// What the writers of a reign that nobody leads have sent may as well never arrive: no other reign
/// has its term, and a pending checkpoint compares it. So said by that comparison, and only by it.
void Steps::forget_acknowledgements(Reign& reign) const {
  if (!rules_.acknowledgement_has_term) return;
  for (Writer& writer : reign.writers) {
    writer.acknowledged = {};
    writer.unpublished = 0;
  }
}

}  // namespace millrace::model
