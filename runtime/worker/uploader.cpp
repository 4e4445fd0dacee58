#include "millrace/runtime/worker/uploader.hpp"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "millrace/env/envelope.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site between_objects{"uploader.object"};
constexpr Site again{"uploader.again"};

constexpr auto call_patience = 5s;
constexpr auto pause_between_repeats = 50ms;

/// Puts until it is stored. The same bytes under the same name: repeating is harmless.
/// Throws Unavailable behind `give_up`, IoError.
void store(Env& env, std::string_view name, std::span<const std::byte> bytes, Instant give_up) {
  while (true) {
    env.step(between_objects);
    try {
      const Instant deadline = std::min(env.in(call_patience), give_up);
      if (put(env.store, name, bytes, deadline) == PutOutcome::stored) return;
    } catch (const Unavailable&) {
      // As good as unknown.
    }
    if (env.now() >= give_up) {
      throw Unavailable(fmt::format("{}: the checkpoint store does not take it", name));
    }
    env.step(again);
    env.sleep(pause_between_repeats);
  }
}

void stage(Env& env, const Snapshot::Rows& rows, Instant give_up) {
  const Env sink = env.as(fmt::format("{}.{}", rows.object.sink, rows.object.subtask));
  LandmarkFields fields;
  fields.id = rows.object.id;
  fields.subtask = static_cast<std::int32_t>(rows.object.subtask);
  fields.count = rows.object.rows;
  sink.landmark(landmarks::stage_begun, fields);
  store(env, rows.object.name, rows.bytes, give_up);
  sink.landmark(landmarks::sink_staged, fields);
}

StateObject write_state(const Snapshot& snapshot, std::uint32_t subtask, Encoder& out) {
  StateObject object;
  object.name = object_names::state(snapshot.acknowledgement.id, snapshot.acknowledgement.task);
  object.subtask = subtask;
  for (const Snapshot::Part& part : snapshot.parts) {
    const std::size_t begin = out.size();
    part.state->write(out);
    StateSection section;
    section.operator_name = part.operator_name;
    section.part = part.name;
    section.shape = part.shape;
    section.offset = envelope_header_bytes + begin;
    section.size_bytes = out.size() - begin;
    section.checksum = checksum(out.view().subspan(begin));
    object.sections.push_back(std::move(section));
  }
  return object;
}

class Uploader {
 public:
  Uploader(Env& env, std::chrono::nanoseconds patience, const Report& report)
      : env_(env), patience_(patience), report_(report) {}

  void take(Snapshot& snapshot) {
    for (Snapshot::Rows& rows : snapshot.rows) owed_.push_back(std::move(rows));
    try {
      make_durable(snapshot);
    } catch (const Unavailable& error) {
      decline(snapshot, error.what());
      return;
    } catch (const IoError& error) {
      decline(snapshot, error.what());
      return;
    }
    acknowledge(snapshot);
  }

 private:
  static LandmarkFields about(const Snapshot& snapshot) {
    LandmarkFields fields;
    fields.id = snapshot.acknowledgement.id;
    fields.subtask = snapshot.subtask;
    return fields;
  }

  void make_durable(Snapshot& snapshot) {
    const Instant give_up = env_.in(patience_);
    for (; !owed_.empty(); owed_.pop_front()) stage(env_, owed_.front(), give_up);
    if (snapshot.parts.empty()) return;
    Encoder bytes;
    StateObject state = write_state(snapshot, static_cast<std::uint32_t>(snapshot.subtask), bytes);
    env_.landmark(landmarks::upload_begun, about(snapshot));
    store(env_, state.name, seal(Content::state, state_format_version, bytes.view()), give_up);
    env_.landmark(landmarks::uploaded, about(snapshot));
    snapshot.acknowledgement.state = std::move(state);
  }

  void acknowledge(const Snapshot& snapshot) {
    report_(Acknowledged{snapshot.acknowledgement});
    env_.landmark(landmarks::acknowledged, about(snapshot));
    for (const std::string& sink : snapshot.sinks) {
      env_.as(fmt::format("{}.{}", sink, snapshot.subtask))
          .landmark(landmarks::sink_acknowledged, about(snapshot));
    }
  }

  void decline(const Snapshot& snapshot, const char* text) {
    report_(Declined{snapshot.acknowledgement.id, snapshot.acknowledgement.task, text});
  }

  Env& env_;
  std::chrono::nanoseconds patience_;
  const Report& report_;
  /// Rows that no acknowledgement may name before they are stored: those of this snapshot, and of
  /// earlier ones that were declined.
  std::deque<Snapshot::Rows> owed_;
};

}  // namespace

void run_uploader(Env& env, Snapshots& snapshots, std::chrono::nanoseconds patience,
                  const Report& report) {
  snapshots.bind(env.parker);
  Uploader uploader(env, patience, report);
  while (true) {
    if (const auto next = snapshots.try_take()) {
      uploader.take(**next);
    } else {
      env.parker.park_until(Instant::never());
    }
  }
}

}  // namespace millrace
