#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/runtime/state/checkpoint.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

/// Of the objects that subtasks write (STATE.md).
inline constexpr std::uint16_t state_format_version = 1;

/// State that no longer changes and can be written after the barrier has passed, by another task.
class Frozen {
 public:
  virtual ~Frozen() = default;
  virtual void write(Encoder& out) const = 0;
};

/// State that was small enough to be written at once.
class FrozenBytes final : public Frozen {
 public:
  explicit FrozenBytes(Bytes bytes) : bytes_(std::move(bytes)) {}
  void write(Encoder& out) const override { out.raw(bytes_.data(), bytes_.size()); }

 private:
  Bytes bytes_;
};

/// What the stages of a task hand over at a barrier.
struct Snapshot {
  struct Part {
    std::string operator_name;
    std::string name;
    std::string shape;
    std::unique_ptr<Frozen> state;
  };
  /// Rows to be staged; `object` names them in `acknowledgement.staged`.
  struct Rows {
    StagedObject object;
    Bytes bytes;
  };

  Acknowledgement acknowledgement;
  std::int32_t subtask = 0;
  std::vector<Part> parts;
  std::vector<Rows> rows;
  std::vector<std::string> sinks;  ///< Those that this task writes, rows or not.
};

/// One section of one old subtask's state, read and checked.
struct RestoredSection {
  GroupRange groups;  ///< That its writer owned.
  std::string part;
  std::string shape;
  Bytes bytes;
};

/// A partition to go on reading.
struct RestoredPartition {
  PartitionProgress progress;
  std::int64_t end = 0;  ///< As genesis fixed it.
};

/// What an operator finds when its task starts from a checkpoint.
struct Restored {
  /// In the order (old subtask, position in its object); of all old subtasks whose keys may belong
  /// to this one.
  std::vector<RestoredSection> sections;
  /// The partitions that belong to this subtask. For sources.
  std::vector<RestoredPartition> partitions;
};

/// Throws UsageError naming operator, part and both shapes unless the section has this shape.
void expect_shape(std::string_view operator_name, const RestoredSection& section,
                  std::string_view shape);

}  // namespace millrace
