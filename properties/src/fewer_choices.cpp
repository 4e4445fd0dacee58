#include "fewer_choices.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace millrace::properties {
namespace {

using Choices = std::vector<sim::Choice>;

class Reduction {
 public:
  Reduction(Choices choices, const std::function<bool(const Choices&)>& fails)
      : choices_(std::move(choices)), fails_(fails) {}

  Choices run() {
    leave_out_all_of([](const sim::Choice& choice) { return choice.domain; });
    leave_out_all_of([](const sim::Choice& choice) { return choice.site; });
    leave_out_all_of([](const sim::Choice& choice) { return choice.entity; });
    leave_out_all_of(
        [](const sim::Choice& choice) { return std::pair(choice.site, choice.entity); });
    for (std::size_t piece = choices_.size(); piece > 0; piece /= 2) leave_out_pieces(piece);
    for (std::size_t i = 0; i < choices_.size(); ++i) lower(i);
    return std::move(choices_);
  }

 private:
  bool take(Choices fewer) {
    if (!fails_(fewer)) return false;
    choices_ = std::move(fewer);
    return true;
  }

  /// Leaves out groups of choices: those that `group_of` says the same of.
  template <class GroupOf>
  void leave_out_all_of(const GroupOf& group_of) {
    using Group = decltype(group_of(choices_.front()));
    std::set<Group> groups;
    for (const sim::Choice& choice : choices_) groups.insert(group_of(choice));
    for (const Group& group : groups) {
      Choices fewer;
      std::copy_if(choices_.begin(), choices_.end(), std::back_inserter(fewer),
                   [&](const sim::Choice& choice) { return group_of(choice) != group; });
      take(std::move(fewer));
    }
  }

  void leave_out_pieces(std::size_t piece) {
    for (std::size_t begin = 0; begin < choices_.size();) {
      const std::size_t end = std::min(begin + piece, choices_.size());
      Choices fewer(choices_.begin(), choices_.begin() + std::ptrdiff_t(begin));
      fewer.insert(fewer.end(), choices_.begin() + std::ptrdiff_t(end), choices_.end());
      if (!take(std::move(fewer))) begin = end;
    }
  }

  /// To the lowest power of ten that will do.
  void lower(std::size_t index) {
    for (std::uint64_t value = 1; value < choices_[index].value; value *= 10) {
      Choices lower = choices_;
      lower[index].value = value;
      if (take(std::move(lower)) || value > choices_[index].value / 10) return;
    }
  }

  Choices choices_;
  const std::function<bool(const Choices&)>& fails_;
};

}  // namespace

std::vector<sim::Choice> fewer_choices(Choices choices,
                                       const std::function<bool(const Choices&)>& fails) {
  return Reduction(std::move(choices), fails).run();
}

}  // namespace millrace::properties
