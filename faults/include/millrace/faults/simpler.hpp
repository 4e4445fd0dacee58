#pragma once

#include <chrono>
#include <vector>

#include "millrace/faults/fault.hpp"

namespace millrace::faults {

/// Faults that could stand in the place of `fault` and say less: a milder kind, a moment with fewer
/// conditions or lower numbers, a shorter outage. In the order in which they are worth trying.
///
/// Each is smaller in one thing and larger in none, so replacing a fault by one of these, again and
/// again, comes to an end. Nothing is said about whether what comes of it is the same.
std::vector<Fault> simpler_than(const Fault& fault);

/// Shorter spans, round ones, in the order in which they are worth trying: the powers of ten from a
/// millisecond on, then the next shorter one of the row 1, 2, 5, 10. None of a span that is not
/// above a millisecond.
std::vector<std::chrono::nanoseconds> shorter_than(std::chrono::nanoseconds span);

/// Lower numbers that are at least `least`, in the order in which they are worth trying: the least,
/// the one half way, the next. None of the least.
std::vector<std::uint64_t> lower_than(std::uint64_t number, std::uint64_t least);

}  // namespace millrace::faults
