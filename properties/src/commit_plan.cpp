#include "millrace/properties/commit_plan.hpp"

#include <chrono>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "millrace/runtime/landmarks.hpp"
#include "millrace/sim/database_server.hpp"
#include "millrace/sim/store_server.hpp"

namespace millrace::properties {
namespace {

using namespace std::chrono_literals;

constexpr Site which_checkpoint{"commit_plan.checkpoint"};
constexpr Site which_anchor{"commit_plan.anchor"};
constexpr Site which_worker{"commit_plan.worker"};
constexpr Site which_victim{"commit_plan.victim"};
constexpr Site which_recovery{"commit_plan.recovery"};
constexpr Site which_way{"commit_plan.which_way"};
constexpr Site is_here{"commit_plan.is_here"};
constexpr Site how_long{"commit_plan.how_long"};
constexpr Site how_soon{"commit_plan.how_soon"};

/// Checkpoints that nearly every run takes.
constexpr std::uint64_t last_checkpoint = 5;
constexpr std::uint64_t most_writes = 12;

using Places = std::vector<const Landmark*>;

// Who reaches what, in each half. Rows of sinks that are not staged are visible at once; what is
// decided is whether they are written again.

Places places_of_writer(CommitHalf half, SinkMode mode) {
  if (half == CommitHalf::decided_published) return {};
  if (mode != SinkMode::staged) return {&landmarks::rows_written, &landmarks::acknowledged};
  return {&landmarks::sink_staged, &landmarks::sink_acknowledged};
}

Places places_of_owner(CommitHalf half) {
  if (half == CommitHalf::decided_published) return {&landmarks::head_swapped};
  return {&landmarks::manifest_begun, &landmarks::manifest_written, &landmarks::head_swap_begun};
}

Places places_of_committer(CommitHalf half, SinkMode mode) {
  if (half == CommitHalf::staged_decided) return {};
  if (mode != SinkMode::staged) return {&landmarks::publish_begun, &landmarks::publish_sent};
  return {&landmarks::publish_begun, &landmarks::publish_loaded, &landmarks::publish_sent};
}

class CommitPlan {
 public:
  CommitPlan(CommitHalf half, SinkMode mode, const ClusterShape& cluster, sim::Draws& draws)
      : half_(half), mode_(mode), cluster_(cluster), draws_(draws) {}

  faults::Plan of(CommitVictim victim) {
    faults::Plan plan;
    switch (victim) {
      case CommitVictim::two:
        plan.faults.push_back(strike(any_victim()));
        plan.faults.push_back(strike_after(any_victim()));
        break;
      case CommitVictim::zombie: plan.faults.push_back(put_to_sleep()); break;
      case CommitVictim::recovery:
        plan.faults.push_back(strike(any_victim()));
        plan.faults.push_back(strike_recovery());
        break;
      default: plan.faults.push_back(strike(victim));
    }
    return plan;
  }

 private:
  CommitVictim any_victim() {
    return static_cast<CommitVictim>(
        draws_.below(which_victim, static_cast<std::uint64_t>(CommitVictim::two)));
  }

  Anchor one_of(const Places& places) {
    Anchor anchor;
    anchor.landmark = places[draws_.below(which_anchor, places.size())]->name;
    if (anchor.landmark == landmarks::rows_written.name) {
      anchor.nth = 1 + draws_.below(which_checkpoint, most_writes);
      return anchor;
    }
    if (anchor.landmark == landmarks::sink_staged.name) {
      // Of many jobs most checkpoints have no rows: the so-manieth that has some.
      anchor.nth = 1 + draws_.below(which_checkpoint, last_checkpoint);
      return anchor;
    }
    // A takeover swaps the head as well, and is about no checkpoint.
    anchor.n = 1 + draws_.below(which_checkpoint, last_checkpoint);
    return anchor;
  }

  Places all_places() const {
    Places all = places_of_writer(half_, mode_);
    for (const Places& more : {places_of_owner(half_), places_of_committer(half_, mode_)}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  std::string some_worker() {
    return "worker" + std::to_string(1 + draws_.below(which_worker, cluster_.workers));
  }

  /// Where a victim is struck by being where it speaks, and else by name.
  struct Target {
    std::string node;
    Anchor at;
  };
  Target target(CommitVictim victim) {
    Places own;
    std::string name;
    switch (victim) {
      case CommitVictim::writer:
        own = places_of_writer(half_, mode_);
        name = some_worker();
        break;
      case CommitVictim::committer:
        own = places_of_committer(half_, mode_);
        name = "worker1";  // It runs where subtask 0 of its sink does.
        break;
      case CommitVictim::coordinator: own = places_of_owner(half_); break;
      case CommitVictim::database: name = sim::database_node; break;
      case CommitVictim::store: name = sim::store_node; break;
      default: name = some_worker();
    }
    if (!own.empty()) return {std::string(faults::here), one_of(own)};
    return {name, one_of(all_places())};
  }

  faults::Fault kill(std::string node, faults::Moment at) {
    const auto down = span();
    if (draws_.below(which_way, 2) == 0) return faults::Kill{std::move(node), std::move(at), down};
    return faults::PowerLoss{std::move(node), std::move(at), down};
  }

  faults::Fault strike(CommitVictim victim) {
    Target struck = target(victim);
    return kill(std::move(struck.node), std::move(struck.at));
  }

  /// The second of two. Nobody is there any more, so it is known by name.
  faults::Fault strike_after(CommitVictim victim) {
    const std::string coordinator =
        draws_.below(which_worker, 2) == 0 ? "coordinator1" : "coordinator2";
    const std::string node = victim == CommitVictim::coordinator ? coordinator
                             : victim == CommitVictim::database  ? sim::database_node
                             : victim == CommitVictim::store     ? sim::store_node
                                                                 : some_worker();
    const std::uint64_t most_us = std::uint64_t{1} << draws_.below(how_soon, 21);
    return kill(node, faults::After{1, std::chrono::microseconds(most_us)});
  }

  /// Longer than a lease and all that a takeover waits for, mostly.
  faults::Fault put_to_sleep() {
    const CommitVictim victims[] = {CommitVictim::writer, CommitVictim::committer,
                                    CommitVictim::coordinator};
    Target struck = target(victims[draws_.below(which_victim, std::size(victims))]);
    return faults::Pause{std::move(struck.node), std::move(struck.at),
                         std::chrono::milliseconds(2000 + draws_.below(how_long, 8000))};
  }

  faults::Fault strike_recovery() {
    constexpr const Landmark* places[] = {&landmarks::took_over,     &landmarks::sink_fenced,
                                          &landmarks::republished,   &landmarks::sinks_recovered,
                                          &landmarks::task_restored, &landmarks::tasks_running};
    Anchor anchor;
    anchor.landmark = places[draws_.below(which_recovery, std::size(places))]->name;
    anchor.term = 2;
    if (draws_.hits(is_here, {2, 3})) return kill(std::string(faults::here), anchor);
    return kill(draws_.below(which_worker, 2) == 0 ? sim::database_node : sim::store_node, anchor);
  }

  /// Mostly shorter than anybody waits, sometimes longer.
  std::chrono::nanoseconds span() {
    const std::uint64_t most_ms = std::uint64_t{1} << draws_.below(how_long, 13);
    return std::chrono::milliseconds(most_ms);
  }

  CommitHalf half_;
  SinkMode mode_;
  const ClusterShape& cluster_;
  sim::Draws& draws_;
};

}  // namespace

std::string_view to_text(CommitHalf half) {
  return half == CommitHalf::staged_decided ? "staged, not decided" : "decided, not published";
}

std::string_view to_text(CommitVictim victim) {
  constexpr std::string_view names[] = {"writer", "committer", "coordinator", "worker",  "database",
                                        "store",  "two",       "zombie",      "recovery"};
  return names[static_cast<std::size_t>(victim)];
}

faults::Plan commit_plan(CommitHalf half, CommitVictim victim, SinkMode mode,
                         const ClusterShape& cluster, sim::Draws& draws) {
  return CommitPlan(half, mode, cluster, draws).of(victim);
}

}  // namespace millrace::properties
