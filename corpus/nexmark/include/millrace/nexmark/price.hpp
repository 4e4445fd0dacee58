#pragma once

#include <cstdint>

namespace millrace::nexmark {

/// 10^(6u) dollars in cents, rounded, for u = `fraction` / 2^53 in [0, 1): from a dollar to a
/// million, each power of ten as likely as another.
///
/// Whole numbers only, so a price is the same on every machine; a `pow` of floating point is not,
/// since libraries may err in the last bit, each in its own way. From the benchmark's own prices,
/// which come of such a `pow`, these can differ by a cent where the unrounded price is within
/// 10^-6 of the middle between two; in the first ten million events none does.
std::int64_t price_of(std::uint64_t fraction);

}  // namespace millrace::nexmark
