#pragma once

namespace millrace::model {

/// The rules of PROTOCOL 1 that the model can leave out, to show what each of them is for. As they
/// stand here they are the product's.
struct Rules {
  bool register_compares_versions = true;    ///< 1.1
  bool manifest_durable_before_swap = true;  ///< 1.2
  bool loser_stops = true;                   ///< 1.2
  bool unknown_swap_is_repeated = true;      ///< 1.3
  bool acknowledgement_has_term = true;      ///< 1.4
  bool name_has_term = true;                 ///< 1.4

  /// Not one of them: whether the sink's database compares terms (2.3, 3.4). The rules above must
  /// be enough without it.
  bool database_fences = true;

  bool operator==(const Rules&) const = default;
};

/// How much may happen in one run. Within these bounds everything that can happen does: any
/// coordinator may crash, stall, or believe that something failed, between any two steps.
struct Bounds {
  /// Whether the first coordinator owns the job from the beginning. Else there is no job yet, and
  /// they race for its genesis.
  bool begins_owned = false;
  bool owners_begin_again = true;  ///< Whether an owner may take over from itself.
  int coordinators = 2;            ///< Lives of one: whoever restarts is somebody new.
  int writers = 1;                 ///< Subtasks of the sink.
  int terms = 2;                   ///< That may be won, the first among them.
  int checkpoints_per_term = 2;    ///< That may be triggered.
  int checkpoints_in_all = 4;      ///< That may be triggered by all terms together.
};

}  // namespace millrace::model
