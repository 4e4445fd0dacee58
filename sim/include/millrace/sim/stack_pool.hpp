#pragma once

#include <cstddef>
#include <vector>

namespace millrace::sim {

/// Stacks for fibers, each with a guard page, kept for the next run: mapping one costs as much as
/// three hundred fibers that reuse one. Outlives the worlds that use it.
class StackPool {
 public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  struct Stack {
    void* top = nullptr;  ///< Stacks grow down.
    std::size_t size_bytes = 0;
    std::size_t unused_bytes = 0;  ///< Above the top.
  };
  Stack take();
  void give_back(Stack stack);

 private:
  std::vector<Stack> free_;
  std::size_t made_ = 0;
};

}  // namespace millrace::sim
