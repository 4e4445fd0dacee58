#include "millrace/runtime/sink/staged_rows.hpp"

#include <fmt/format.h>

#include "millrace/env/envelope.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t format_version = 1;

}  // namespace

Bytes seal_rows(std::uint64_t rows, std::span<const std::byte> cells) {
  Encoder out;
  out.number(rows);
  out.raw(cells.data(), cells.size());
  return seal(Content::staged_rows, format_version, out.view());
}

StoredBatches::StoredBatches(Env& env, std::span<const StagedObject> objects,
                             std::chrono::nanoseconds patience)
    : env_(env), left_(objects), patience_(patience) {}

std::optional<CheckpointId> StoredBatches::next_batch() {
  while (!left_.empty() && left_.front().id == current_) left_ = left_.subspan(1);
  if (left_.empty()) return std::nullopt;
  current_ = left_.front().id;
  return current_;
}

std::span<const std::byte> StoredBatches::next_block() {
  if (left_.empty() || left_.front().id != current_) return {};
  const StagedObject& object = left_.front();
  left_ = left_.subspan(1);
  load(object);
  Decoder in(unseal(Content::staged_rows, format_version, loaded_, object.name));
  if (const auto rows = in.number<std::uint64_t>(); rows != object.rows) {
    throw CorruptObject(fmt::format("{}: it has {} rows where the manifest lists {}", object.name,
                                    rows, object.rows));
  }
  LandmarkFields fields;
  fields.id = object.id;
  fields.subtask = static_cast<std::int32_t>(object.subtask);
  fields.count = object.rows;
  env_.landmark(landmarks::publish_loaded, fields);
  return in.skip(in.left());
}

void StoredBatches::load(const StagedObject& object) {
  auto found = read_whole(env_.store, object.name, env_.in(patience_));
  if (!found) {
    // The recovery has seen it, and nothing is swept that is not published.
    throw WorldError(fmt::format("{}: staged rows have gone", object.name));
  }
  loaded_ = std::move(*found);
}

}  // namespace millrace
