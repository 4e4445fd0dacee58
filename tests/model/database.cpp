#include "database.hpp"

#include <algorithm>
#include <optional>

#include "millrace/env/invariant.hpp"
#include "millrace/sqlite/fence_decision.hpp"
#include "millrace/sqlite/publish_decision.hpp"

namespace millrace::model {
namespace {

std::optional<Marker> marker_of(const Sink& sink) {
  if (sink.lineage == 0) return std::nullopt;
  return Marker{{0, sink.lineage}, {sink.fence_term}, sink.published.wide()};
}

bool has_rows(const Sink& sink) {
  return std::any_of(sink.rows.begin(), sink.rows.end(),
                     [](std::uint16_t rows) { return rows != 0; });
}

void insert(Sink& sink, int writer, int record) {
  invariant(record < most_records, "a table has room for every record");
  if (times_visible(sink, writer, record) == 3) return;  // Enough to be wrong.
  auto& rows = sink.rows[static_cast<std::size_t>(writer)];
  rows = static_cast<std::uint16_t>(rows + (1 << (2 * record)));
}

}  // namespace

Fenced fence(World& world, const Rules& rules, const KnownManifest& restored, Term term) {
  Sink& sink = world.sink;
  FenceRequest request{restored.value.lineage, term, restored.value.id == CheckpointId::genesis(),
                       false};
  const Fenced fenced = decide_fence({request, marker_of(sink), has_rows(sink)});
  if (fenced.outcome == FenceOutcome::fenced) {
    sink.lineage = static_cast<std::uint8_t>(fenced.marker->lineage.low);
    // A database that forgets the term compares with none.
    sink.fence_term =
        rules.database_fences ? static_cast<std::uint8_t>(fenced.marker->fence_term.number) : 0;
    sink.published = SmallId::of(fenced.marker->published);
  }
  return fenced;
}

PublishResult publish(World& world, Lineage lineage, Term term, CheckpointId id,
                      const std::vector<Needed>& objects) {
  switch (decide_publish(marker_of(world.sink), lineage, term, id)) {
    case PublishDecision::refuse: return PublishResult::turned_away;
    case PublishDecision::repeat: return PublishResult::repeated;
    case PublishDecision::insert: break;
  }
  Sink changed = world.sink;
  for (const Needed& object : objects) {
    if (object.id <= world.sink.published.wide()) continue;
    const Edition found = world.store[object.name];
    if (found == 0) return PublishResult::unreadable;
    insert(changed, object.writer, record_in(found));
  }
  changed.published = SmallId::of(id);
  world.sink = changed;
  return PublishResult::inserted;
}

}  // namespace millrace::model
