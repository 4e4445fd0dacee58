#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/state/checkpoint.hpp"

namespace millrace {

/// The bytes of an object of staged rows: an envelope around their number and their cells
/// (STAGED.md).
Bytes seal_rows(std::uint64_t rows, std::span<const std::byte> cells);

/// Staged rows as a publish pulls them: object by object from the checkpoint store, in the order of
/// their checkpoint ids, each verified before a row of it is handed on.
class StoredBatches final : public StagedBatches {
 public:
  /// `objects` sorted by id.
  StoredBatches(Env& env, std::span<const StagedObject> objects, std::chrono::nanoseconds patience);

  std::optional<CheckpointId> next_batch() override;
  /// Throws WorldError: an object is not there. CorruptObject: it is not what was staged.
  std::span<const std::byte> next_block() override;

 private:
  void load(const StagedObject& object);

  Env& env_;
  std::span<const StagedObject> left_;  ///< Of batches not yet begun, and of the current one.
  std::chrono::nanoseconds patience_;
  std::optional<CheckpointId> current_;
  Bytes loaded_;
};

}  // namespace millrace
