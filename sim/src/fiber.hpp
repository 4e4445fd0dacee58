#pragma once

#include <cstddef>
#include <functional>
#include <new>
#include <utility>

#include <boost/context/fiber.hpp>

#include "millrace/env/invariant.hpp"
#include "millrace/sim/stack_pool.hpp"

#include "sanitizer.hpp"

namespace millrace::sim {

/// A function on a stack of its own, which can stop in the middle and go on later.
///
/// The only place that knows Boost.Context. A fiber is resumed by the main stack and yields to it;
/// fibers do not switch to each other.
class Fiber {
 public:
  Fiber(StackPool& stacks, std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it yields or ends. From the main stack.
  void resume();
  /// Goes back to the main stack until resumed. From the body.
  void yield();

  bool started() const { return started_; }
  bool done() const { return done_; }

  /// Gives up a fiber that will not end: no destructor on its stack runs, and what they would have
  /// freed is lost. Also what happens to a fiber that is destroyed before its end.
  void abandon();

 private:
  boost::context::fiber& inside() {
    return *std::launder(reinterpret_cast<boost::context::fiber*>(slot_));
  }
  void* bottom() const { return static_cast<char*>(stack_.sp) - stack_.size; }
  void enter() { sanitizer::finish_switch(fake_stack_, &main_bottom_, &main_size_); }
  void leave_for_good();

  StackPool& stacks_;
  StackPool::Stack pooled_;
  boost::context::stack_context stack_;
  std::function<void()> body_;
  // Not a member proper: destroying a suspended boost fiber unwinds it by an exception of its own,
  // which terminates in noexcept functions.
  alignas(boost::context::fiber) std::byte slot_[sizeof(boost::context::fiber)];
  boost::context::fiber* outside_ = nullptr;
  bool started_ = false;
  bool done_ = false;
  bool released_ = false;

  // The C++ runtime keeps the exceptions that are being handled per thread; a fiber takes its own
  // along, or `throw;` in one would rethrow another's.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  Exceptions exceptions_;
  Exceptions* exceptions_of_thread_;

  // For the sanitizers, which must be told about every switch.
  void* fake_stack_ = nullptr;
  void* main_fake_stack_ = nullptr;
  const void* main_bottom_ = nullptr;
  std::size_t main_size_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_main_ = nullptr;
};

// Both inline: each call that is left on the other stack is a return that the processor predicts
// wrong, and that is most of what a switch costs.

inline void Fiber::resume() {
  invariant(!done_, "a fiber that has ended is not resumed");
  started_ = true;
  const Exceptions mine = std::exchange(*exceptions_of_thread_, exceptions_);
  sanitizer::start_switch(&main_fake_stack_, bottom(), stack_.size);
  tsan_main_ = sanitizer::this_thread_fiber();
  sanitizer::switch_thread_fiber(tsan_fiber_);
  inside() = std::move(inside()).resume();
  sanitizer::finish_switch(main_fake_stack_, nullptr, nullptr);
  exceptions_ = std::exchange(*exceptions_of_thread_, mine);
  if (done_) abandon();
}

inline void Fiber::yield() {
  sanitizer::start_switch(&fake_stack_, main_bottom_, main_size_);
  sanitizer::switch_thread_fiber(tsan_main_);
  *outside_ = std::move(*outside_).resume();
  enter();
}

}  // namespace millrace::sim
