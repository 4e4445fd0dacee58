#include "millrace/sim/draws.hpp"

namespace millrace::sim {

std::uint64_t Draws::below(Site site, std::uint64_t bound, std::uint32_t part) {
  Place& here = place(part == 0 ? site.hash : mix64(site.hash + part));
  const std::uint64_t bits = nth_draw(here.key, here.drawn++);
  return seed_.quiet ? 0 : scaled(bits, bound);
}

Draws::Place& Draws::place(std::uint64_t site) {
  for (Place& known : places_) {
    if (known.site == site) return known;
  }
  return places_.emplace_back(Place{site, draw_key(seed_.value, domain_, site, entity_), 0});
}

}  // namespace millrace::sim
