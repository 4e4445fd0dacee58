#include "tcp_connection.hpp"

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/posix/real_clock.hpp"
#include "millrace/posix/thread_parker.hpp"

#include "system_error.hpp"

namespace millrace::posix {
namespace {

constexpr const char* closed_text = "the other side has closed the connection";
constexpr std::uint32_t closing_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

bool would_block(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK; }

}  // namespace

/// What a connection shares with the poller's thread. Its lock is held while a parker is unparked:
/// a task that goes away takes its parker out under the same lock.
class TcpStream final : public Watched {
 public:
  explicit TcpStream(Descriptor socket) : socket_(std::move(socket)) {}

  int socket() const { return socket_.number(); }

  Opening wait_until_open(Instant deadline, ThreadParker& self) {
    Opening opening = Opening::unanswered;
    wait(deadline, self, [&] {
      opening = look_at_opening();
      return opening != Opening::unanswered;
    });
    return opening;
  }

  bool write(std::span<const std::byte> frame, Instant deadline, ThreadParker& self) {
    return wait(deadline, self, [&] { return try_write(frame); });
  }

  /// Without the lock: one task reads, and nobody closes the socket meanwhile.
  std::size_t try_read(std::span<std::byte> into) {
    if (into.empty()) return 0;
    while (true) {
      const auto count = ::recv(socket_.number(), into.data(), into.size(), 0);
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0) throw ConnectionLost(closed_text);
      if (would_block(errno)) return 0;
      if (errno != EINTR) throw ConnectionLost(lost_text(errno));
    }
  }

  void bind(Parker& reader) {
    const std::lock_guard lock(mutex_);
    reader_ = &reader;
    // What came before was told to nobody.
    reader.unpark();
  }

  void ready(std::uint32_t events) override {
    const std::lock_guard lock(mutex_);
    if (!socket_.is_open()) return;
    flush();
    if (reader_ != nullptr && (events & (EPOLLIN | closing_events)) != 0) reader_->unpark();
    if (writer_ != nullptr) writer_->unpark();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    socket_.close();
    reader_ = nullptr;
  }

 private:
  static std::string lost_text(int error_number) {
    return fmt::format("the connection broke: {}", error_text(error_number));
  }

  /// Tries until it succeeds, whenever the poller says that something has changed.
  template <class Try>
  bool wait(Instant deadline, ThreadParker& self, Try attempt) {
    self.throw_if_cancelled();
    InnerWait inner(self);
    const ForgetWriter forget(*this);
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (attempt()) return true;
        if (RealClock().now() >= deadline) return false;
        writer_ = &self;
      }
      inner.until(deadline);
    }
  }

  /// A task that stops waiting, in whatever way, is not woken any more.
  class ForgetWriter {
   public:
    explicit ForgetWriter(TcpStream& stream) : stream_(stream) {}
    ForgetWriter(const ForgetWriter&) = delete;
    ForgetWriter& operator=(const ForgetWriter&) = delete;
    ~ForgetWriter() {
      const std::lock_guard lock(stream_.mutex_);
      stream_.writer_ = nullptr;
    }

   private:
    TcpStream& stream_;
  };

  Opening look_at_opening() {
    ::pollfd state{socket_.number(), POLLOUT, 0};
    if (::poll(&state, 1, 0) <= 0) return Opening::unanswered;
    int error_number = 0;
    ::socklen_t size = sizeof error_number;
    ::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error_number, &size);
    if (error_number == 0) return Opening::open;
    if (error_number == ECONNREFUSED) return Opening::refused;
    throw ConnectionLost(
        fmt::format("the connection was not accepted: {}", error_text(error_number)));
  }

  bool try_write(std::span<const std::byte> frame) {
    flush();
    if (!lost_.empty()) throw ConnectionLost(lost_);
    if (!rest_.empty()) return false;
    const auto sent = send(frame);
    if (!lost_.empty()) throw ConnectionLost(lost_);
    rest_.assign(frame.begin() + static_cast<std::ptrdiff_t>(sent), frame.end());
    return true;
  }

  void flush() {
    if (rest_.empty() || !lost_.empty()) return;
    const auto sent = send(rest_);
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(sent));
  }

  /// Sends until the kernel takes no more, so that the poller tells when it does again.
  std::size_t send(std::span<const std::byte> bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto count =
          ::send(socket_.number(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count >= 0) {
        sent += static_cast<std::size_t>(count);
      } else if (would_block(errno)) {
        break;
      } else if (errno != EINTR) {
        lost_ = lost_text(errno);
        break;
      }
    }
    return sent;
  }

  std::mutex mutex_;
  Descriptor socket_;
  Bytes rest_;        ///< Of a frame that counts as sent.
  std::string lost_;  ///< Why nothing can be written any more; empty: it can.
  Parker* reader_ = nullptr;
  ThreadParker* writer_ = nullptr;  ///< Null: nobody waits.
};

TcpConnection::TcpConnection(Poller& poller, TaskRegistry& registry, Descriptor socket)
    : poller_(poller),
      registry_(registry),
      stream_(std::make_shared<TcpStream>(std::move(socket))),
      number_(poller.watch(stream_->socket(), stream_)) {}

TcpConnection::~TcpConnection() {
  poller_.forget(stream_->socket(), number_);
  stream_->close();
}

Opening TcpConnection::wait_until_open(Instant deadline) {
  return stream_->wait_until_open(deadline, registry_.parker_of_this_thread());
}

bool TcpConnection::write(std::span<const std::byte> frame, Instant deadline) {
  return stream_->write(frame, deadline, registry_.parker_of_this_thread());
}

std::size_t TcpConnection::try_read(std::span<std::byte> into) { return stream_->try_read(into); }

void TcpConnection::bind(Parker& reader) { stream_->bind(reader); }

}  // namespace millrace::posix
