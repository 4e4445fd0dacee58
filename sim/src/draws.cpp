#include "millrace/sim/draws.hpp"

#include "millrace/sim/draw_book.hpp"

namespace millrace::sim {
namespace {

/// Most entities draw at so many sites at most.
constexpr std::size_t usual_sites = 4;

}  // namespace

Draws::Draws(Seed seed, Domain domain, std::string_view entity)
    : seed_(seed), domain_(domain), entity_(hash_name(entity)) {
  if (seed_.book != nullptr) seed_.book->introduce(entity_, entity);
}

std::uint64_t Draws::below(Site site, std::uint64_t bound, std::uint32_t part) {
  Counter& here = counter(part == 0 ? site.hash : mix64(site.hash + part));
  const std::uint64_t number = here.drawn++;
  const std::uint64_t usual = seed_.quiet ? 0 : scaled(nth_draw(here.key, number), bound);
  if (seed_.book == nullptr) [[likely]]
    return usual;
  return seed_.book->decide({domain_, site, part, entity_}, number, bound, usual);
}

std::uint64_t Draws::unique(Site site) {
  constexpr std::uint64_t bound = ~std::uint64_t{0};
  Counter& here = counter(site.hash);
  const std::uint64_t number = here.drawn++;
  const std::uint64_t usual = scaled(nth_draw(here.key, number), bound);
  if (seed_.book == nullptr) [[likely]]
    return usual;
  return seed_.book->decide({domain_, site, 0, entity_}, number, bound, usual);
}

Draws::Counter& Draws::counter(std::uint64_t site) {
  for (Counter& known : counters_) {
    if (known.site == site) return known;
  }
  if (counters_.empty()) counters_.reserve(usual_sites);
  // A quiet run does not depend on its seed, not even in its names.
  const std::uint64_t seed = seed_.quiet ? 0 : seed_.value;
  return counters_.emplace_back(Counter{site, draw_key(seed, domain_, site, entity_), 0});
}

}  // namespace millrace::sim
