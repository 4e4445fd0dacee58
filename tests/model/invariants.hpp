#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "catalogue.hpp"
#include "rules.hpp"
#include "world.hpp"

namespace millrace::model {

/// What must be true, whatever happens. Each is a sentence, which `to_text` gives.
enum class Claim : std::uint8_t {
  // Of each step.
  decided_is_kept,     ///< A head is made of the one that it replaces.
  readers_go_forward,  ///< What was visible stays visible, and the marker never falls.
  // Of each state.
  one_owner_a_version,  ///< No two coordinators believe to have written the same version.
  winners_are_ancestors,
  head_is_readable,        ///< Its manifest, and the state that this names.
  unpublished_is_kept,     ///< Staged rows that it lists and that are not visible.
  visible_is_decided,      ///< And whole, and each row once.
  no_owner_is_refused,     ///< Nobody who still owns the job gives it up.
  takeover_would_publish,  ///< Whoever takes over now, undisturbed, shows all that was decided.
  // Of the ends, where nothing more can happen.
  all_is_visible,
};
inline constexpr int claims = 10;
std::string_view to_text(Claim claim);

/// Which claims an exploration is to hold the rules to.
class ClaimSet {
 public:
  static constexpr ClaimSet all() { return ClaimSet((1U << claims) - 1); }
  constexpr ClaimSet without(Claim claim) const { return ClaimSet(bits_ & ~bit(claim)); }
  constexpr bool has(Claim claim) const { return (bits_ & bit(claim)) != 0; }

 private:
  constexpr explicit ClaimSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Claim claim) { return 1U << static_cast<unsigned>(claim); }
  std::uint32_t bits_;
};

/// The first claim that a step breaks.
std::optional<Claim> broken_by_step(const World& before, const World& after,
                                    const Catalogue& catalogue, ClaimSet held);

/// The first claim that is broken in a state.
std::optional<Claim> broken_in(const World& world, const Rules& rules, Catalogue& catalogue,
                               ClaimSet held);

/// Whether somebody is left who owns the job and does what owners do.
bool has_live_owner(const World& world);
/// For a state in which nothing can happen any more but crashes.
std::optional<Claim> broken_at_end(const World& world, const Catalogue& catalogue, ClaimSet held);

}  // namespace millrace::model
