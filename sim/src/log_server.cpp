#include "millrace/sim/log_server.hpp"

#include <algorithm>

#include "millrace/files/file_log.hpp"
#include "millrace/sim/device_operations.hpp"

#include "device_server.hpp"
#include "log_protocol.hpp"

namespace millrace::sim {
namespace {

using namespace std::chrono_literals;

/// A reader that has nothing to read hears so after this long at the latest.
constexpr auto longest_poll = 200ms;
constexpr std::size_t most_entries = 256;

/// As Arrivals call a partition: by its path below the log's own directory.
std::string path_of(std::string_view address, std::string_view partition) {
  const auto top = address.find('/');
  const auto last = address.rfind('/');
  std::string path(top == last ? "" : address.substr(top + 1, last - top));
  return path.append(partition);
}

void read(Env& env, FileLog& log, const Arrivals& arrivals, Decoder& in, Encoder& out) {
  const std::string address(in.text());
  const std::string partition(in.text());
  Position from;
  from.offset = in.number<std::int64_t>();
  from.line = in.number<std::int64_t>();
  const auto end = in.number<std::int64_t>();

  const Instant answer_by = env.in(longest_poll);
  const std::string path = path_of(address, partition);
  std::int64_t visible = arrivals.visible(path, env.now(), end);
  while (visible <= from.offset && visible < end && env.now() < answer_by) {
    env.parker.park_until(std::min(answer_by, arrivals.next(path, env.now())));
    visible = arrivals.visible(path, env.now(), end);
  }

  bool at_end = from.offset >= end;
  std::span<const LogEntry> entries;
  std::unique_ptr<PartitionReader> reader;
  if (visible > from.offset) {
    reader = log.open(address, partition, from, visible);
    entries = reader->try_read(most_entries);
    if (visible == end) at_end = reader->at_end();
  }
  out.number(static_cast<std::uint8_t>(at_end));
  out.number(static_cast<std::uint32_t>(entries.size()));
  for (const LogEntry& entry : entries) {
    out.number(entry.at.offset);
    out.number(entry.at.line);
    out.number(entry.next.offset);
    out.number(entry.next.line);
    out.text(entry.bytes);
  }
}

void serve(Env& env, FileLog& log, const Arrivals& arrivals, std::span<const std::byte> request,
           Encoder& out) {
  Decoder in(request);
  switch (static_cast<LogRequest>(in.number<std::uint8_t>())) {
    case LogRequest::partitions: {
      const auto found = log.partitions(std::string(in.text()), Instant::never());
      out.number(static_cast<std::uint32_t>(found.size()));
      for (const PartitionFacts& partition : found) {
        out.text(partition.name);
        out.number(partition.end);
        out.number(partition.head_hash);
      }
      return;
    }
    case LogRequest::read: return read(env, log, arrivals, in, out);
  }
  throw WorldError("the log was asked for something it does not know");
}

}  // namespace

std::int64_t Arrivals::visible(std::string_view partition, Instant now, std::int64_t end) const {
  const auto known = steps_.find(partition);
  if (known == steps_.end()) return end;
  const auto& steps = known->second;
  const auto later = std::upper_bound(steps.begin(), steps.end(), now,
                                      [](Instant at, const Step& step) { return at < step.at; });
  if (later == steps.end()) return end;
  return later == steps.begin() ? 0 : std::min(end, (later - 1)->offset);
}

Instant Arrivals::next(std::string_view partition, Instant now) const {
  const auto known = steps_.find(partition);
  if (known == steps_.end()) return Instant::never();
  for (const Step& step : known->second) {
    if (step.at > now) return step.at;
  }
  return Instant::never();
}

Instant Arrivals::last() const {
  Instant latest;
  for (const auto& [partition, steps] : steps_) {
    if (!steps.empty()) latest = std::max(latest, steps.back().at);
  }
  return latest;
}

void run_log_server(Env& env, const Arrivals& arrivals) {
  serve_device(env, log_operations, [&arrivals](Env& session) -> DeviceSession {
    const auto log = std::make_shared<FileLog>(session.disk);
    return [&session, log, &arrivals](std::span<const std::byte> request, Encoder& answer) {
      serve(session, *log, arrivals, request, answer);
    };
  });
}

}  // namespace millrace::sim
