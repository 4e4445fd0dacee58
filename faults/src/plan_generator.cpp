#include "millrace/faults/plan_generator.hpp"

namespace millrace::faults {
namespace {

using namespace std::chrono_literals;

constexpr Site fault_count{"plan.count"};
constexpr Site which_kind{"plan.kind"};
constexpr Site which_node{"plan.node"};
constexpr Site is_anchored{"plan.is_anchored"};
constexpr Site which_anchor{"plan.anchor"};
constexpr Site is_early{"plan.is_early"};
constexpr Site which_time{"plan.nth"};
constexpr Site which_instant{"plan.instant"};
constexpr Site how_long{"plan.how_long"};
constexpr Site is_long{"plan.is_long"};

constexpr std::uint64_t most_faults = 4;

Moment draw_moment(const PlanSpace& space, sim::Draws& draws) {
  if (draws.hits(is_anchored, {3, 4})) {
    Anchor anchor;
    anchor.landmark = space.anchors[draws.below(which_anchor, space.anchors.size())]->name;
    // Many moments come once or twice in a run, others with every checkpoint.
    const std::uint64_t most = draws.hits(is_early, {1, 2}) ? 2 : space.checkpoints + 1;
    anchor.nth = 1 + draws.below(which_time, most);
    return anchor;
  }
  const auto span = static_cast<std::uint64_t>(space.span.count());
  // Whole microseconds: a plan is for people, too.
  return Instant{static_cast<std::int64_t>(draws.below(which_instant, span / 1000) * 1000)};
}

/// Mostly shorter than anybody waits, sometimes longer than a lease.
std::chrono::nanoseconds draw_span(sim::Draws& draws) {
  if (draws.hits(is_long, {1, 4})) {
    return std::chrono::milliseconds(2000 + draws.below(how_long, 5000));
  }
  return std::chrono::milliseconds(1 + draws.below(how_long, 1000));
}

}  // namespace

Plan generate_plan(const PlanSpace& space, sim::Draws& draws) {
  Plan plan;
  const std::uint64_t count = 1 + draws.below(fault_count, most_faults);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string& node = space.nodes[draws.below(which_node, space.nodes.size())];
    const std::uint64_t kind = draws.below(which_kind, std::variant_size_v<Fault>);
    const Moment moment = draw_moment(space, draws);
    const auto span = draw_span(draws);
    if (kind == 0) plan.faults.push_back(Kill{node, moment, span});
    if (kind == 1) plan.faults.push_back(PowerLoss{node, moment, span});
    if (kind == 2) plan.faults.push_back(Pause{node, moment, span});
  }
  return plan;
}

}  // namespace millrace::faults
