#include "millrace/runtime/coordinator/sweeper.hpp"

#include <iterator>
#include <utility>

#include "millrace/env/invariant.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site between_objects{"sweeper.object"};
constexpr auto call_patience = 5s;
constexpr auto pause_between_tries = 200ms;

/// What is still to be removed. Keeps what failed.
class Work {
 public:
  explicit Work(Env& env) : env_(env) {}

  void add(std::vector<std::string> names) {
    names_.insert(std::move_iterator(names.begin()), std::move_iterator(names.end()));
  }

  /// The names have to be found first. A later sweep includes an earlier one.
  void add_terms_before(Term term, std::set<std::string> reached) {
    before_ = term;
    swept_.push_back(term);
    reached_ = std::move(reached);
  }

  /// Throws WorldErrors; then it can be called again.
  void finish() {
    if (before_ != Term{}) find_names();
    while (!names_.empty()) {
      remove_names();
      // A store that lost power may have back what was removed, until a look is without it.
      if (before_ != Term{}) find_names();
    }
    before_ = {};
    LandmarkFields fields;
    fields.count = std::exchange(removed_, 0);
    if (swept_.empty()) env_.landmark(landmarks::swept, fields);
    for (const Term term : std::exchange(swept_, {})) {
      fields.id.term = term;
      env_.landmark(landmarks::swept, fields);
    }
  }

 private:
  void remove_names() {
    while (!names_.empty()) {
      env_.step(between_objects);
      env_.store.remove(*names_.begin(), env_.in(call_patience));
      names_.erase(names_.begin());
      ++removed_;
    }
  }

  void find_names() {
    std::vector<std::string> found;
    for (const std::string_view prefix : object_names::swept_prefixes) {
      for (std::string& name : env_.store.list(prefix, env_.in(call_patience))) {
        if (is_garbage(name, before_, reached_)) found.push_back(std::move(name));
      }
    }
    add(std::move(found));
  }

  Env& env_;
  std::set<std::string> names_;
  std::size_t removed_ = 0;
  Term before_;  ///< 0: nothing is to be found.
  std::set<std::string> reached_;
  std::vector<Term> swept_;  ///< Whose sweeps will be done when this is.
};

}  // namespace

std::set<std::string> reached_by(const Manifest& manifest) {
  std::set<std::string> names{name_of(manifest)};
  for (const StateObject& state : manifest.states) names.insert(state.name);
  for (const StagedObject& staged : manifest.staged) names.insert(staged.name);
  for (const KeptCheckpoint& kept : manifest.kept) {
    names.insert(kept.manifest);
    names.insert(kept.objects.begin(), kept.objects.end());
  }
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

Sweeper::Sweeper(Env& env) : channels_(std::make_shared<Channels>()) {
  channels_->done.bind(env.parker);
  task_ = env.tasks.start("sweeper", [channels = channels_](Env& own) { run(own, *channels); });
}

void Sweeper::remove(std::vector<std::string> names) { give({std::move(names), {}, {}}); }

bool Sweeper::sweep_before(Term term, std::set<std::string> reached) {
  return give({{}, term, std::move(reached)});
}

bool Sweeper::give(Order order) {
  count_done();
  if (undone_ == most_undone) return false;
  const bool is_put = channels_->orders.try_put(order);
  invariant(is_put, "there is room for all that may be undone");
  ++undone_;
  return true;
}

void Sweeper::count_done() {
  while (const auto done = channels_->done.try_take()) undone_ -= *done;
}

bool Sweeper::is_idle() {
  count_done();
  return undone_ == 0;
}

void Sweeper::end() {
  task_->cancel();
  task_->join(Instant::never());
}

void Sweeper::run(Env& env, Channels& channels) {
  channels.orders.bind(env.parker);
  Work work(env);
  std::size_t orders = 0;
  while (true) {
    while (auto order = channels.orders.try_take()) {
      work.add(std::move(order->names));
      if (order->term != Term{}) work.add_terms_before(order->term, std::move(order->reached));
      ++orders;
    }
    if (orders == 0) {
      env.parker.park_until(Instant::never());
      continue;
    }
    try {
      work.finish();
      channels.done.put(std::exchange(orders, 0), env.parker);
    } catch (const WorldError&) {
      env.sleep(pause_between_tries);
    }
  }
}

}  // namespace millrace
