#include "millrace/env/env.hpp"

namespace millrace {

void Env::sleep(std::chrono::nanoseconds span) const {
  const Instant end = in(span);
  while (clock.now() < end) parker.park_until(end);
}

}  // namespace millrace
