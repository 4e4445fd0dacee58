#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/env/log.hpp"

namespace millrace {

// What a checkpoint is made of, as the coordinator sees it: names, sizes and checksums of objects,
// and the little that needs no object.

/// What a checkpoint was taken for.
enum class CheckpointKind : std::uint8_t {
  periodic = 1,
  savepoint = 2,  ///< Somebody asked for one to keep.
  stop = 3,       ///< The last one before a job is stopped,
  drain = 4,      ///< and behind that of all its windows.
};

constexpr bool is_known(CheckpointKind kind) {
  return kind >= CheckpointKind::periodic && kind <= CheckpointKind::drain;
}
/// Whether it is kept until somebody takes it away.
constexpr bool is_pinned(CheckpointKind kind) { return kind != CheckpointKind::periodic; }

/// How far a partition has been read.
struct PartitionProgress {
  std::string source;  ///< The operator that reads it.
  std::string name;
  Position position;
  EventTime newest;    ///< The largest event time read from it; min before the first record.
  bool ended = false;  ///< All of it was read, and the end was noticed.
  std::uint64_t records = 0;
  std::uint64_t skipped = 0;  ///< Bad records that the job said to skip.
  Bytes generator;            ///< What a watermark generator of the user's keeps.
  friend bool operator==(const PartitionProgress&, const PartitionProgress&) = default;
};

/// A piece of state inside an object.
struct StateSection {
  std::string operator_name;
  std::string part;   ///< What of the operator's state: its own word.
  std::string shape;  ///< Of the types inside (Codec); a job that changed them cannot read it.
  std::uint64_t offset = 0;  ///< In the object.
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const StateSection&, const StateSection&) = default;
};

/// What one subtask uploaded at one checkpoint.
struct StateObject {
  std::string name;
  std::uint32_t subtask = 0;
  std::vector<StateSection> sections;
  friend bool operator==(const StateObject&, const StateObject&) = default;
};

/// Rows that one subtask of a sink staged at one checkpoint: pre-commit. The object outlives the
/// barrier's acknowledgement; the rows are visible to nobody.
struct StagedObject {
  std::string sink;
  CheckpointId id;
  std::uint32_t subtask = 0;
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t size_bytes = 0;
  friend bool operator==(const StagedObject&, const StagedObject&) = default;
};

/// The watermark of an operator at an aligned barrier: the same in all its subtasks.
struct OperatorWatermark {
  std::string operator_name;
  EventTime watermark;
  friend bool operator==(const OperatorWatermark&, const OperatorWatermark&) = default;
};

/// What a subtask says once everything it did before the barrier is durable.
struct Acknowledgement {
  CheckpointId id;
  std::string task;  ///< `window.1`.
  std::vector<PartitionProgress> partitions;
  std::vector<OperatorWatermark> watermarks;
  std::optional<StateObject> state;
  std::vector<StagedObject> staged;  ///< All that this subtask staged and does not know published.
  std::uint64_t records_late = 0;    ///< Dropped by this subtask, in the present term.
  friend bool operator==(const Acknowledgement&, const Acknowledgement&) = default;
};

}  // namespace millrace
