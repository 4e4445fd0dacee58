#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/sim/choice.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::sim {

/// The book of a run's draws: what some of them are, and what all of them were.
///
/// A seed that carries one asks it at every draw. It knows which of its choices were asked for, and
/// notes on request every draw that was not 0. Belongs to whoever builds the world, and must
/// outlive it.
class DrawBook {
 public:
  enum class Notes : std::uint8_t { none, draws };

  explicit DrawBook(Notes notes = Notes::none) : notes_(notes) {}

  /// One more explicit choice. Throws UsageError: there is one of the same draw.
  void add(const Choice& choice);

  /// An entity that will draw; entities draw under the hash of their name.
  void introduce(std::uint64_t entity, std::string_view name);

  /// What draw `number` of an entity at a site is, which else would be `usual`. Below `bound`,
  /// which is 0 for any number of 64 bits.
  std::uint64_t decide(const Place& place, std::uint64_t number, std::uint64_t bound,
                       std::uint64_t usual);

  /// The choices that nobody has asked for, in their order.
  std::vector<Choice> unasked() const;

  /// All draws so far that were not 0, in the order in which they were made; empty without notes.
  /// A role that is started again in the same life draws the same again: that is one draw.
  std::vector<Drawn> drawn() const;

 private:
  struct Key {
    Domain domain;
    std::uint64_t site;
    std::uint32_t part;
    std::uint64_t entity;
    std::uint64_t number;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Note {
    Key key;
    std::string_view site;  ///< Literals of the program.
    std::uint64_t value;
    std::uint64_t bound;
  };

  std::vector<Choice> choices_;
  std::map<Key, std::size_t> index_of_;  ///< Of a choice.
  std::vector<bool> is_asked_;
  Notes notes_;
  std::vector<Note> noted_;
  std::set<Key> keys_noted_;
  std::map<std::uint64_t, std::string> names_;  ///< Of entities.
};

}  // namespace millrace::sim
