#pragma once

#include "millrace/env/sink_table.hpp"

#include "reference_rows.hpp"
#include "reference_window.hpp"

namespace millrace::properties {

/// What a table holds into which rows go as they are: each as soon as it has been read.
///
/// In an upsert table rows of one key replace each other. Those of one partition do so in its
/// order, and those of several in any: in the end the last of one of them is left.
ReferenceResults reference_table(const TableSchema& schema, const std::vector<ReferenceRow>& rows);

}  // namespace millrace::properties
