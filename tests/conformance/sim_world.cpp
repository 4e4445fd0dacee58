#include <exception>
#include <optional>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/sim/database_server.hpp"
#include "millrace/sim/log_server.hpp"
#include "millrace/sim/memory_database.hpp"
#include "millrace/sim/sqlite_vfs.hpp"
#include "millrace/sim/store_server.hpp"
#include "millrace/sim/world.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "worlds.hpp"

namespace millrace::conformance {
namespace {

class SimWorld final : public TestWorld {
 public:
  /// With `memory`, or with SQLite on the disk of the database's node.
  explicit SimWorld(std::optional<sim::MemoryDatabase> memory)
      : world_({seed}, sim::Timings{}, stacks_), memory_(std::move(memory)) {
    world_.add_node(sim::store_node, "store", sim::run_store_server);
    log_ = world_.add_node(sim::log_node, "log",
                           [this](Env& env) { sim::run_log_server(env, arrivals_); });
    const auto database = world_.add_node(sim::database_node, "database", [this](Env& env) {
      sim::run_database_server(env, {vfs_->name(), nullptr, memory_ ? &*memory_ : nullptr});
    });
    vfs_.emplace(world_, database);
    worker_ = world_.add_node("worker1", "worker", [this](Env& env) { run_body(env); });
  }
  ~SimWorld() override { world_.shut_down(); }

  void run(const std::function<void(Env&)>& body) override {
    body_ = body;
    for (std::uint32_t i = 0; i < world_.node_count(); ++i) world_.start({i});
    const auto ended = world_.run_until(Instant::never());
    if (thrown_) std::rethrow_exception(thrown_);
    if (const auto& violation = world_.violation()) throw std::runtime_error(violation->claim);
    if (ended != sim::World::Ended::stopped) throw std::runtime_error("the test waits for ever");
  }

  std::string directory() override {
    world_.disk_of(worker_).make_directory("disk");
    return "disk";
  }

  std::string make_log(const LogFiles& files) override {
    for (const auto& [name, text] : files) {
      world_.disk_of(log_).install("log/" + name, as_bytes(text));
    }
    return "log/*";
  }

  TableLook look(const std::string& table, const TableVisit& visit) override {
    const sim::World::Outside outside(world_);
    if (memory_) return memory_->look(table, visit);
    return TableReader(database_path, vfs_->name(), table).look(visit);
  }

 private:
  static constexpr std::uint64_t seed = 7;

  void run_body(Env& env) {
    Env test = env.as("test");
    // Catch's REQUIRE throws; a fiber must not let that out.
    try {
      body_(test);
    } catch (const std::exception&) {
      thrown_ = std::current_exception();
    } catch (const Catch::TestFailureException&) {
      thrown_ = std::current_exception();
    }
    world_.stop();
  }

  sim::StackPool stacks_;
  sim::World world_;
  std::optional<sim::MemoryDatabase> memory_;
  std::optional<sim::SqliteVfs> vfs_;
  sim::Arrivals arrivals_;
  sim::NodeId log_;
  sim::NodeId worker_;
  std::function<void(Env&)> body_;
  std::exception_ptr thrown_;
};

}  // namespace

std::unique_ptr<TestWorld> make_sim_world() { return std::make_unique<SimWorld>(std::nullopt); }

std::unique_ptr<TestWorld> make_sim_world_with_memory_database() {
  return std::make_unique<SimWorld>(sim::MemoryDatabase{});
}

}  // namespace millrace::conformance
