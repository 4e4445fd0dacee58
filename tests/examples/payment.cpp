#include "payment.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/lines.hpp"

namespace millrace::examples {
namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw BadRecord(fmt::format("`{}` is no number", text));
  }
  return number;
}

/// Takes the next word off `line`.
std::string_view next_word(std::string_view& line) {
  const auto space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

}  // namespace

Payment parse_payment(std::string_view line) {
  Payment payment;
  payment.user = next_word(line);
  payment.cents = number_in(next_word(line));
  payment.at.ms = number_in(next_word(line));
  if (!line.empty()) throw BadRecord(fmt::format("`{}` stands behind the payment", line));
  return payment;
}

Source<Payment> payments(const std::string& address) {
  return text_lines<Payment>(address, &parse_payment);
}

properties::Input some_payments(std::uint64_t records) {
  constexpr std::array users{"ada", "bob", "eve", "kim", "zoe"};
  constexpr std::int64_t begin = 1'700'000'000'000;
  std::array<std::string, 2> texts;
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t draw = mix64(i);
    texts[i % 2] += fmt::format("{} {} {}\n", users[draw % users.size()], 100 + draw / 8 % 900,
                                begin + static_cast<std::int64_t>(i) * 50);
  }
  return {{{"a.txt", texts[0], ""}, {"b.txt", texts[1], ""}}};
}

}  // namespace millrace::examples
