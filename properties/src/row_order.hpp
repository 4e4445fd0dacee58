#pragma once

#include <optional>
#include <vector>

#include "millrace/properties/outcome.hpp"
#include "millrace/properties/reference.hpp"

namespace millrace::properties {

/// Judges the order in which rows became visible: those of one key that come from one partition
/// stand in its order (PROTOCOL 8). Of others there is no order to be had.
///
/// `rows` are those of the table, in the order of their insertion. Looked at is what is known to
/// come from one record: rows that no window has folded, and that have no equal.
std::optional<Breach> judge_order(const Reference& reference, const std::vector<OwnedRow>& rows);

/// Whether a reference knows of any row from which record it comes.
bool knows_order(const Reference& reference);

}  // namespace millrace::properties
