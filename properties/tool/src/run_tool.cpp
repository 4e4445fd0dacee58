#include <cstdio>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/tool/main.hpp"

#include "commands.hpp"
#include "explain.hpp"
#include "flags.hpp"

namespace millrace {
namespace {

int dispatch(const tool::Flags& flags, const tool::Jobs& jobs) {
  if (const auto* run = std::get_if<tool::RunFlags>(&flags)) return tool::run_command(*run, jobs);
  if (const auto* test = std::get_if<tool::TestFlags>(&flags)) {
    return tool::test_command(*test, jobs);
  }
  if (const auto* replay = std::get_if<tool::ReplayFlags>(&flags)) {
    return tool::replay_command(*replay, jobs);
  }
  if (const auto* shrink = std::get_if<tool::ShrinkFlags>(&flags)) {
    return tool::shrink_command(*shrink, jobs);
  }
  if (const auto* check = std::get_if<tool::CheckFlags>(&flags)) {
    return tool::check_command(*check, jobs);
  }
  if (const auto* init = std::get_if<tool::InitFlags>(&flags)) return tool::init_command(*init);
  if (const auto* doctor = std::get_if<tool::DoctorFlags>(&flags)) {
    return tool::doctor_command(*doctor, jobs);
  }
  if (const auto* status = std::get_if<tool::StatusFlags>(&flags)) {
    return tool::status_command(*status, jobs);
  }
  if (const auto* inspect = std::get_if<tool::InspectFlags>(&flags)) {
    return tool::inspect_command(*inspect, jobs);
  }
  if (std::holds_alternative<tool::JobsFlags>(flags)) return tool::jobs_command(jobs);
  return tool::landmarks_command();
}

int complain(std::string_view what, int exit_code) {
  std::fflush(stdout);
  fmt::print(stderr, "millrace: {}\n", what);
  return exit_code;
}

}  // namespace

int run_tool(int argc, char** argv, const std::vector<properties::UserJob>& jobs) {
  const auto parsed = tool::parse_flags(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  try {
    return dispatch(std::get<tool::Flags>(parsed), jobs);
  } catch (const UsageError& error) {
    return complain(error.what(), 2);
  } catch (const Refused& refused) {
    return complain(tool::explain(refused), 7);
  } catch (const JobFailed& failed) {
    return complain(fmt::format("the job failed: {}", failed.what()), 8);
  } catch (const WorldError& error) {
    return complain(error.what(), 8);
  }
}

}  // namespace millrace
