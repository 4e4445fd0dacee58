#include "millrace/runtime/state/object_names.hpp"

#include <charconv>

#include <fmt/format.h>

namespace millrace::object_names {

std::string manifest(CheckpointId id) { return "manifest/" + to_text(id); }

std::string genesis(Lineage lineage) { return "manifest/0.0-" + to_text(lineage); }

std::string state(CheckpointId id, std::string_view task) {
  return fmt::format("state/{}-{}", to_text(id), task);
}

std::string staged(CheckpointId id, std::string_view sink, std::uint32_t subtask) {
  return fmt::format("staged/{}-{}.{}", to_text(id), sink, subtask);
}

std::string heartbeat(Term term) { return fmt::format("heartbeat/{}", term.number); }

std::optional<Term> term_of(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto rest = name.substr(slash + 1);
  std::uint64_t term = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), term);
  if (error != std::errc{} || end == rest.data()) return std::nullopt;
  return Term{term};
}

}  // namespace millrace::object_names
