#include <filesystem>
#include <fstream>

#include "millrace/posix/process.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "temporary_directory.hpp"
#include "worlds.hpp"

namespace millrace::conformance {
namespace {

using posix::Process;
using posix::ProcessOptions;

class PosixWorld final : public TestWorld {
 public:
  explicit PosixWorld(ProcessOptions::Networking networking) {
    ProcessOptions options;
    options.networking = networking;
    options.store_directory = root_.path() + "/store";
    options.workers = {"worker1"};
    process_ = std::make_unique<Process>(std::move(options), sinks_);
  }

  void run(const std::function<void(Env&)>& body) override {
    // In the thread of the test, because Catch's assertions belong to it.
    process_->run("worker1", "test", body);
  }

  std::string directory() override {
    const auto path = root_.path() + "/disk";
    std::filesystem::create_directory(path);
    return path;
  }

  std::string make_log(const LogFiles& files) override {
    const auto path = root_.path() + "/log";
    std::filesystem::create_directory(path);
    for (const auto& [name, text] : files) std::ofstream(path + "/" + name) << text;
    return path + "/*";
  }

  TableLook look(const std::string& table, const TableVisit& visit) override {
    return TableReader(root_.path() + "/" + database_path, "", table).look(visit);
  }

 private:
  posix::TemporaryDirectory root_;
  SqliteTables sinks_{root_.path() + "/"};
  std::unique_ptr<Process> process_;
};

}  // namespace

std::unique_ptr<TestWorld> make_posix_world_in_memory() {
  return std::make_unique<PosixWorld>(ProcessOptions::Networking::memory);
}

std::unique_ptr<TestWorld> make_posix_world_over_tcp() {
  return std::make_unique<PosixWorld>(ProcessOptions::Networking::tcp);
}

}  // namespace millrace::conformance
