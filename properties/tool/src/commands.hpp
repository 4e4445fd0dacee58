#pragma once

#include "flags.hpp"

namespace millrace::tool {

// Every command returns its exit code, and throws what run_tool knows to explain: UsageError,
// Refused, JobFailed.

int run_command(const RunFlags& flags);
int test_command(const TestFlags& flags);
int replay_command(const ReplayFlags& flags);
int shrink_command(const ShrinkFlags& flags);
int check_command(const CheckFlags& flags);
int init_command(const InitFlags& flags);
int landmarks_command();

}  // namespace millrace::tool
