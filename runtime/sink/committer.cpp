#include "millrace/runtime/sink/committer.hpp"

#include <fmt/format.h>

#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/sink/sink_recovery.hpp"
#include "millrace/runtime/sink/staged_rows.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site again{"committer.again"};

/// How long one call to the database or the store may take.
constexpr auto call_patience = 5s;
/// How long an unknown publish is repeated before recovery has to settle it (PROTOCOL 2.4).
constexpr auto publish_patience = 15s;
constexpr auto pause_between_repeats = 50ms;

class Committer {
 public:
  Committer(Env& env, const SinkDescription& sink, Term term, const Manifest& manifest)
      : env_(env),
        sink_(sink),
        term_(term),
        manifest_(manifest),
        table_(env.sinks.open(sink.database, sink.schema)) {}

  void recover(bool adopt) {
    table_->ensure(env_.in(call_patience));
    SinkRecoveryFacts facts;
    facts.restored = manifest_.id;
    facts.lineage = manifest_.lineage;
    FenceRequest fence{manifest_.lineage, term_, manifest_.id == CheckpointId::genesis(), adopt};
    facts.fenced = table_->fence(fence, env_.in(call_patience));
    env_.landmark(landmarks::sink_fenced, about({term_, 0}));
    gather_listed(facts);

    const SinkRecovery step = decide_sink_recovery(facts);
    if (std::holds_alternative<SinkSuperseded>(step)) turned_away();
    if (const auto* refuse = std::get_if<RefuseSink>(&step)) {
      throw Refused(refuse->why, fmt::format("table `{}` in {}: {}", sink_.schema.table,
                                             sink_.database, refuse->what));
    }
    publish(manifest_.id, std::get<PublishListed>(step).objects);
    env_.landmark(landmarks::republished, about(manifest_.id));
  }

  /// Returns the number of rows. `listed` sorted by checkpoint.
  std::uint64_t publish(CheckpointId id, const std::vector<StagedObject>& listed) {
    const Instant give_up = env_.in(publish_patience);
    LandmarkFields fields = about(id);
    for (const StagedObject& object : listed) fields.count += object.rows;
    for (;; ++fields.retry) {
      env_.landmark(landmarks::publish_begun, fields);
      switch (try_publish(id, listed)) {
        case PublishOutcome::published:
          env_.landmark(landmarks::published, fields);
          return fields.count;
        case PublishOutcome::fenced: turned_away();
        case PublishOutcome::unknown: break;
      }
      env_.landmark(landmarks::publish_unknown, fields);
      // The same publish again: only that can tell, and the marker makes it harmless.
      if (env_.now() >= give_up) {
        throw Unavailable(fmt::format("{}: nobody knows whether checkpoint {} was published",
                                      sink_.database, to_text(id)));
      }
      env_.step(again);
      env_.sleep(pause_between_repeats);
    }
  }

 private:
  LandmarkFields about(CheckpointId id) const {
    LandmarkFields fields;
    fields.id = id;
    return fields;
  }

  PublishOutcome try_publish(CheckpointId id, const std::vector<StagedObject>& listed) {
    StoredBatches batches(env_, listed, call_patience);
    env_.landmark(landmarks::publish_sent, about(id));
    try {
      return table_->publish(manifest_.lineage, term_, id, batches, env_.in(call_patience));
    } catch (const Unavailable&) {
      // Nobody answered, or somebody held the database: as unknown as a lost answer.
      return PublishOutcome::unknown;
    }
  }

  void gather_listed(SinkRecoveryFacts& facts) {
    for (const StagedObject& object : manifest_.staged) {
      if (object.sink == sink_.name) facts.listed.push_back(object);
    }
    const CheckpointId marker =
        facts.fenced.marker ? facts.fenced.marker->published : CheckpointId::genesis();
    for (const StagedObject& object : above(marker, facts.listed)) {
      if (!env_.store.read(object.name, 0, 1, env_.in(call_patience))) {
        facts.missing.push_back(object.name);
      }
    }
  }

  [[noreturn]] void turned_away() {
    env_.landmark(landmarks::fenced_out, about({term_, 0}));
    throw WorldError(fmt::format("table `{}` in {}: a later term has fenced it", sink_.schema.table,
                                 sink_.database));
  }

  Env& env_;
  const SinkDescription& sink_;
  Term term_;
  const Manifest& manifest_;
  std::unique_ptr<SinkTable> table_;
};

}  // namespace

void run_committer(Env& env, const SinkDescription& sink, const RecoverSink& order,
                   PublishOrders& orders, const Report& report) {
  const Manifest manifest = decode_manifest(order.manifest, "the manifest of a takeover");
  Committer committer(env, sink, order.term, manifest);
  committer.recover(order.adopt);
  report(SinkRecovered{order.term, sink.name});

  orders.bind(env.parker);
  CheckpointId newest = manifest.id;
  while (true) {
    const auto publish = orders.try_take();
    if (!publish) {
      env.parker.park_until(Instant::never());
      continue;
    }
    if (publish->id <= newest) continue;
    const auto rows = committer.publish(publish->id, above(newest, publish->staged));
    newest = publish->id;
    report(SinkPublished{publish->id, sink.name, rows});
    LandmarkFields fields;
    fields.id = publish->id;
    env.landmark(landmarks::publish_reported, fields);
  }
}

}  // namespace millrace
