#include "poller.hpp"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "system_error.hpp"

namespace millrace::posix {
namespace {

/// Of the descriptor that ends the thread; sockets are numbered from 1.
constexpr std::uint64_t stop_number = 0;

Descriptor opened(int number) {
  if (number < 0) throw IoError(fmt::format("cannot watch sockets: {}", error_text(errno)));
  return Descriptor(number);
}

void add(int epoll, int descriptor, std::uint32_t events, std::uint64_t number) {
  ::epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw IoError(fmt::format("cannot watch a socket: {}", error_text(errno)));
  }
}

}  // namespace

Poller::Poller()
    : epoll_(opened(::epoll_create1(EPOLL_CLOEXEC))), stop_(opened(::eventfd(0, EFD_CLOEXEC))) {
  add(epoll_.number(), stop_.number(), EPOLLIN, stop_number);
  thread_ = std::thread([this] { run(); });
}

Poller::~Poller() {
  const std::uint64_t one = 1;
  const auto count = ::write(stop_.number(), &one, sizeof one);
  invariant(count == sizeof one, "a counter that nobody else writes takes one more");
  thread_.join();
}

std::uint64_t Poller::watch(int socket, std::weak_ptr<Watched> what) {
  // Under the lock, so that the first event finds whom it is for.
  const std::lock_guard lock(mutex_);
  add(epoll_.number(), socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, ++last_number_);
  watched_.emplace(last_number_, std::move(what));
  return last_number_;
}

void Poller::forget(int socket, std::uint64_t number) {
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, nullptr);
  const std::lock_guard lock(mutex_);
  watched_.erase(number);
}

void Poller::run() {
  std::array<::epoll_event, 64> events{};
  while (true) {
    const int count =
        ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), -1);
    invariant(count >= 0 || errno == EINTR, "only a signal interrupts the wait for sockets");
    for (const auto& event :
         std::span(events).first(static_cast<std::size_t>(count > 0 ? count : 0))) {
      if (event.data.u64 == stop_number) return;
      // Numbers are not used again, so an event of a socket that is gone finds nobody.
      if (const auto what = find(event.data.u64)) what->ready(event.events);
    }
  }
}

std::shared_ptr<Watched> Poller::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(number);
  return found == watched_.end() ? nullptr : found->second.lock();
}

}  // namespace millrace::posix
