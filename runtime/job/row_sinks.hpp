#pragma once

#include <vector>

#include "millrace/runtime/job_spec.hpp"
#include "millrace/runtime/table_sink.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

// The sinks of a job file's tables.

/// Of rows as they are.
Sink<Row> sink_of_rows(const JobTable& table, const std::vector<Field>& fields);

/// Of a window's results.
Sink<Windowed<Row, Row>> sink_of_results(const JobTable& table, const WindowSpec& window,
                                         const std::vector<Field>& rows);

}  // namespace millrace
