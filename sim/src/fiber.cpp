#include "fiber.hpp"

#include <cstring>
#include <utility>

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cxxabi.h>

#include "millrace/env/invariant.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_ASAN_FIBERS
#endif
#if __has_feature(thread_sanitizer)
#define MILLRACE_TSAN_FIBERS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MILLRACE_ASAN_FIBERS
#endif
#if defined(__SANITIZE_THREAD__)
#define MILLRACE_TSAN_FIBERS
#endif
#ifdef MILLRACE_ASAN_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef MILLRACE_TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

namespace millrace::sim {
namespace {

namespace context = boost::context;

// The sanitizers' frames are several times larger. Pages that are never touched cost nothing.
#if defined(MILLRACE_ASAN_FIBERS) || defined(MILLRACE_TSAN_FIBERS)
constexpr std::size_t stack_bytes = 1024 * 1024;
constexpr bool sanitized = true;
#else
constexpr std::size_t stack_bytes = 256 * 1024;
constexpr bool sanitized = false;
#endif

/// What a switch tells the sanitizers; nothing in other builds.
namespace sanitizer {

void start_switch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                  [[maybe_unused]] std::size_t size) {
#ifdef MILLRACE_ASAN_FIBERS
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}
void finish_switch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                   [[maybe_unused]] std::size_t* size) {
#ifdef MILLRACE_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}
void clean([[maybe_unused]] void* bottom, [[maybe_unused]] std::size_t size) {
#ifdef MILLRACE_ASAN_FIBERS
  __asan_unpoison_memory_region(bottom, size);
#endif
}
void* make_thread_fiber() {
#ifdef MILLRACE_TSAN_FIBERS
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
void drop_thread_fiber([[maybe_unused]] void* fiber) {
#ifdef MILLRACE_TSAN_FIBERS
  __tsan_destroy_fiber(fiber);
#endif
}
void* this_thread_fiber() {
#ifdef MILLRACE_TSAN_FIBERS
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
void switch_thread_fiber([[maybe_unused]] void* fiber) {
#ifdef MILLRACE_TSAN_FIBERS
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

/// While it lives, the sanitizers take this thread to be on another stack.
class Visit {
 public:
  Visit(const void* bottom, std::size_t size, void* thread_fiber)
      : bottom_(bottom), size_(size), home_(this_thread_fiber()) {
    start_switch(&fake_, bottom, size);
    switch_thread_fiber(thread_fiber);
  }
  ~Visit() {
    switch_thread_fiber(home_);
    // The first tells the bounds of the stack from which the visit came, the second returns there.
    finish_switch(nullptr, &bottom_, &size_);
    void* nothing = nullptr;
    start_switch(&nothing, bottom_, size_);
    finish_switch(fake_, nullptr, nullptr);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  void* fake_ = nullptr;
  const void* bottom_;
  std::size_t size_;
  void* home_;
};

}  // namespace sanitizer

/// The stack belongs to the pool, whatever Boost would like to do with it.
struct BorrowedStack {
  void deallocate(context::stack_context&) noexcept {}
};

void* bottom_of(const context::stack_context& stack) {
  return static_cast<char*>(stack.sp) - stack.size;
}

}  // namespace

StackPool::~StackPool() {
  for (const Stack& stack : free_) {
    context::stack_context used;
    used.sp = stack.top;
    used.size = stack.size_bytes;
    context::protected_fixedsize_stack(stack_bytes).deallocate(used);
  }
}

StackPool::Stack StackPool::take() {
  if (free_.empty()) {
    const auto fresh = context::protected_fixedsize_stack(stack_bytes).allocate();
    return {fresh.sp, fresh.size};
  }
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give_back(Stack stack) { free_.push_back(stack); }

Fiber::Fiber(StackPool& stacks, std::function<void()> body)
    : stacks_(stacks), body_(std::move(body)), tsan_fiber_(sanitizer::make_thread_fiber()) {
  const auto stack = stacks_.take();
  stack_.sp = stack.top;
  stack_.size = stack.size_bytes;
  // Boost enters the new stack once while it makes a fiber, and leaves a frame there. It must not
  // be one of the maker's fake frames: the maker may end first.
  const sanitizer::Visit visit(bottom_of(stack_), stack_.size, tsan_fiber_);
  ::new (slot_)
      context::fiber(std::allocator_arg, context::preallocated(stack_.sp, stack_.size, stack_),
                     BorrowedStack{}, [this](context::fiber&& outside) {
                       outside_ = &outside;
                       enter();
                       body_();
                       done_ = true;
                       leave_for_good();
                       return std::move(outside);
                     });
}

Fiber::~Fiber() { abandon(); }

void Fiber::resume() {
  invariant(!done_, "a fiber that has ended is not resumed");
  started_ = true;
  auto* const current = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  const Exceptions mine = std::exchange(*current, exceptions_);
  sanitizer::start_switch(&main_fake_stack_, bottom_of(stack_), stack_.size);
  tsan_main_ = sanitizer::this_thread_fiber();
  sanitizer::switch_thread_fiber(tsan_fiber_);
  inside() = std::move(inside()).resume();
  sanitizer::finish_switch(main_fake_stack_, nullptr, nullptr);
  exceptions_ = std::exchange(*current, mine);
  if (done_) abandon();
}

void Fiber::yield() {
  sanitizer::start_switch(&fake_stack_, main_bottom_, main_size_);
  sanitizer::switch_thread_fiber(tsan_main_);
  *outside_ = std::move(*outside_).resume();
  enter();
}

void Fiber::enter() { sanitizer::finish_switch(fake_stack_, &main_bottom_, &main_size_); }

void Fiber::leave_for_good() {
  body_ = nullptr;
  sanitizer::start_switch(nullptr, main_bottom_, main_size_);
  sanitizer::switch_thread_fiber(tsan_main_);
}

void Fiber::abandon() {
  if (std::exchange(released_, true)) return;
  done_ = true;
  sanitizer::drop_thread_fiber(tsan_fiber_);
  if (sanitized) sanitizer::clean(bottom_of(stack_), stack_.size);
  stacks_.give_back({stack_.sp, stack_.size});
}

}  // namespace millrace::sim
