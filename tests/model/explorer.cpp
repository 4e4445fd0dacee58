#include "explorer.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace::model {
namespace {

bool same(const World& one, const World& other) {
  return std::memcmp(&one, &other, sizeof(World)) == 0;
}

/// The states seen so far, numbered in the order of their discovery, and from which of them each
/// was first reached.
class States {
 public:
  std::size_t size() const { return worlds_.size(); }
  const World& operator[](std::size_t number) const { return worlds_[number]; }
  std::uint32_t parent(std::size_t number) const { return parents_[number]; }

  /// Returns false if it was there.
  bool add(const World& world, std::uint32_t parent) {
    Slot& slot = find(world);
    if (slot.number != none) return false;
    slot.number = static_cast<std::uint32_t>(worlds_.size());
    worlds_.push_back(world);
    parents_.push_back(parent);
    if (worlds_.size() * 2 > table_.size()) grow();
    return true;
  }

  static constexpr std::uint32_t none = 0xFFFFFFFF;

 private:
  struct Slot {
    std::uint32_t number = none;
    std::uint32_t part_of_hash = 0;  ///< Spares most looks at a state that is another.
  };

  /// Where a state is, or belongs. What is empty has the part of its hash already.
  Slot& find(const World& world) {
    const auto hash = checksum(std::as_bytes(std::span(&world, 1)));
    const auto part = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at].number != none &&
           (table_[at].part_of_hash != part || !same(worlds_[table_[at].number], world))) {
      at = (at + 1) & (table_.size() - 1);
    }
    table_[at].part_of_hash = part;
    return table_[at];
  }

  void grow() {
    table_.assign(table_.size() * 2, Slot{});
    for (std::size_t number = 0; number < worlds_.size(); ++number) {
      find(worlds_[number]).number = static_cast<std::uint32_t>(number);
    }
  }

  std::deque<World> worlds_;  ///< They stay where they are.
  std::vector<std::uint32_t> parents_;
  std::vector<Slot> table_ = std::vector<Slot>(std::size_t{1} << 16);  ///< At most half full.
};

class Search {
 public:
  Search(const Rules& rules, const Bounds& bounds, ClaimSet held)
      : rules_(rules), held_(held), catalogue_(rules, bounds), steps_(rules, bounds, catalogue_) {}

  Exploration run(std::uint64_t most_states) {
    states_.add(steps_.beginning(), States::none);
    std::size_t end_of_depth = 1;
    for (std::size_t number = 0; number < states_.size(); ++number) {
      if (number == end_of_depth) {
        ++found_.longest;
        end_of_depth = states_.size();
      }
      if (states_.size() > most_states) return finished(false);
      if (!visit(static_cast<std::uint32_t>(number))) return finished(false);
    }
    return finished(true);
  }

 private:
  Exploration finished(bool exhausted) {
    found_.states = states_.size();
    found_.seen = steps_.seen();
    found_.exhausted = exhausted;
    return found_;
  }

  /// Returns false if a claim is broken.
  bool visit(std::uint32_t number) {
    const World& world = states_[number];
    bool is_end = true;
    for (const Step& step : steps_.from(world, false)) {
      ++found_.steps;
      is_end = is_end && step.is_crash;
      if (const auto claim = broken_by_step(world, step.after, catalogue_, held_)) {
        return convict(*claim, number, step.after);
      }
      if (!states_.add(step.after, number)) continue;
      if (const auto claim = broken_in(step.after, rules_, catalogue_, held_)) {
        return convict(*claim, number, step.after);
      }
    }
    if (!is_end) return true;
    ++found_.ends;
    if (has_live_owner(world)) ++found_.ends_with_owner;
    if (const auto claim = broken_at_end(world, catalogue_, held_))
      return convict(*claim, number, world);
    return true;
  }

  /// Tells the way to `last`, whose predecessor has a number.
  bool convict(Claim claim, std::uint32_t number, const World& last) {
    std::vector<World> way;
    if (!same(states_[number], last)) way.push_back(last);
    for (; number != States::none; number = states_.parent(number)) way.push_back(states_[number]);
    std::reverse(way.begin(), way.end());
    CounterExample example{claim, {}};
    for (std::size_t at = 0; at + 1 < way.size(); ++at) {
      const auto steps = steps_.from(way[at], true);
      const auto taken = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
        return same(step.after, way[at + 1]);
      });
      invariant(taken != steps.end(), "a state was reached by a step");
      example.story.push_back(taken->story);
    }
    found_.counter_example = std::move(example);
    return false;
  }

  const Rules& rules_;
  const ClaimSet held_;
  Catalogue catalogue_;
  Steps steps_;
  States states_;
  Exploration found_;
};

}  // namespace

Exploration explore(const Rules& rules, const Bounds& bounds, ClaimSet held,
                    std::uint64_t most_states) {
  return Search(rules, bounds, held).run(most_states);
}

std::string report(const Exploration& exploration) {
  std::string text = fmt::format(
      "{} states by {} steps, the farthest after {}; {} ends, {} of them with an owner; {}\n",
      exploration.states, exploration.steps, exploration.longest, exploration.ends,
      exploration.ends_with_owner,
      exploration.exhausted ? "that is all there are" : "there are more");
  for (int sight = 0; sight < sights; ++sight) {
    text += fmt::format("  {:>9} times {}\n", exploration.times(static_cast<Sight>(sight)),
                        to_text(static_cast<Sight>(sight)));
  }
  if (const auto& example = exploration.counter_example) {
    text += fmt::format("broken: {}\n", to_text(example->broken));
    for (std::size_t at = 0; at < example->story.size(); ++at) {
      text += fmt::format("  {:>2}. {}\n", at + 1, example->story[at]);
    }
  }
  return text;
}

}  // namespace millrace::model
