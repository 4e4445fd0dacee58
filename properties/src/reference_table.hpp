#pragma once

#include "millrace/env/sink_table.hpp"

#include "reference_rows.hpp"
#include "reference_window.hpp"

namespace millrace::properties {

/// What a table holds into which rows go as they are: each as soon as it comes.
///
/// In an upsert table rows of one key replace each other. Those of one partition that nothing has
/// kept do so in its order, and others in any: in the end the last of one partition is left, or
/// any.
ReferenceResults reference_table(const TableSchema& schema, const ReferenceStream& stream);

}  // namespace millrace::properties
