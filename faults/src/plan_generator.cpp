#include "millrace/faults/plan_generator.hpp"

#include <iterator>

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
constexpr Site follows{"plan.follows"};
constexpr Site how_soon{"plan.how_soon"};
constexpr Site waits_for_io{"plan.waits_for_io"};
constexpr Site which_io{"plan.io"};
constexpr Site strikes_here{"plan.strikes_here"};
constexpr Site which_disk{"plan.disk_node"};
constexpr Site which_link{"plan.link"};
constexpr Site which_control_link{"plan.control_link"};
constexpr Site is_for_all{"plan.is_for_all"};
constexpr Site which_way{"plan.way"};
constexpr Site which_operation{"plan.operation"};
constexpr Site how_slow{"plan.how_slow"};
constexpr Site how_late{"plan.how_late"};
constexpr Site is_brief{"plan.is_brief"};
constexpr Site which_chances{"plan.chances"};

constexpr std::uint64_t most_faults = 4;

/// How often each kind is drawn, in the order of the kinds. Those that end lives try the most.
constexpr std::uint64_t weights[] = {4, 3, 3, 3, 2, 1, 2, 2, 2, 1, 2};
static_assert(std::size(weights) == std::variant_size_v<Fault>);

std::size_t draw_kind(sim::Draws& draws) {
  std::uint64_t all = 0;
  for (const std::uint64_t weight : weights) all += weight;
  std::uint64_t drawn = draws.below(which_kind, all);
  std::size_t kind = 0;
  while (drawn >= weights[kind]) drawn -= weights[kind++];
  return kind;
}

/// `earlier`: how many faults there are already.
Moment draw_moment(const PlanSpace& space, std::size_t earlier, sim::Draws& draws) {
  if (draws.hits(follows, {1, 4}) && earlier != 0) {
    // Into what is being done about the last one: nearly everything of that takes below a second,
    // much of it far less.
    const std::uint64_t most_us = std::uint64_t{1} << draws.below(how_soon, 21);
    return After{earlier, std::chrono::microseconds(most_us)};
  }
  if (draws.hits(is_anchored, {3, 4})) {
    Anchor anchor;
    anchor.landmark = space.anchors[draws.below(which_anchor, space.anchors.size())]->name;
    // Many moments come once or twice in a run, others with every checkpoint.
    const std::uint64_t most = draws.hits(is_early, {2, 3}) ? 2 : space.checkpoints + 1;
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

/// What an answer is late by: longer than anybody waits for it.
std::chrono::nanoseconds draw_lateness(sim::Draws& draws) {
  return std::chrono::milliseconds(5'500 + draws.below(how_late, 6'500));
}

/// Something that fails at every use: mostly so briefly that a few uses meet it.
std::chrono::nanoseconds draw_failing_span(std::chrono::nanoseconds span, sim::Draws& draws) {
  const auto ms = span / 1ms;
  return std::chrono::milliseconds(draws.hits(is_brief, {1, 2}) ? 5 + ms / 16 : ms);
}

sim::FrameChances draw_chances(sim::Draws& draws) {
  // By harm.
  constexpr sim::FrameChances all[] = {
      {{0, 1}, {1, 2}, {0, 1}}, {{0, 1}, {0, 1}, {1, 2}}, {{1, 4}, {0, 1}, {0, 1}},
      {{1, 4}, {1, 4}, {1, 4}}, {{1, 2}, {1, 4}, {1, 4}},
  };
  return all[draws.below(which_chances, std::size(all))];
}

/// Draws one fault. Everything is asked for each, whatever kind it is, so that a weight that is
/// changed moves no other answer.
class FaultDraws {
 public:
  FaultDraws(const PlanSpace& space, std::size_t earlier, sim::Draws& draws)
      : node_(space.nodes[draws.below(which_node, space.nodes.size())]),
        disk_node_(space.disk_nodes[draws.below(which_disk, space.disk_nodes.size())]),
        link_(space.links[draws.below(which_link, space.links.size())]),
        control_link_(
            space.control_links[draws.below(which_control_link, space.control_links.size())]),
        operation_(space.operations[draws.below(which_operation, space.operations.size())]),
        moment_(draw_moment(space, earlier, draws)),
        span_(draw_span(draws)),
        io_(draws.hits(waits_for_io, {1, 6}) ? 1 + draws.below(which_io, 12) : 0),
        failing_span_(draw_failing_span(span_, draws)),
        lateness_(draw_lateness(draws)),
        way_(static_cast<sim::Way>(draws.below(which_way, 3))),
        slowness_(std::chrono::milliseconds(1 + draws.below(how_slow, 700))),
        chances_(draw_chances(draws)) {
    if (draws.hits(is_for_all, {1, 4})) {
      link_.peer = everybody;
      control_link_.peer = everybody;
    }
    const bool is_here = draws.hits(strikes_here, {1, 3});
    if (io_ != 0) {
      node_ = disk_node_;
    } else if (is_here && std::holds_alternative<Anchor>(moment_)) {
      node_ = here;
    }
  }

  Fault of(std::size_t kind) const {
    switch (kind) {
      case 0: return Kill{node_, moment_, span_, io_};
      case 1: return PowerLoss{node_, moment_, span_, io_};
      case 2: return Pause{node_, moment_, span_, io_};
      case 3: return Cut{link_.node, link_.peer, way_, moment_, span_};
      case 4: return Reset{link_.node, link_.peer, moment_};
      case 5: return Slow{link_.node, link_.peer, moment_, span_, slowness_};
      case 6: return LoseAnswer{operation_.node, operation_.name, moment_};
      case 7: return LateAnswer{operation_.node, operation_.name, moment_, lateness_};
      case 8: return DiskError{disk_node_, moment_, failing_span_};
      case 9: return DiskFull{disk_node_, moment_, span_};
      default: return Frames{control_link_.node, control_link_.peer, moment_, span_, chances_};
    }
  }

 private:
  std::string node_;
  std::string disk_node_;
  PlanSpace::Link link_;
  PlanSpace::Link control_link_;
  PlanSpace::Operation operation_;
  Moment moment_;
  std::chrono::nanoseconds span_;
  std::uint64_t io_;
  std::chrono::nanoseconds failing_span_;
  std::chrono::nanoseconds lateness_;
  sim::Way way_;
  std::chrono::nanoseconds slowness_;
  sim::FrameChances chances_;
};

}  // namespace

Plan generate_plan(const PlanSpace& space, sim::Draws& draws) {
  Plan plan;
  const std::uint64_t count = 1 + draws.below(fault_count, most_faults);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t kind = draw_kind(draws);
    plan.faults.push_back(FaultDraws(space, plan.faults.size(), draws).of(kind));
  }
  return plan;
}

}  // namespace millrace::faults
