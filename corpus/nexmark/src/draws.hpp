#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/nexmark/java_random.hpp"

namespace millrace::nexmark {

// Draws that several fields share. A text that nobody keeps (`text` is null) is drawn all the same:
// what is drawn behind it depends on it.

/// In [0, bound). The benchmark's own way with bounds of 31 bits and more, which is not even.
std::int64_t draw_below(JavaRandom& random, std::int64_t bound);

/// Words of small letters, from 3 up to `most` - 1 characters before spaces at the ends are cut.
void draw_words(JavaRandom& random, std::int32_t most, std::string* text);

/// Padding for an event of `size` bytes so far: its size is then `average` within a fifth of what
/// was missing.
std::string draw_padding(JavaRandom& random, std::int32_t size, std::int32_t average);

}  // namespace millrace::nexmark
