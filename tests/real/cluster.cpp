#include "cluster.hpp"

#include <algorithm>
#include <exception>

#include "millrace/env/error.hpp"

namespace millrace::tests {
namespace {

using namespace std::chrono_literals;

posix::ProcessOptions options_of(const JobSpec& spec, const std::string& log_file) {
  posix::ProcessOptions options;
  options.networking = posix::ProcessOptions::Networking::tcp;
  options.store_directory = spec.state_directory;
  options.coordinators.assign(std::begin(Cluster::coordinators), std::end(Cluster::coordinators));
  options.workers.assign(std::begin(Cluster::workers), std::end(Cluster::workers));
  options.log_file = log_file;
  return options;
}

}  // namespace

Cluster::Cluster(const JobSpec& spec, std::string log_file)
    : job_(build_job(spec)),
      log_file_(std::move(log_file)),
      process_(options_of(spec, log_file_), tables_) {
  coordinator_options_.parallelism = spec.parallelism;
  coordinator_options_.checkpoint = spec.checkpoint;
  coordinator_options_.restart = spec.restart;
  coordinator_options_.lease = 600ms;
  worker_options_.records_per_second = 300;
  for (const char* name : workers) start_worker(name);
  for (const char* name : coordinators) start_coordinator(name);
}

Cluster::~Cluster() {
  for (auto& [name, task] : tasks_) task->cancel();
  for (auto& [name, task] : tasks_) task->join(Instant::never());
}

void Cluster::start_coordinator(const std::string& name) {
  tasks_[name] = process_.start(name, name, [this, &end = ends_[name]](Env& env) {
    try {
      end.end = run_coordinator(env, job_, coordinator_options_);
    } catch (const std::exception& error) {
      end.error = error.what();
    }
  });
}

void Cluster::start_worker(const std::string& name) {
  tasks_[name] =
      process_.start(name, name, [this](Env& env) { run_worker(env, job_, worker_options_); });
}

void Cluster::end(const std::string& name) {
  tasks_.at(name)->cancel();
  tasks_.at(name)->join(Instant::never());
  tasks_.erase(name);
}

bool Cluster::run_until_visible(std::uint64_t rows) {
  while (progress().rows_published < rows) {
    for (const char* name : coordinators) {
      if (tasks_.at(name)->join(process_.clock().now() + 5ms)) return false;
    }
  }
  return true;
}

std::optional<JobEnd> Cluster::wait_for(const std::string& coordinator) {
  tasks_.at(coordinator)->join(Instant::never());
  error_ = ends_.at(coordinator).error;
  return ends_.at(coordinator).end;
}

std::string Cluster::owner() const {
  std::string owner;
  for (const LoggedLandmark& one : log()) {
    if (one.name == "took_over") owner = one.node;
  }
  return owner;
}

}  // namespace millrace::tests
