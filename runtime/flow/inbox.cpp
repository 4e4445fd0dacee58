#include "millrace/runtime/flow/inbox.hpp"

namespace millrace {
namespace {

constexpr Site lane_rank{"inbox.lane"};
constexpr std::uint64_t ranks = std::uint64_t{1} << 32;

}  // namespace

Inbox::Inbox(Env& env, int lanes) : env_(env), lanes_(static_cast<std::size_t>(lanes)) {}

void Inbox::attach(int lane, std::unique_ptr<LaneIn> in) {
  lanes_[static_cast<std::size_t>(lane)].in = std::move(in);
}

void Inbox::release_all() {
  for (Slot& slot : lanes_) slot.held = false;
}

std::optional<Inbox::Taken> Inbox::try_take() {
  Slot* chosen = nullptr;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::size_t at = (turn_ + i) % lanes_.size();
    Slot& slot = lanes_[at];
    if (slot.held || slot.in == nullptr) continue;
    if (!slot.next) {
      slot.next = slot.in->try_take();
      if (!slot.next) continue;
      slot.rank = env_.chance.explore(lane_rank, ranks, static_cast<std::uint32_t>(at));
    }
    if (chosen == nullptr || slot.rank < chosen->rank) chosen = &slot;
  }
  if (chosen == nullptr) return std::nullopt;
  const auto lane = static_cast<std::size_t>(chosen - lanes_.data());
  turn_ = lane + 1;
  Taken taken{static_cast<int>(lane), std::move(*chosen->next)};
  chosen->next.reset();
  return taken;
}

}  // namespace millrace
