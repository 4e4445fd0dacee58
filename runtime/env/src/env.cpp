#include "millrace/env/env.hpp"

namespace millrace {

void Env::sleep(std::chrono::nanoseconds span) const {
  const Instant end = in(span);
  InnerWait wait(parker);
  while (clock.now() < end) wait.until(end);
}

}  // namespace millrace
