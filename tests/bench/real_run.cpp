#include "real_run.hpp"

#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "millrace/posix/process.hpp"
#include "millrace/runtime/coordinator/coordinator.hpp"
#include "millrace/runtime/worker/worker.hpp"

namespace millrace::bench {
namespace {

/// A table that nobody ever looks at, of which a run needs no more than that it agrees.
class NoTable final : public SinkTable {
 public:
  void ensure(Instant) override {}
  Fenced fence(const FenceRequest& request, Instant) override {
    return {FenceOutcome::fenced, Marker{request.lineage, request.term, CheckpointId::genesis()}};
  }
  PublishOutcome publish(Lineage, Term, CheckpointId, StagedBatches&, Instant) override {
    return PublishOutcome::published;
  }
  PublishOutcome write(Lineage, Term, std::span<const std::byte>, Instant) override {
    return PublishOutcome::published;
  }
};

class NoTables final : public SinkTables {
 public:
  std::unique_ptr<SinkTable> open(const std::string&, const TableSchema&) override {
    return std::make_unique<NoTable>();
  }
};

/// An empty directory of its own, in memory if the machine has such.
class Scratch {
 public:
  Scratch() {
    const auto memory = std::filesystem::path("/dev/shm");
    path_ = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    path_ /= "millrace-bench-XXXXXX";
    std::string name = path_.string();
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error(name, {});
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

void run_for_real(const Job& job, std::uint32_t parallelism) {
  const Scratch directory;
  posix::ProcessOptions setup;
  setup.store_directory = directory.path();
  setup.coordinators = {"coordinator1"};
  for (std::uint32_t i = 1; i <= parallelism; ++i) {
    setup.workers.push_back("worker" + std::to_string(i));
  }
  NoTables tables;
  posix::Process process(setup, tables);
  std::vector<std::unique_ptr<RunningTask>> workers;
  for (const std::string& name : setup.workers) {
    workers.push_back(
        process.start(name, "worker", [&](Env& env) { run_worker(env, job, WorkerOptions{}); }));
  }
  CoordinatorOptions options;
  options.parallelism = parallelism;
  options.is_only_candidate = true;
  std::optional<JobEnd> end;
  std::exception_ptr error;
  const auto coordinator = process.start("coordinator1", "coordinator", [&](Env& env) {
    try {
      end = run_coordinator(env, job, options);
    } catch (const std::exception&) {
      error = std::current_exception();
    }
  });
  coordinator->join(Instant::never());
  for (const auto& worker : workers) worker->cancel();
  for (const auto& worker : workers) worker->join(Instant::never());
  if (error) std::rethrow_exception(error);
  if (end != JobEnd::finished) throw std::runtime_error(job.name() + " did not finish");
}

}  // namespace millrace::bench
