#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millrace::sim {

/// What happens in a run, as far as it is hashed (DECISIONS: events hashed).
enum class EventKind : std::uint8_t {
  resumed = 1,    ///< a: task.
  time = 2,       ///< a: virtual nanoseconds.
  sent = 3,       ///< a: connection, b: bytes, c: checksum.
  delivered = 4,  ///< a: connection, b: bytes.
  disk = 5,       ///< a: disk, b: operation, c: what of.
  served = 6,     ///< a: server, b: operation, c: outcome.
  fault = 7,      ///< a: kind, b: node.
  life = 8,       ///< a: node, b: life, c: up or down.
};

struct TraceEvent {
  std::uint64_t kind_and_a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t at = 0;  ///< Virtual nanoseconds.
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

/// `12.345678 ms: task 17 resumed`, for people (TRACE.md).
std::string to_text(const TraceEvent& event);

/// The hash of all events of a run, in their order. Always on.
///
/// Two runs with the same hash did the same things in the same order; equal case and build give
/// equal hashes on every compiler.
class Trace {
 public:
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void record(EventKind kind, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::int64_t at) {
    events_[count_] = {static_cast<std::uint64_t>(kind) << 56 ^ a, b, c,
                       static_cast<std::uint64_t>(at)};
    if (++count_ == room) flush();
  }

  std::uint64_t hash();
  std::uint64_t events() const { return flushed_ + count_; }

  /// Also gives every event to `listener`, in blocks. For finding where two runs part.
  void listen(std::function<void(const TraceEvent&)> listener) { listener_ = std::move(listener); }

 private:
  void flush();

  // Staged and hashed in blocks: three times faster than event by event.
  static constexpr std::size_t room = 128;
  TraceEvent events_[room];
  std::size_t count_ = 0;
  std::uint64_t flushed_ = 0;
  struct State;
  std::unique_ptr<State> state_;
  std::function<void(const TraceEvent&)> listener_;
};

}  // namespace millrace::sim
