#include "mini_loop.hpp"

#include <algorithm>
#include <utility>

#include <boost/context/pooled_fixedsize_stack.hpp>

namespace millrace::bench {
namespace {

/// Stacks are kept from one loop to the next.
boost::context::pooled_fixedsize_stack& stacks() {
  static boost::context::pooled_fixedsize_stack pool(64 * 1024);
  return pool;
}

}  // namespace

MiniLoop::~MiniLoop() = default;

std::size_t MiniLoop::add(std::function<void()> body) {
  fibers_.push_back(std::make_unique<Slot>());
  Slot& slot = *fibers_.back();
  Slot* const before = std::exchange(running_, &slot);
  slot.inside = Fiber(std::allocator_arg, stacks(), [&slot, body = std::move(body)](Fiber&& from) {
    slot.outside = std::move(from);
    body();
    return std::move(slot.outside);
  });
  slot.inside = std::move(slot.inside).resume();
  running_ = before;
  return fibers_.size() - 1;
}

std::uint64_t MiniLoop::wait() {
  Slot& slot = *running_;
  slot.outside = std::move(slot.outside).resume();
  return slot.payload;
}

void MiniLoop::push(const Event& event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), std::greater<>{});
}

void MiniLoop::run() {
  stopped_ = false;
  while (!events_.empty() && !stopped_) {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>{});
    const Event event = events_.back();
    events_.pop_back();
    now_ = event.at;
    running_ = fibers_[event.fiber].get();
    if (!running_->inside) continue;
    running_->payload = event.payload;
    running_->inside = std::move(running_->inside).resume();
  }
}

}  // namespace millrace::bench
