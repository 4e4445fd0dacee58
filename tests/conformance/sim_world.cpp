#include <exception>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/sim/log_server.hpp"
#include "millrace/sim/store_server.hpp"
#include "millrace/sim/world.hpp"

#include "worlds.hpp"

namespace millrace::conformance {
namespace {

class SimWorld final : public TestWorld {
 public:
  SimWorld() : world_({seed}, sim::Timings{}, stacks_) {
    world_.add_node(sim::store_node, "store", sim::run_store_server);
    log_ = world_.add_node(sim::log_node, "log",
                           [this](Env& env) { sim::run_log_server(env, arrivals_); });
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
  sim::Arrivals arrivals_;
  sim::NodeId log_;
  sim::NodeId worker_;
  std::function<void(Env&)> body_;
  std::exception_ptr thrown_;
};

}  // namespace

std::unique_ptr<TestWorld> make_sim_world() { return std::make_unique<SimWorld>(); }

}  // namespace millrace::conformance
