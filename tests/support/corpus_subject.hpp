#pragma once

#include "millrace/properties/experiment.hpp"

namespace millrace::tests {

/// A job of `corpus/jobs/`, by name, with another sink if wanted, and the head of its input.
properties::Subject corpus_subject(const std::string& job, std::uint64_t records = 2000,
                                   SinkMode mode = SinkMode::staged);

}  // namespace millrace::tests
