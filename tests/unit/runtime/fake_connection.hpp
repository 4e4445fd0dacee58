#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/network.hpp"

namespace millrace {

/// One end of a connection, as a test moves it: what was written lies in `written`, frame by frame,
/// and what is to be read is put into `arrived`.
struct Wire {
  std::deque<Bytes> written;
  Bytes arrived;
  std::size_t most_per_read = 1U << 20;  ///< A read gives no more at once.
  bool is_broken = false;                ///< Once all that arrived was read.
  bool is_full = false;                  ///< Nothing can be written.
  std::vector<Instant> deadlines;        ///< Of the writes, in order.

  void arrive(std::span<const std::byte> bytes) {
    arrived.insert(arrived.end(), bytes.begin(), bytes.end());
  }
};

/// A connection over a Wire that the test keeps.
class FakeConnection final : public Connection {
 public:
  explicit FakeConnection(Wire& wire) : wire_(wire) {}

  bool write(std::span<const std::byte> frame, Instant deadline) override {
    wire_.deadlines.push_back(deadline);
    if (wire_.is_full) return false;
    wire_.written.emplace_back(frame.begin(), frame.end());
    return true;
  }
  std::size_t try_read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), wire_.arrived.size(), wire_.most_per_read});
    if (count == 0 && wire_.is_broken) throw ConnectionLost("the test has cut it");
    std::copy_n(wire_.arrived.begin(), count, into.begin());
    wire_.arrived.erase(wire_.arrived.begin(),
                        wire_.arrived.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  void bind(Parker&) override {}

 private:
  Wire& wire_;
};

}  // namespace millrace
