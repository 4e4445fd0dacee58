// q8: every auction whose seller came in the same tumbling window: id and name of the seller, and
// the reserve.
//
// Both sides of this join end with the window, so it is a fold: of a person's window it keeps who
// came, and what was offered. An id is one person's.

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/queries.hpp"
#include "millrace/runtime/state/few.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

std::int64_t person_in(const Event& event) { return is_person(event) ? event.id : event.person; }

struct Offers {
  /// Somebody's coming, or an offer.
  struct Part {
    std::int64_t reserve = 0;
    std::uint32_t name = 0;
    bool has_come = false;
  };
  struct State {
    std::optional<std::uint32_t> name;  ///< Of the seller, who has come.
    Few<std::int64_t> reserves;
  };

  Part pick(const Event& event) const {
    return is_person(event) ? Part{0, event.codes[0], true} : Part{event.price, 0, false};
  }
  void add(State& s, const Part& part) const {
    if (part.has_come) {
      s.name = part.name;
    } else {
      s.reserves.insert(s.reserves.size(), part.reserve);
    }
  }
  void merge(State& s, const State& other) const {
    if (other.name) s.name = other.name;
    for (std::uint32_t i = 0; i < other.reserves.size(); ++i) {
      s.reserves.insert(s.reserves.size(), other.reserves[i]);
    }
  }
  const State& result(const State& s) const { return s; }
};

std::vector<NewSeller> sellers_of(const Windowed<std::int64_t, Offers::State>& comer) {
  std::vector<NewSeller> rows;
  if (!comer.value.name) return rows;
  const Few<std::int64_t>& reserves = comer.value.reserves;
  rows.reserve(reserves.size());
  for (std::uint32_t i = 0; i < reserves.size(); ++i) {
    rows.push_back({comer.window.end, comer.key, name_text(*comer.value.name), reserves[i]});
  }
  return rows;
}

}  // namespace

Job q8(const Source<Event>& events, const Sink<NewSeller>& rows) {
  return Job("q8", all_of(events)
                       .filter([](const Event& event) { return !is_bid(event); })
                       .key_by<&person_in>()
                       .window(tumbling(window_size))
                       .aggregate("offers", Offers{})
                       .flat_map<&sellers_of>()
                       .to("q8", rows));
}

}  // namespace millrace::nexmark
