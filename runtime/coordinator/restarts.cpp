#include "millrace/runtime/coordinator/restarts.hpp"

#include <algorithm>

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds first_pause = 100ms;
constexpr std::chrono::nanoseconds longest_pause = 5s;

}  // namespace

std::optional<std::chrono::nanoseconds> Restarts::next() {
  if (since_progress_ == most_without_progress) return std::nullopt;
  return std::min(longest_pause, first_pause * (1 << since_progress_++));
}

bool Restarts::is_poison(const std::string& error) { return ++errors_[error] >= most_of_one_error; }

}  // namespace millrace
