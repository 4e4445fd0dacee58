#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/properties/outcome.hpp"
#include "millrace/properties/reference.hpp"

namespace millrace::properties {

/// Judges what became of late records (PROTOCOL 8, lateness): no more were dropped than came too
/// late, and every record that was kept by the filters is counted in exactly one row or was
/// dropped.
///
/// A row of an upsert sink may have counted what is dropped after a recovery: if there is no other
/// record in its window, nothing replaces the row.
///
/// `dropped` is what the last manifest says, `rows` is what readers see at the end, if that is not
/// just what the reference expects, which has counted every record. The second half needs a job
/// that counts its records; of others only the first is judged.
std::optional<Breach> judge_late(const Reference& reference, std::uint64_t dropped,
                                 const std::optional<std::vector<OwnedRow>>& rows,
                                 SinkMode mode = SinkMode::staged);

}  // namespace millrace::properties
