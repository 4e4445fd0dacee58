#pragma once

#include <cstddef>

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

/// What a switch of stacks tells the sanitizers; nothing in other builds.
namespace millrace::sim::sanitizer {

#if defined(MILLRACE_ASAN_FIBERS) || defined(MILLRACE_TSAN_FIBERS)
inline constexpr bool is_there = true;
#else
inline constexpr bool is_there = false;
#endif

inline void start_switch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                         [[maybe_unused]] std::size_t size) {
#ifdef MILLRACE_ASAN_FIBERS
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}
inline void finish_switch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                          [[maybe_unused]] std::size_t* size) {
#ifdef MILLRACE_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}
inline void clean([[maybe_unused]] void* bottom, [[maybe_unused]] std::size_t size) {
#ifdef MILLRACE_ASAN_FIBERS
  __asan_unpoison_memory_region(bottom, size);
#endif
}
inline void* make_thread_fiber() {
#ifdef MILLRACE_TSAN_FIBERS
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
inline void drop_thread_fiber([[maybe_unused]] void* fiber) {
#ifdef MILLRACE_TSAN_FIBERS
  __tsan_destroy_fiber(fiber);
#endif
}
inline void* this_thread_fiber() {
#ifdef MILLRACE_TSAN_FIBERS
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
inline void switch_thread_fiber([[maybe_unused]] void* fiber) {
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

}  // namespace millrace::sim::sanitizer
