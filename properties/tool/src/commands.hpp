#pragma once

#include "flags.hpp"
#include "job_loading.hpp"

namespace millrace::tool {

// `jobs` are those in C++ that the program brings. Every command returns its exit code, and throws
// what run_tool knows to explain: UsageError, Refused, JobFailed.

int run_command(const RunFlags& flags, const Jobs& jobs);
int test_command(const TestFlags& flags, const Jobs& jobs);
int replay_command(const ReplayFlags& flags, const Jobs& jobs);
int shrink_command(const ShrinkFlags& flags, const Jobs& jobs);
int check_command(const CheckFlags& flags, const Jobs& jobs);
int init_command(const InitFlags& flags);
int doctor_command(const DoctorFlags& flags, const Jobs& jobs);
int status_command(const StatusFlags& flags, const Jobs& jobs);
int inspect_command(const InspectFlags& flags, const Jobs& jobs);
int landmarks_command();
int jobs_command(const Jobs& jobs);

}  // namespace millrace::tool
