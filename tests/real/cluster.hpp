#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "millrace/posix/process.hpp"
#include "millrace/runtime/coordinator/coordinator.hpp"
#include "millrace/runtime/job_spec.hpp"
#include "millrace/runtime/worker/worker.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"

#include "run_log.hpp"

namespace millrace::tests {

/// Two coordinators and two workers that talk over TCP, each a node of its own in this process.
///
/// No lock says who owns the job: coordinators find that out by the lease.
class Cluster {
 public:
  Cluster(const JobSpec& spec, std::string log_file);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster();  ///< Ends what still runs.

  static constexpr const char* coordinators[] = {"coordinator1", "coordinator2"};
  static constexpr const char* workers[] = {"worker1", "worker2"};

  void start_coordinator(const std::string& name);
  void start_worker(const std::string& name);
  /// Cancels what runs on a node, and waits until it is gone.
  void end(const std::string& name);

  Progress progress() const { return process_.progress(); }
  /// Lets the job run until `rows` are visible. Returns false if it ended before.
  bool run_until_visible(std::uint64_t rows);
  /// Waits for a coordinator's end. Nothing: it ended by an error, which `error` then tells.
  std::optional<JobEnd> wait_for(const std::string& coordinator);
  const std::string& error() const { return error_; }

  std::vector<LoggedLandmark> log() const { return read_run_log(log_file_); }
  /// The coordinator that took over last.
  std::string owner() const;

 private:
  struct CoordinatorEnd {
    std::optional<JobEnd> end;
    std::string error;
  };

  const Job job_;
  const std::string log_file_;
  SqliteTables tables_;
  posix::Process process_;
  CoordinatorOptions coordinator_options_;
  WorkerOptions worker_options_;
  std::map<std::string, CoordinatorEnd> ends_;
  std::string error_;
  std::map<std::string, std::unique_ptr<RunningTask>> tasks_;
};

}  // namespace millrace::tests
