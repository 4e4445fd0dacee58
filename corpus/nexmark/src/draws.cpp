#include "draws.hpp"

#include <algorithm>
#include <limits>

namespace millrace::nexmark {
namespace {

constexpr std::int32_t shortest_text = 3;
constexpr std::int32_t letters = 26;

char letter(std::int32_t place) { return static_cast<char>('a' + place); }

/// Several letters come out of one draw. A draw may be negative, and then its remainders are: such
/// padding has characters from `H` on, backslashes among them.
std::string draw_letters(JavaRandom& random, std::int32_t length) {
  constexpr std::size_t letters_a_draw = 6;
  std::string text(static_cast<std::size_t>(length), ' ');
  for (std::size_t begin = 0; begin < text.size(); begin += letters_a_draw) {
    const std::size_t end = std::min(begin + letters_a_draw, text.size());
    std::int32_t drawn = random.next_int();
    for (std::size_t i = begin; i < end; ++i) {
      text[i] = letter(drawn % letters);
      drawn /= letters;
    }
  }
  return text;
}

void cut_spaces(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text.erase(0, text.find_first_not_of(' '));
}

}  // namespace

std::int64_t draw_below(JavaRandom& random, std::int64_t bound) {
  if (bound < std::numeric_limits<std::int32_t>::max()) {
    return random.next_int(static_cast<std::int32_t>(bound));
  }
  const std::int64_t remainder = random.next_long() % bound;
  return remainder < 0 ? -remainder : remainder;
}

void draw_words(JavaRandom& random, std::int32_t most, std::string* text) {
  const std::int32_t length = shortest_text + random.next_int(most - shortest_text);
  if (text != nullptr) text->clear();
  for (std::int32_t i = 0; i < length; ++i) {
    const char drawn = random.next_int(13) == 0 ? ' ' : letter(random.next_int(letters));
    if (text != nullptr) text->push_back(drawn);
  }
  if (text != nullptr) cut_spaces(*text);
}

std::string draw_padding(JavaRandom& random, std::int32_t size, std::int32_t average) {
  const std::int32_t missing = average - size;
  if (missing < 0) return {};
  const std::int32_t spread = (2 * missing + 5) / 10;  // A fifth, rounded.
  const std::int32_t more = spread == 0 ? 0 : random.next_int(2 * spread);
  return draw_letters(random, missing - spread + more);
}

}  // namespace millrace::nexmark
