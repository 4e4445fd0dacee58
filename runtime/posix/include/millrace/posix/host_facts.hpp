#pragma once

#include <chrono>

namespace millrace::posix {

/// How many processors this process may use.
int processor_count();

/// Processor time that the ended children of this process have used, all together.
std::chrono::nanoseconds children_processor_time();

/// Whether standard output is a terminal.
bool output_is_terminal();

}  // namespace millrace::posix
