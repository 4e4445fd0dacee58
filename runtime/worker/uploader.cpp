#include "millrace/runtime/worker/uploader.hpp"

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
constexpr auto upload_patience = 30s;
constexpr auto pause_between_repeats = 50ms;

/// Puts until it is stored. The same bytes under the same name: repeating is harmless.
void store(Env& env, std::string_view name, std::span<const std::byte> bytes) {
  const Instant give_up = env.in(upload_patience);
  while (true) {
    env.step(between_objects);
    try {
      if (put(env.store, name, bytes, env.in(call_patience)) == PutOutcome::stored) return;
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

void stage(Env& env, const Snapshot::Rows& rows) {
  const Env sink = env.as(fmt::format("{}.{}", rows.object.sink, rows.object.subtask));
  LandmarkFields fields;
  fields.id = rows.object.id;
  fields.subtask = static_cast<std::int32_t>(rows.object.subtask);
  fields.count = rows.object.rows;
  sink.landmark(landmarks::stage_begun, fields);
  store(env, rows.object.name, rows.bytes);
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

}  // namespace

void run_uploader(Env& env, Snapshots& snapshots, const Report& report) {
  snapshots.bind(env.parker);
  while (true) {
    const auto next = snapshots.try_take();
    if (!next) {
      env.parker.park_until(Instant::never());
      continue;
    }
    Snapshot& snapshot = **next;
    Acknowledgement& acknowledgement = snapshot.acknowledgement;
    LandmarkFields fields;
    fields.id = acknowledgement.id;
    fields.subtask = snapshot.subtask;

    for (const Snapshot::Rows& rows : snapshot.rows) stage(env, rows);
    if (!snapshot.parts.empty()) {
      Encoder bytes;
      acknowledgement.state =
          write_state(snapshot, static_cast<std::uint32_t>(snapshot.subtask), bytes);
      env.landmark(landmarks::upload_begun, fields);
      store(env, acknowledgement.state->name,
            seal(Content::state, state_format_version, bytes.view()));
      env.landmark(landmarks::uploaded, fields);
    }
    report(Acknowledged{acknowledgement});
    env.landmark(landmarks::acknowledged, fields);
    for (const std::string& sink : snapshot.sinks) {
      env.as(fmt::format("{}.{}", sink, snapshot.subtask))
          .landmark(landmarks::sink_acknowledged, fields);
    }
  }
}

}  // namespace millrace
