#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace millrace {

/// Something that a user's function wants done outside of the stream: a mail, a payment.
struct Effect {
  std::string_view service;  ///< Who does it.
  std::string_view request;  ///< What.
  /// By which the service knows that it did it already; empty: it cannot.
  std::string_view key;
  /// Of what it was asked: a hash of the operator, the key and time of its record, and how many
  /// effects the record had before. Two records may be alike in it.
  std::uint64_t cause = 0;
};

/// Does in the real world what functions ask for. Called by several threads at once, at least once
/// an effect; `key` is empty if there is none. It returns when the effect is done: what it throws
/// ends the task that asked, and the job restarts and asks again.
using Service = std::function<void(std::string_view request, std::string_view key)>;
/// By the names that effects say.
using Services = std::map<std::string, Service, std::less<>>;

/// One call of a user's function: what it was given, and what came of it, as hashes.
struct FunctionRun {
  std::uint64_t given = 0;   ///< The record, its key, the key's state before, the watermark.
  std::uint64_t result = 0;  ///< The rows it let out, and the state after.
};

/// What functions of users do besides returning rows, and who watches them.
class UserCode {
 public:
  virtual ~UserCode() = default;

  /// Has an effect done, at least once: after a recovery a record is processed again, and asks
  /// again. `role` is the operator's subtask.
  ///
  /// Throws JobFailed: there is no such service, which ends the job. What the service throws comes
  /// through.
  virtual void execute(std::string_view role, const Effect& effect) = 0;

  /// Whether somebody compares what functions make of equal input: then they are slower, and no
  /// other. In the real world nobody does.
  virtual bool is_watched() const { return false; }
  virtual void ran(std::string_view /*role*/, const FunctionRun& /*run*/) {}
};

}  // namespace millrace
