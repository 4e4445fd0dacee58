#include "millrace/sim/draw_book.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"

namespace millrace::sim {

void DrawBook::add(const Choice& choice) {
  const Key key{choice.domain, hash_name(choice.site), choice.part, hash_name(choice.entity),
                choice.draw};
  if (!index_of_.emplace(key, choices_.size()).second) {
    throw UsageError(
        fmt::format("choice `{}`: there is another of the same draw", to_text(choice)));
  }
  choices_.push_back(choice);
  is_asked_.push_back(false);
}

void DrawBook::introduce(std::uint64_t entity, std::string_view name) {
  if (notes_ == Notes::draws) names_.emplace(entity, name);
}

std::uint64_t DrawBook::decide(const Place& place, std::uint64_t number, std::uint64_t bound,
                               std::uint64_t usual) {
  const Key key{place.domain, place.site.hash, place.part, place.entity, number};
  std::uint64_t value = usual;
  if (const auto chosen = index_of_.find(key); chosen != index_of_.end()) {
    is_asked_[chosen->second] = true;
    value = choices_[chosen->second].value;
    if (bound != 0) value = std::min(value, bound - 1);
  }
  if (notes_ == Notes::draws && value != 0 && keys_noted_.insert(key).second) {
    noted_.push_back({key, place.site.name, value, bound});
  }
  return value;
}

std::vector<Choice> DrawBook::unasked() const {
  std::vector<Choice> unasked;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!is_asked_[i]) unasked.push_back(choices_[i]);
  }
  return unasked;
}

std::vector<Drawn> DrawBook::drawn() const {
  std::vector<Drawn> drawn;
  drawn.reserve(noted_.size());
  for (const Note& note : noted_) {
    drawn.push_back({{note.key.domain, std::string(note.site), names_.at(note.key.entity),
                      note.key.part, note.key.number, note.value},
                     note.bound});
  }
  return drawn;
}

}  // namespace millrace::sim
