#include "millrace/env/identity.hpp"

#include <charconv>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace millrace {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_text(CheckpointId id) {
  return fmt::format(FMT_COMPILE("{}.{}"), id.term.number, id.n);
}

std::string to_text(Lineage lineage) {
  return fmt::format("{:016x}{:016x}", lineage.high, lineage.low);
}

std::optional<CheckpointId> parse_checkpoint_id(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto term = parse_number(text.substr(0, dot), 10);
  const auto n = parse_number(text.substr(dot + 1), 10);
  if (!term || !n) return std::nullopt;
  return CheckpointId{{*term}, *n};
}

std::optional<Lineage> parse_lineage(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = parse_number(text.substr(0, 16), 16);
  const auto low = parse_number(text.substr(16), 16);
  if (!high || !low) return std::nullopt;
  return Lineage{*high, *low};
}

}  // namespace millrace
