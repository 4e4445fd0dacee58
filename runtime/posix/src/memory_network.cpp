#include "millrace/posix/memory_network.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/posix/real_clock.hpp"

namespace millrace::posix {
namespace {

/// Bytes on their way in one direction. Its lock is held while a parker is unparked: an end that
/// goes away takes its parker out under the same lock, so nobody wakes a task that is gone.
class Pipe {
 public:
  /// False: the deadline came first.
  bool write(std::span<const std::byte> frame, Instant deadline, ThreadParker& self) {
    self.throw_if_cancelled();
    InnerWait wait(self);
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (broken_) throw ConnectionLost("the other side has closed the connection");
        writer_ = nullptr;
        if (unread() == 0 || unread() + frame.size() <= pipe_bytes) {
          put(frame);
          return true;
        }
        if (RealClock().now() >= deadline) return false;
        writer_ = &self;
      }
      const ForgetWriter forget(*this);
      wait.until(deadline);
    }
  }

  std::size_t try_read(std::span<std::byte> into) {
    const std::lock_guard lock(mutex_);
    const auto count = std::min(into.size(), unread());
    if (count != 0) {
      std::memcpy(into.data(), bytes_.data() + begin_, count);
      begin_ += count;
      if (unread() == 0) {
        begin_ = 0;
        bytes_.clear();
      }
      if (writer_ != nullptr) writer_->unpark();
    } else if (ended_ && !into.empty()) {
      throw ConnectionLost("the other side has closed the connection");
    }
    return count;
  }

  void bind(Parker& reader) {
    const std::lock_guard lock(mutex_);
    reader_ = &reader;
    if (unread() != 0 || ended_) reader.unpark();
  }

  void close_reading_end() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    reader_ = nullptr;
    if (writer_ != nullptr) writer_->unpark();
  }

  void close_writing_end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (reader_ != nullptr) reader_->unpark();
  }

 private:
  /// A writer that stops waiting, in whatever way, is not woken any more.
  class ForgetWriter {
   public:
    explicit ForgetWriter(Pipe& pipe) : pipe_(pipe) {}
    ForgetWriter(const ForgetWriter&) = delete;
    ForgetWriter& operator=(const ForgetWriter&) = delete;
    ~ForgetWriter() {
      const std::lock_guard lock(pipe_.mutex_);
      pipe_.writer_ = nullptr;
    }

   private:
    Pipe& pipe_;
  };

  std::size_t unread() const { return bytes_.size() - begin_; }

  void put(std::span<const std::byte> frame) {
    // Once the greater part was read, the rest moves to the front: never more than was read.
    if (begin_ > bytes_.size() / 2) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    if (reader_ != nullptr) reader_->unpark();
  }

  std::mutex mutex_;
  Bytes bytes_;
  std::size_t begin_ = 0;
  bool ended_ = false;   ///< Nobody will write any more.
  bool broken_ = false;  ///< Nobody will read any more.
  Parker* reader_ = nullptr;
  ThreadParker* writer_ = nullptr;  ///< Null: nobody waits for room.
};

class MemoryConnection final : public Connection {
 public:
  MemoryConnection(TaskRegistry& registry, std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out)
      : registry_(registry), in_(std::move(in)), out_(std::move(out)) {}

  ~MemoryConnection() override {
    in_->close_reading_end();
    out_->close_writing_end();
  }

  bool write(std::span<const std::byte> frame, Instant deadline) override {
    return out_->write(frame, deadline, registry_.parker_of_this_thread());
  }
  std::size_t try_read(std::span<std::byte> into) override { return in_->try_read(into); }
  void bind(Parker& reader) override { in_->bind(reader); }

 private:
  TaskRegistry& registry_;
  std::shared_ptr<Pipe> in_;
  std::shared_ptr<Pipe> out_;
};

}  // namespace

/// Connections that wait to be accepted.
class MemoryNetwork::Queue {
 public:
  /// False: the listener has gone away.
  bool push(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    waiting_.push_back(std::move(connection));
    if (acceptor_ != nullptr) acceptor_->unpark();
    return true;
  }
  std::unique_ptr<Connection> try_pop() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    auto connection = std::move(waiting_.front());
    waiting_.pop_front();
    return connection;
  }
  void bind(Parker& acceptor) {
    const std::lock_guard lock(mutex_);
    acceptor_ = &acceptor;
    if (!waiting_.empty()) acceptor.unpark();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    acceptor_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::deque<std::unique_ptr<Connection>> waiting_;
  Parker* acceptor_ = nullptr;
  bool closed_ = false;
};

class MemoryNetwork::OpenListener final : public Listener {
 public:
  OpenListener(MemoryNetwork& network, Endpoint at, std::shared_ptr<Queue> queue)
      : network_(network), at_(std::move(at)), queue_(std::move(queue)) {}

  ~OpenListener() override {
    {
      const std::lock_guard lock(network_.mutex_);
      network_.listening_.erase(at_);
    }
    queue_->close();
  }

  std::unique_ptr<Connection> try_accept() override { return queue_->try_pop(); }
  void bind(Parker& acceptor) override { queue_->bind(acceptor); }

 private:
  MemoryNetwork& network_;
  Endpoint at_;
  std::shared_ptr<Queue> queue_;
};

class MemoryNetwork::NodeNetwork final : public Network {
 public:
  NodeNetwork(MemoryNetwork& network, std::string node)
      : network_(network), node_(std::move(node)) {}

  std::unique_ptr<Listener> listen(std::string_view service) override {
    const Endpoint at{node_, std::string(service)};
    auto queue = std::make_shared<Queue>();
    const std::lock_guard lock(network_.mutex_);
    if (!network_.listening_.try_emplace(at, queue).second) {
      throw WorldError(fmt::format("somebody on {} listens for `{}` already", node_, service));
    }
    return std::make_unique<OpenListener>(network_, at, std::move(queue));
  }

  std::unique_ptr<Connection> connect(const Endpoint& to, Lane, Instant) override {
    network_.registry_.parker_of_this_thread().throw_if_cancelled();
    const auto queue = queue_at(to);
    if (queue == nullptr) return nullptr;
    const auto there = std::make_shared<Pipe>();
    const auto back = std::make_shared<Pipe>();
    auto mine = std::make_unique<MemoryConnection>(network_.registry_, back, there);
    auto theirs = std::make_unique<MemoryConnection>(network_.registry_, there, back);
    return queue->push(std::move(theirs)) ? std::move(mine) : nullptr;
  }

 private:
  std::shared_ptr<Queue> queue_at(const Endpoint& to) {
    const std::lock_guard lock(network_.mutex_);
    const auto found = network_.listening_.find(to);
    return found == network_.listening_.end() ? nullptr : found->second;
  }

  MemoryNetwork& network_;
  std::string node_;
};

MemoryNetwork::MemoryNetwork(TaskRegistry& registry) : registry_(registry) {}

MemoryNetwork::~MemoryNetwork() = default;

std::unique_ptr<Network> MemoryNetwork::of(const std::string& node) {
  return std::make_unique<NodeNetwork>(*this, node);
}

}  // namespace millrace::posix
