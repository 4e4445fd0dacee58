#include "fiber.hpp"

#include <utility>

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cxxabi.h>

namespace millrace::sim {
namespace {

namespace context = boost::context;

// The sanitizers' frames are several times larger. Pages that are never touched cost nothing.
constexpr std::size_t stack_bytes = (sanitizer::is_there ? 1024 : 256) * 1024;

/// Stacks that all begin at a page's end would share a few sets of the processor's cache, and drive
/// each other out of it with every switch. So they begin at different lines of their last page.
constexpr std::size_t beginnings = 32;
constexpr std::size_t bytes_between_beginnings = 128;

/// The stack belongs to the pool, whatever Boost would like to do with it.
struct BorrowedStack {
  void deallocate(context::stack_context&) noexcept {}
};

}  // namespace

StackPool::~StackPool() {
  for (const Stack& stack : free_) {
    context::stack_context used;
    used.sp = static_cast<char*>(stack.top) + stack.unused_bytes;
    used.size = stack.size_bytes + stack.unused_bytes;
    context::protected_fixedsize_stack(stack_bytes).deallocate(used);
  }
}

StackPool::Stack StackPool::take() {
  if (free_.empty()) {
    const auto fresh = context::protected_fixedsize_stack(stack_bytes).allocate();
    const std::size_t unused = made_++ % beginnings * bytes_between_beginnings;
    return {static_cast<char*>(fresh.sp) - unused, fresh.size - unused, unused};
  }
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give_back(Stack stack) { free_.push_back(stack); }

Fiber::Fiber(StackPool& stacks, std::function<void()> body)
    : stacks_(stacks),
      body_(std::move(body)),
      exceptions_of_thread_(reinterpret_cast<Exceptions*>(abi::__cxa_get_globals())),
      tsan_fiber_(sanitizer::make_thread_fiber()) {
  pooled_ = stacks_.take();
  stack_.sp = pooled_.top;
  stack_.size = pooled_.size_bytes;
  // Boost enters the new stack once while it makes a fiber, and leaves a frame there. It must not
  // be one of the maker's fake frames: the maker may end first.
  const sanitizer::Visit visit(bottom(), stack_.size, tsan_fiber_);
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

void Fiber::leave_for_good() {
  body_ = nullptr;
  sanitizer::start_switch(nullptr, main_bottom_, main_size_);
  sanitizer::switch_thread_fiber(tsan_main_);
}

void Fiber::abandon() {
  if (std::exchange(released_, true)) return;
  done_ = true;
  sanitizer::drop_thread_fiber(tsan_fiber_);
  if (sanitizer::is_there) sanitizer::clean(bottom(), stack_.size);
  stacks_.give_back(pooled_);
}

}  // namespace millrace::sim
