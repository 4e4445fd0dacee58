#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"

namespace millrace {

/// The names that a takeover or a retry may need, and those that are kept: a manifest, its states,
/// what it lists as staged, and the same of earlier checkpoints but for what they had staged.
std::set<std::string> reached_by(const Manifest& manifest);

/// What the completion of `newer` makes useless, once rows up to `published` are visible: what only
/// `older` reaches. Pure.
std::vector<std::string> superseded_names(const Manifest& older, const Manifest& newer,
                                          CheckpointId published);

/// Whether a sweep at the takeover of `term` may remove `name`: an older term's, and not reached by
/// the restored manifest (PROTOCOL 3). Pure.
bool is_garbage(std::string_view name, Term term, const std::set<std::string>& reached);

/// Removes objects that nobody needs any more, on a task of its own: nobody waits for it but the
/// end of a job. What cannot be removed now is tried again.
class Sweeper {
 public:
  explicit Sweeper(Env& env);

  /// With too much undone nothing is taken on: a later sweep will find it.
  void remove(std::vector<std::string> names);
  /// Looks for what terms before `term` left, and removes what is not reached. Returns whether it
  /// is taken on.
  bool sweep_before(Term term, std::set<std::string> reached);

  /// Whether all that was asked for is done. Who asked is woken when it is.
  bool is_idle();

  void end();

 private:
  struct Order {
    std::vector<std::string> names;
    Term term;  ///< 0: only the names.
    std::set<std::string> reached;
  };
  /// So neither channel is ever full, and the sweeper never waits for somebody to listen.
  static constexpr std::size_t most_undone = 64;
  struct Channels {
    Channel<Order> orders{most_undone};
    Channel<std::size_t> done{most_undone};  ///< So many orders.
  };
  static void run(Env& env, Channels& channels);
  bool give(Order order);
  void count_done();

  std::shared_ptr<Channels> channels_;
  std::size_t undone_ = 0;
  std::unique_ptr<RunningTask> task_;
};

}  // namespace millrace
