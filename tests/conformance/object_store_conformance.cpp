#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "worlds.hpp"

using namespace millrace;
using namespace std::chrono_literals;
using millrace::conformance::in_every_world;
using Names = std::vector<std::string>;

namespace {

std::string text_of(Env& env, std::string_view name) {
  const auto bytes = read_whole(env.store, name, env.in(1min));
  return bytes ? std::string(as_text(*bytes)) : "(no such object)";
}

PutOutcome put_text(Env& env, std::string_view name, std::string_view text) {
  return put(env.store, name, as_bytes(text), env.in(1min));
}

SwapOutcome swap(Env& env, std::uint64_t expected, std::string_view text) {
  return env.store.put_if_version("head", expected, as_bytes(text), env.in(1min));
}

}  // namespace

TEST_CASE("an object becomes visible whole, by its commit", "[conformance][store]") {
  in_every_world([](Env& env) {
    const std::string large(300'000, 'x');
    const auto writer = env.store.create("1.1/a");
    writer->append(as_bytes("begin "));
    writer->append(as_bytes(large));
    writer->append(as_bytes(" end"));
    CHECK(text_of(env, "1.1/a") == "(no such object)");

    CHECK(writer->commit(env.in(1min)) == PutOutcome::stored);

    CHECK(text_of(env, "1.1/a") == "begin " + large + " end");
  });
}

TEST_CASE("a writer that is let go leaves no object", "[conformance][store]") {
  in_every_world([](Env& env) {
    {
      const auto writer = env.store.create("a");
      writer->append(as_bytes(std::string(100'000, 'x')));
    }
    put_text(env, "b", "x");

    CHECK(text_of(env, "a") == "(no such object)");
    CHECK(env.store.list("", env.in(1min)) == Names{"b"});
  });
}

TEST_CASE("objects can be empty, replaced, read in parts and removed", "[conformance][store]") {
  in_every_world([](Env& env) {
    CHECK(put_text(env, "a", "") == PutOutcome::stored);
    CHECK(text_of(env, "a").empty());
    CHECK(put_text(env, "a", "0123456789") == PutOutcome::stored);
    CHECK(text_of(env, "a") == "0123456789");

    const auto part = [&](std::uint64_t offset, std::uint64_t length) {
      return std::string(as_text(*env.store.read("a", offset, length, env.in(1min))));
    };
    CHECK(part(2, 3) == "234");
    CHECK(part(8, 100) == "89");
    CHECK(part(100, 1).empty());

    env.store.remove("a", env.in(1min));
    CHECK(text_of(env, "a") == "(no such object)");
    CHECK_NOTHROW(env.store.remove("a", env.in(1min)));
  });
}

TEST_CASE("objects are listed by prefix, sorted", "[conformance][store]") {
  in_every_world([](Env& env) {
    for (const auto* name : {"1.2/b", "1.2/a", "1.10/a", "2/x/y"}) put_text(env, name, "x");

    CHECK(env.store.list("", env.in(1min)) == Names{"1.10/a", "1.2/a", "1.2/b", "2/x/y"});
    CHECK(env.store.list("1.2/", env.in(1min)) == Names{"1.2/a", "1.2/b"});
    CHECK(env.store.list("1.", env.in(1min)) == Names{"1.10/a", "1.2/a", "1.2/b"});
    CHECK(env.store.list("3", env.in(1min)).empty());
  });
}

TEST_CASE("a register counts its versions and refuses all but the right one",
          "[conformance][store]") {
  in_every_world([](Env& env) {
    CHECK(env.store.read_register("head", env.in(1min)).version == 0);
    CHECK(swap(env, 1, "early") == SwapOutcome::refused);
    CHECK(swap(env, 0, "one") == SwapOutcome::stored);
    CHECK(swap(env, 0, "again") == SwapOutcome::refused);
    CHECK(swap(env, 1, "two") == SwapOutcome::stored);

    const Versioned found = env.store.read_register("head", env.in(1min));
    CHECK(found.version == 2);
    CHECK(as_text(found.bytes) == "two");
  });
}

TEST_CASE("of several tasks that swap at once, one wins each version", "[conformance][store]") {
  in_every_world([](Env& env) {
    constexpr int tasks = 3;
    constexpr int wins = 5;
    std::vector<std::vector<std::uint64_t>> won(tasks);
    std::vector<std::unique_ptr<RunningTask>> running;
    for (std::size_t t = 0; t < tasks; ++t) {
      running.push_back(env.tasks.start("candidate." + std::to_string(t), [&won, t](Env& own) {
        const Site retry_site("conformance.swap");
        while (won[t].size() < wins) {
          const auto found = own.store.read_register("head", own.in(1min));
          auto outcome = SwapOutcome::unknown;
          while (outcome == SwapOutcome::unknown) {
            outcome = swap(own, found.version, std::to_string(t));
            own.step(retry_site);
          }
          if (outcome == SwapOutcome::stored) won[t].push_back(found.version);
        }
      }));
    }
    for (const auto& task : running) REQUIRE(task->join(Instant::never()));

    std::vector<std::uint64_t> versions;
    for (const auto& some : won) versions.insert(versions.end(), some.begin(), some.end());
    std::ranges::sort(versions);
    CHECK(std::ranges::adjacent_find(versions) == versions.end());
    CHECK(env.store.read_register("head", env.in(1min)).version == tasks * wins);
  });
}
