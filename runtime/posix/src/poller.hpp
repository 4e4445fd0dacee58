#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "descriptor.hpp"

namespace millrace::posix {

/// A socket that the poller watches.
class Watched {
 public:
  virtual ~Watched() = default;
  /// Called by the poller's thread with what epoll says, once for every change.
  virtual void ready(std::uint32_t events) = 0;
};

/// One thread that learns which sockets can go on, and tells them.
class Poller {
 public:
  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  /// Tells `what` whenever `socket` becomes readable, writable or breaks, for as long as `what`
  /// exists. The number is for `forget`.
  std::uint64_t watch(int socket, std::weak_ptr<Watched> what);
  /// Must come before `socket` is closed. One more call of `ready` may still be on its way.
  void forget(int socket, std::uint64_t number);

 private:
  void run();
  std::shared_ptr<Watched> find(std::uint64_t number);

  Descriptor epoll_;
  Descriptor stop_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Watched>> watched_;
  std::uint64_t last_number_ = 0;
  std::thread thread_;
};

}  // namespace millrace::posix
