#pragma once

#include "figures.hpp"

namespace millrace::bench {

// The simulator's own benchmarks. Each adds its figures to the report.

/// What this machine is: figures of others are to be seen in relation to these.
void calibrate(const Report& report);
/// A task yields, another is chosen and goes on.
void bench_switch(const Report& report);
/// A frame of 64 bytes is sent, delivered, and its receiver goes on.
void bench_messages(const Report& report);
/// The whole processor crashes and recovers, and is judged.
void bench_runs(const Report& report);

}  // namespace millrace::bench
