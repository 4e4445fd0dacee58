#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace millrace {

// What can go wrong has one of four forms. What the protocol must decide on is a value that a
// function returns. A broken promise of this program is an invariant (invariant.hpp). The rest is
// thrown: the world failing, the user being wrong, and the job having to stop.

/// The world failed: a disk, a network, a server. Ends the task that meets it; recovery by the
/// coordinator is the only repair, so nobody below the task runner catches it to go on. Only an
/// uploader does: what its store does not take is not in the checkpoint, and in the next.
class WorldError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A read, write or sync did not happen, or nobody knows whether it did.
class IoError : public WorldError {
  using WorldError::WorldError;
};

/// There is no such file.
class NotFound : public IoError {
  using IoError::IoError;
};

/// There is no room left. Nothing was written.
class NoSpace : public IoError {
  using IoError::IoError;
};

/// The other side closed or reset the connection, refused it, or is not there. What was sent last
/// may or may not have arrived.
class ConnectionLost : public WorldError {
  using WorldError::WorldError;
};

/// A server did not answer by the deadline. What was asked for may still happen.
class Unavailable : public WorldError {
  using WorldError::WorldError;
};

/// Bytes that were read are not what was written: the checksum, the length or the format is wrong.
/// Nothing of them was used.
class CorruptObject : public WorldError {
  using WorldError::WorldError;
};

/// A function of the user's threw. The text names operator, key and time. Ends the task like any
/// failure of the world, and the job restarts: what it met may have been passing. The same text for
/// the third time is a poisonous record, and ends the job.
class FunctionFailed : public WorldError {
  using WorldError::WorldError;
};

/// The user's job file, flag or table is not what it must be. The text names file, line, field and
/// what was expected. Nothing was changed. Exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The job cannot go on by repeating: a bad record, an overflow, a constraint of the sink. Never
/// retried; what was published stays. Exit code 8.
class JobFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Why Millrace will not go on with what it found (PROTOCOL 3). Each is explained, with what it
/// would mean to go on and the flag that accepts that, by `explain`.
enum class Refusal : std::uint8_t {
  already_owned,        ///< Another process owns this job.
  job_changed,          ///< The state was written by a job with other sources, steps or sink.
  input_changed,        ///< A partition is shorter or begins differently than at genesis.
  state_unreadable,     ///< Head, manifest or state is corrupt or of an unknown version.
  marker_missing,       ///< The job has a past, and the sink does not know of it.
  sink_foreign,         ///< The sink's marker belongs to another lineage.
  sink_ahead,           ///< The sink shows a later checkpoint than the state directory holds.
  sink_occupied,        ///< A new job found rows in the sink's table.
  staged_rows_missing,  ///< Rows that were staged and decided, but not published, are gone.
};

constexpr bool is_known(Refusal refusal) { return refusal <= Refusal::staged_rows_missing; }

/// The short name that a person can search for: `sink_ahead`.
const char* name_of(Refusal refusal);

/// Millrace refuses: going on could lose or repeat rows without anybody being told. Exit code 7.
class Refused : public std::runtime_error {
 public:
  Refused(Refusal why, const std::string& text) : std::runtime_error(text), why_(why) {}
  Refusal why() const { return why_; }

 private:
  Refusal why_;
};

// Neither of the next two derives from anything, so that no handler for errors keeps dead code
// running. Only the runner of tasks catches them (PROTOCOL 9).

/// Thrown by every blocking call of a task that was cancelled. What the call was about may or may
/// not have happened, as in a crash.
struct Cancelled {};

/// Thrown by every call into a world whose node is dead. Simulator only.
struct Killed {};

}  // namespace millrace
