#include "log_client.hpp"

#include <fmt/format.h>

#include "millrace/sim/log_server.hpp"

#include "device_frame.hpp"
#include "device_server.hpp"
#include "log_protocol.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

using namespace std::chrono_literals;

/// The server answers at least this often, with nothing if there is nothing.
constexpr auto patience = 5s;
/// What an entry lends beyond its bytes (env/log.hpp).
constexpr std::size_t padding = 64;

/// Asks for more while the task works on what it got.
class RemotePartitionReader final : public PartitionReader {
 public:
  RemotePartitionReader(Task& task, std::string address, std::string partition, Position from,
                        std::int64_t end)
      : task_(task),
        server_(task, log_node),
        address_(std::move(address)),
        partition_(std::move(partition)),
        next_(from),
        end_(end) {}

  std::span<const LogEntry> try_read(std::size_t most) override {
    if (at_ == entries_.size() && !at_end()) fetch();
    const auto lent =
        std::span<const LogEntry>(entries_).subspan(at_, std::min(most, entries_.size() - at_));
    at_ += lent.size();
    return lent;
  }

  bool at_end() const override { return at_ == entries_.size() && ended_; }
  void bind(Parker&) override {}  // The connection is bound to the task that opened it.

 private:
  void fetch() {
    if (!asked_) {
      begin_frame(request_);
      request_.number(static_cast<std::uint8_t>(LogRequest::read));
      request_.text(address_);
      request_.text(partition_);
      request_.number(next_.offset);
      request_.number(next_.line);
      request_.number(end_);
      deadline_ = task_.now() + patience;
      if (!server_.send(request_, deadline_)) {
        throw ConnectionLost(fmt::format("{} refuses connections to {}", log_node, device_service));
      }
      asked_ = true;
    }
    const auto answer = server_.try_receive();
    if (!answer) {
      if (task_.now() >= deadline_) {
        throw Unavailable(fmt::format("{}: the log does not answer", partition_));
      }
      return;
    }
    asked_ = false;
    take(*answer);
  }

  void take(const Bytes& answer) {
    entries_.clear();
    at_ = 0;
    text_.assign(as_text(answer));
    text_.append(padding, '\0');
    Decoder in(as_bytes(text_).first(answer.size()));
    ended_ = in.number<std::uint8_t>() != 0;
    const auto count = in.count(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      LogEntry entry;
      entry.at.offset = in.number<std::int64_t>();
      entry.at.line = in.number<std::int64_t>();
      entry.next.offset = in.number<std::int64_t>();
      entry.next.line = in.number<std::int64_t>();
      entry.bytes = in.text();
      entries_.push_back(entry);
    }
    if (!entries_.empty()) next_ = entries_.back().next;
  }

  Task& task_;
  DeviceClient server_;
  std::string address_;
  std::string partition_;
  Position next_;
  std::int64_t end_;
  bool asked_ = false;
  bool ended_ = false;
  Instant deadline_;
  Encoder request_;
  std::string text_;
  std::vector<LogEntry> entries_;
  std::size_t at_ = 0;
};

}  // namespace

LogClient::LogClient(Task& task) : task_(task), server_(task, log_node) {}

std::vector<PartitionFacts> LogClient::partitions(const std::string& address, Instant deadline) {
  Encoder out;
  begin_frame(out);
  out.number(static_cast<std::uint8_t>(LogRequest::partitions));
  out.text(address);
  const auto answer = server_.call(out, deadline);
  if (!answer) throw Unavailable(fmt::format("{}: the log does not answer", address));
  Decoder in(*answer);
  std::vector<PartitionFacts> found(in.count(sizeof(std::uint32_t)));
  for (PartitionFacts& partition : found) {
    partition.name = in.text();
    partition.end = in.number<std::int64_t>();
    partition.head_hash = in.number<std::uint64_t>();
  }
  return found;
}

std::unique_ptr<PartitionReader> LogClient::open(const std::string& address,
                                                 const std::string& partition, Position from,
                                                 std::int64_t end) {
  return std::make_unique<RemotePartitionReader>(task_, address, partition, from, end);
}

}  // namespace millrace::sim
