#include "millrace/runtime/coordinator/sweeper.hpp"

#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site between_objects{"sweeper.object"};
constexpr auto call_patience = 5s;
constexpr std::size_t order_room = 64;

}  // namespace

std::set<std::string> reached_by(const Manifest& manifest) {
  std::set<std::string> names{name_of(manifest)};
  for (const StateObject& state : manifest.states) names.insert(state.name);
  for (const StagedObject& staged : manifest.staged) names.insert(staged.name);
  return names;
}

std::vector<std::string> superseded_names(const Manifest& older, const Manifest& newer,
                                          CheckpointId published) {
  std::set<std::string> names = reached_by(older);
  for (const StagedObject& staged : newer.staged) names.insert(staged.name);
  for (const std::string& needed : reached_by(newer)) names.erase(needed);
  // Rows that are visible are needed no longer, although the newest manifest still lists them.
  for (const StagedObject& staged : newer.staged) {
    if (staged.id <= published) names.insert(staged.name);
  }
  return {names.begin(), names.end()};
}

bool is_garbage(std::string_view name, Term term, const std::set<std::string>& reached) {
  const auto writer = object_names::term_of(name);
  return writer && *writer < term && !reached.contains(std::string(name));
}

Sweeper::Sweeper(Env& env) : orders_(std::make_shared<Orders>(order_room)) {
  task_ = env.tasks.start("sweeper", [orders = orders_](Env& own) { run(own, *orders); });
}

void Sweeper::remove(std::vector<std::string> names) {
  Order order{std::move(names), {}, {}};
  orders_->try_put(order);  // With this much undone, the next takeover's sweep does it.
}

void Sweeper::sweep_before(Term term, std::set<std::string> reached) {
  Order order{{}, term, std::move(reached)};
  orders_->try_put(order);
}

void Sweeper::end() {
  task_->cancel();
  task_->join(Instant::never());
}

void Sweeper::run(Env& env, Orders& orders) {
  orders.bind(env.parker);
  while (true) {
    auto order = orders.try_take();
    if (!order) {
      env.parker.park_until(Instant::never());
      continue;
    }
    try {
      if (order->term != Term{}) {
        for (const std::string_view prefix : object_names::swept_prefixes) {
          for (std::string& name : env.store.list(prefix, env.in(call_patience))) {
            if (is_garbage(name, order->term, order->reached)) {
              order->names.push_back(std::move(name));
            }
          }
        }
      }
      for (const std::string& name : order->names) {
        env.step(between_objects);
        env.store.remove(name, env.in(call_patience));
      }
      LandmarkFields fields;
      fields.id.term = order->term;
      fields.count = order->names.size();
      env.landmark(landmarks::swept, fields);
    } catch (const WorldError&) {
      // A request ends here: what is left is found by the next takeover.
    }
  }
}

}  // namespace millrace
