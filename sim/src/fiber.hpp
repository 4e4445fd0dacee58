#pragma once

#include <cstddef>
#include <functional>
#include <new>

#include <boost/context/fiber.hpp>

#include "millrace/sim/stack_pool.hpp"

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
  void enter();
  void leave_for_good();

  StackPool& stacks_;
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

  // For the sanitizers, which must be told about every switch.
  void* fake_stack_ = nullptr;
  void* main_fake_stack_ = nullptr;
  const void* main_bottom_ = nullptr;
  std::size_t main_size_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_main_ = nullptr;
};

}  // namespace millrace::sim
