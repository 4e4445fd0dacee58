#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/channel.hpp"
#include "millrace/env/error.hpp"

#include "worlds.hpp"

using namespace millrace;
using namespace std::chrono_literals;
using millrace::conformance::in_every_world;

namespace {

constexpr auto patience = 1min;

std::unique_ptr<Connection> accept(Env& env, Listener& listener) {
  listener.bind(env.parker);
  while (true) {
    if (auto connection = listener.try_accept()) return connection;
    env.parker.park_until(Instant::never());
  }
}

/// Two ends of a connection from the node to itself.
struct Ends {
  explicit Ends(Env& env, Lane lane = Lane::data)
      : listener(env.network.listen("test")),
        here(env.network.connect({env.node, "test"}, lane, env.in(patience))),
        there(accept(env, *listener)) {}
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Connection> here;
  std::unique_ptr<Connection> there;
};

/// What arrives, until there are `size` bytes of it.
std::string read(Env& env, Connection& connection, std::size_t size) {
  std::string text(size, '?');
  std::size_t done = 0;
  connection.bind(env.parker);
  while (done < size) {
    const auto room = std::as_writable_bytes(std::span(text)).subspan(done);
    const auto count = connection.try_read(room);
    done += count;
    if (count == 0) env.parker.park_until(Instant::never());
  }
  return text;
}

/// What arrives, until the connection is lost.
std::string read_until_lost(Env& env, Connection& connection) {
  std::string text;
  connection.bind(env.parker);
  try {
    while (true) {
      std::string piece(10'000, '?');
      const auto count = connection.try_read(std::as_writable_bytes(std::span(piece)));
      text += piece.substr(0, count);
      if (count == 0) env.parker.park_until(Instant::never());
    }
  } catch (const ConnectionLost&) {
    return text;
  }
}

/// A text in which every place can be told from its neighbours.
std::string long_text(std::size_t size) {
  std::string text;
  for (std::uint32_t i = 0; text.size() < size; ++i) text += std::to_string(i) + ",";
  text.resize(size);
  return text;
}

/// Writes until nothing more fits. Returns how many bytes did.
std::size_t fill(Env& env, Connection& connection) {
  const std::string frame(10'000, 'f');
  std::size_t written = 0;
  while (connection.write(as_bytes(frame), env.in(1ms))) written += frame.size();
  return written;
}

}  // namespace

TEST_CASE("bytes arrive in order in both directions", "[conformance][network]") {
  in_every_world([](Env& env) {
    for (const auto lane : {Lane::data, Lane::control, Lane::device}) {
      Ends ends(env, lane);

      CHECK(ends.here->write(as_bytes("one"), env.in(patience)));
      CHECK(ends.here->write(as_bytes("two"), env.in(patience)));
      CHECK(ends.there->write(as_bytes("three"), env.in(patience)));

      CHECK(read(env, *ends.there, 6) == "onetwo");
      CHECK(read(env, *ends.here, 5) == "three");
      std::byte byte{};
      CHECK(ends.here->try_read(std::span(&byte, 1)) == 0);
    }
  });
}

TEST_CASE("a task that reads is woken by what arrives", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    std::string received;
    const auto reader =
        env.tasks.start("reader", [&](Env& own) { received = read(own, *ends.there, 8); });

    for (const auto* frame : {"ab", "cd", "ef", "gh"}) {
      CHECK(ends.here->write(as_bytes(frame), env.in(patience)));
      env.sleep(1ms);
    }

    REQUIRE(reader->join(Instant::never()));
    CHECK(received == "abcdefgh");
  });
}

TEST_CASE("a task that is named late is told of what has come already", "[conformance][network]") {
  in_every_world([](Env& env) {
    const auto forget_wake_ups = [&] {
      env.sleep(5ms);  // By then all has arrived.
      env.parker.park_until(env.now());
    };
    const auto listener = env.network.listen("test");
    const auto here = env.network.connect({env.node, "test"}, Lane::data, env.in(patience));
    forget_wake_ups();
    listener->bind(env.parker);
    CHECK(env.parker.park_until(env.in(patience)));
    const auto there = accept(env, *listener);

    CHECK(here->write(as_bytes("text"), env.in(patience)));
    forget_wake_ups();
    there->bind(env.parker);
    CHECK(env.parker.park_until(env.in(patience)));
    CHECK(read(env, *there, 4) == "text");
  });
}

TEST_CASE("a frame larger than all buffers arrives whole while somebody reads",
          "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    const auto text = long_text(8 << 20);
    bool written = false;
    const auto writer = env.tasks.start("writer", [&](Env& own) {
      written = ends.here->write(as_bytes(text), own.in(patience)) &&
                ends.here->write(as_bytes("end"), own.in(patience));
    });

    const auto received = read(env, *ends.there, text.size() + 3);

    REQUIRE(writer->join(Instant::never()));
    CHECK(written);
    CHECK((received == text + "end"));  // Without printing megabytes.
  });
}

TEST_CASE("a writer waits for a slow reader, and nothing is lost or mixed up",
          "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    const auto text = long_text(3'000'000);
    const auto writer = env.tasks.start("writer", [&](Env& own) {
      for (std::string_view left = text; !left.empty();) {
        const auto frame = left.substr(0, 7'919);
        if (!ends.here->write(as_bytes(frame), own.in(patience))) return;
        left.remove_prefix(frame.size());
      }
    });

    const auto received = read(env, *ends.there, text.size());

    CHECK(writer->join(Instant::never()));
    CHECK((received == text));
  });
}

TEST_CASE("a write whose deadline comes first sends nothing of its frame",
          "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    const auto written = fill(env, *ends.here);
    REQUIRE(written > 0);
    CHECK_FALSE(ends.here->write(as_bytes(std::string(10'000, 'l')), env.in(1ms)));

    CHECK(read(env, *ends.there, written) == std::string(written, 'f'));
    CHECK(ends.here->write(as_bytes("next"), env.in(patience)));
    CHECK(read(env, *ends.there, 4) == "next");
  });
}

TEST_CASE("a task that waits for room in a connection can be cancelled", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    Channel<int> full(1);
    full.bind(env.parker);
    bool cancelled = false;
    const auto writer = env.tasks.start("writer", [&](Env& own) {
      fill(own, *ends.here);
      full.put(1, own.parker);
      try {
        while (true) ends.here->write(as_bytes(std::string(1'000'000, 'x')), Instant::never());
      } catch (const Cancelled&) {
        cancelled = true;
      }
    });
    while (!full.try_take()) env.parker.park_until(Instant::never());
    env.sleep(5ms);  // By now it waits; if not yet, it must not begin to.

    writer->cancel();

    REQUIRE(writer->join(Instant::never()));
    CHECK(cancelled);
  });
}

TEST_CASE("a cancelled task neither writes nor connects", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    std::vector<std::string> seen;
    const auto task = env.tasks.start("sleeper", [&](Env& own) {
      try {
        own.parker.park_until(Instant::never());
      } catch (const Cancelled&) {
        seen.emplace_back("park");
      }
      try {
        ends.here->write(as_bytes("x"), own.in(patience));
      } catch (const Cancelled&) {
        seen.emplace_back("write");
      }
      try {
        own.network.connect({own.node, "test"}, Lane::data, own.in(patience));
      } catch (const Cancelled&) {
        seen.emplace_back("connect");
      }
    });

    task->cancel();

    REQUIRE(task->join(Instant::never()));
    CHECK(seen == std::vector<std::string>{"park", "write", "connect"});
  });
}

TEST_CASE("a reader gets what was written before the other side closed, then learns of it",
          "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    CHECK(ends.here->write(as_bytes("last words"), env.in(patience)));
    // The words are there before the end is; a close may overtake what is still on its way.
    CHECK(read(env, *ends.there, 4) == "last");

    ends.here.reset();

    CHECK(read_until_lost(env, *ends.there) == " words");
    std::byte byte{};
    CHECK_THROWS_AS(ends.there->try_read(std::span(&byte, 1)), ConnectionLost);
  });
}

TEST_CASE("a reader that waits is woken by the end of the connection", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    std::string received = "?";
    const auto reader =
        env.tasks.start("reader", [&](Env& own) { received = read_until_lost(own, *ends.there); });
    env.sleep(1ms);

    ends.here.reset();

    REQUIRE(reader->join(Instant::never()));
    CHECK(received.empty());
  });
}

TEST_CASE("a writer learns that the other side has closed", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);

    ends.there.reset();

    // Not by the first write necessarily: the news needs its time.
    const auto write_on = [&] {
      while (true) {
        ends.here->write(as_bytes("x"), env.in(patience));
        env.sleep(1ms);
      }
    };
    CHECK_THROWS_AS(write_on(), ConnectionLost);
  });
}

TEST_CASE("a writer that waits is woken by the end of the connection", "[conformance][network]") {
  in_every_world([](Env& env) {
    Ends ends(env);
    Channel<int> full(1);
    full.bind(env.parker);
    bool lost = false;
    const auto writer = env.tasks.start("writer", [&](Env& own) {
      fill(own, *ends.here);
      full.put(1, own.parker);
      try {
        while (true) ends.here->write(as_bytes(std::string(1'000'000, 'x')), Instant::never());
      } catch (const ConnectionLost&) {
        lost = true;
      }
    });
    while (!full.try_take()) env.parker.park_until(Instant::never());
    env.sleep(5ms);  // By now it waits; if not yet, it must not begin to.

    ends.there.reset();

    REQUIRE(writer->join(Instant::never()));
    CHECK(lost);
  });
}

TEST_CASE("nobody can connect to where nobody listens", "[conformance][network]") {
  in_every_world([](Env& env) {
    const auto connect = [&](const Endpoint& to) {
      return env.network.connect(to, Lane::data, env.in(patience));
    };
    CHECK(connect({env.node, "nothing"}) == nullptr);
    CHECK(connect({"nobody", "test"}) == nullptr);

    auto listener = env.network.listen("test");
    CHECK(connect({env.node, "test"}) != nullptr);
    listener.reset();
    CHECK(connect({env.node, "test"}) == nullptr);
  });
}

TEST_CASE("a service has one listener at a time", "[conformance][network]") {
  in_every_world([](Env& env) {
    auto listener = env.network.listen("test");
    CHECK_THROWS_AS(env.network.listen("test"), WorldError);
    CHECK_NOTHROW(env.network.connect({env.node, "test"}, Lane::data, env.in(patience)));
    CHECK_NOTHROW(env.network.listen("other"));

    listener.reset();
    CHECK_NOTHROW(env.network.listen("test"));
  });
}

TEST_CASE("a connection that is never accepted is lost with the listener",
          "[conformance][network]") {
  in_every_world([](Env& env) {
    auto listener = env.network.listen("test");
    const auto connection = env.network.connect({env.node, "test"}, Lane::data, env.in(patience));

    listener.reset();

    CHECK(read_until_lost(env, *connection).empty());
  });
}

TEST_CASE("several connections to a listener are told apart", "[conformance][network]") {
  in_every_world([](Env& env) {
    const auto listener = env.network.listen("test");
    listener->bind(env.parker);
    CHECK(listener->try_accept() == nullptr);
    std::vector<std::unique_ptr<RunningTask>> clients;
    std::vector<std::string> answers(3);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      clients.push_back(env.tasks.start("client." + std::to_string(i), [&, i](Env& own) {
        const auto connection =
            own.network.connect({own.node, "test"}, Lane::data, own.in(patience));
        connection->write(as_bytes(std::to_string(i)), own.in(patience));
        answers[i] = read(own, *connection, 3);
      }));
    }

    std::vector<std::unique_ptr<Connection>> accepted;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      accepted.push_back(accept(env, *listener));
      const auto name = read(env, *accepted.back(), 1);
      CHECK(accepted.back()->write(as_bytes("to" + name), env.in(patience)));
    }

    for (const auto& client : clients) REQUIRE(client->join(Instant::never()));
    CHECK(answers == std::vector<std::string>{"to0", "to1", "to2"});
  });
}
