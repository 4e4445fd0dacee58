#include "descriptor.hpp"

#include <unistd.h>

namespace millrace::posix {

void Descriptor::close() noexcept {
  // Not repeated when a signal interrupts it: the number is free already and may be somebody
  // else's.
  if (is_open()) ::close(std::exchange(number_, -1));
}

}  // namespace millrace::posix
