#include <functional>
#include <optional>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/files/directory_store.hpp"

#include "memory_disk.hpp"

using namespace millrace;

// Every crash point of a write: the process dies before, in the middle of or after each call to the
// disk, and the machine either goes on or loses its power, keeping more or less of what was not
// synced.

namespace {

constexpr Instant soon{};
using Moment = MemoryDisk::Moment;
using Loss = MemoryDisk::Loss;

constexpr Moment moments[] = {Moment::before, Moment::halfway, Moment::after};
constexpr Loss::Data kept_data[] = {Loss::Data::all, Loss::Data::every_other_sector,
                                    Loss::Data::none};

/// What is to be seen after a crash. `answer` is there if the call returned before the crash.
template <class Outcome>
using Judge = std::function<void(DirectoryStore& store, std::optional<Outcome> answer)>;

/// Runs `action` again and again, crashing at one call later each time until none is left, and
/// after every crash brings the disk back in every way it can come back.
template <class Outcome>
int crash_everywhere(const std::function<void(DirectoryStore&)>& before,
                     const std::function<Outcome(DirectoryStore&)>& action,
                     const Judge<Outcome>& judge) {
  int crashes = 0;
  const auto crash = [&](std::uint64_t call, Moment moment, std::optional<Loss> loss) {
    MemoryDisk disk;
    DirectoryStore store(disk, "state", "w1");
    before(store);
    disk.die_at(call, moment);
    std::optional<Outcome> answer;
    try {
      answer = action(store);
    } catch (const Killed&) {
      ++crashes;
    }
    const bool died = disk.is_dead();
    if (loss) {
      disk.lose_power(*loss);
    } else {
      disk.restart();
    }
    DirectoryStore after(disk, "state", "w2");
    after.remove_temporaries();
    CAPTURE(call, moment);
    judge(after, answer);
    return died;
  };
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    for (const auto moment : moments) {
      died = crash(call, moment, std::nullopt);
      for (std::size_t names = 0; names < 5; ++names) {
        for (const auto data : kept_data) crash(call, moment, Loss{names, data});
      }
    }
  }
  return crashes;
}

std::string text_of(DirectoryStore& store, std::string_view name) {
  const auto bytes = read_whole(store, name, soon);
  return bytes ? std::string(as_text(*bytes)) : "(no such object)";
}

}  // namespace

TEST_CASE("an object is whole or absent after a crash at any step, and there once stored",
          "[files][store][crash]") {
  const std::string text(100'000, 'x');

  const int crashes = crash_everywhere<PutOutcome>(
      [](DirectoryStore&) {},
      [&](DirectoryStore& store) { return put(store, "1.1/a", as_bytes(text), soon); },
      [&](DirectoryStore& store, std::optional<PutOutcome> answer) {
        const auto found = text_of(store, "1.1/a");
        if (answer) {
          CHECK(*answer == PutOutcome::stored);
          CHECK(found == text);
        } else {
          CHECK((found == text || found == "(no such object)"));
        }
        const auto names = store.list("", soon);
        CHECK(names.size() == (found == text ? 1 : 0));
      });

  CHECK(crashes > 6 * 3);  // At the least: six calls, three moments.
}

TEST_CASE("an object that is replaced is the old or the new one after a crash at any step",
          "[files][store][crash]") {
  const std::string old_text(1'000, 'o');
  const std::string new_text(2'000, 'n');

  crash_everywhere<PutOutcome>(
      [&](DirectoryStore& store) { put(store, "a", as_bytes(old_text), soon); },
      [&](DirectoryStore& store) { return put(store, "a", as_bytes(new_text), soon); },
      [&](DirectoryStore& store, std::optional<PutOutcome> answer) {
        const auto found = text_of(store, "a");
        CHECK((found == new_text || (!answer && found == old_text)));
      });
}

TEST_CASE("a register is old or new after a crash at any step, and new once stored",
          "[files][store][crash]") {
  const std::string old_text(1'500, 'o');
  const std::string new_text(1'700, 'n');

  const int crashes = crash_everywhere<SwapOutcome>(
      [&](DirectoryStore& store) { store.put_if_version("head", 0, as_bytes(old_text), soon); },
      [&](DirectoryStore& store) {
        return store.put_if_version("head", 1, as_bytes(new_text), soon);
      },
      [&](DirectoryStore& store, std::optional<SwapOutcome> answer) {
        const Versioned found = store.read_register("head", soon);
        if (answer) CHECK(*answer == SwapOutcome::stored);
        const bool is_new = found.version == 2 && as_text(found.bytes) == new_text;
        const bool is_old = found.version == 1 && as_text(found.bytes) == old_text;
        CHECK((is_new || (is_old && !answer)));

        // Whatever the crash left, the next owner can go on from it.
        CHECK(store.put_if_version("head", found.version, as_bytes("next"), soon) ==
              SwapOutcome::stored);
      });

  CHECK(crashes > 8 * 3);
}

TEST_CASE("the first write of a register leaves none or a whole one after a crash at any step",
          "[files][store][crash]") {
  crash_everywhere<SwapOutcome>(
      [](DirectoryStore&) {},
      [](DirectoryStore& store) { return store.put_if_version("head", 0, as_bytes("one"), soon); },
      [](DirectoryStore& store, std::optional<SwapOutcome> answer) {
        const Versioned found = store.read_register("head", soon);
        const bool is_new = found.version == 1 && as_text(found.bytes) == "one";
        CHECK((is_new || (found.version == 0 && !answer)));
      });
}

TEST_CASE("a disk that fails at any step leaves a register old or new, and never lies",
          "[files][store][crash]") {
  bool failed = true;
  for (std::uint64_t call = 1; failed; ++call) {
    for (const auto moment : moments) {
      CAPTURE(call, moment);
      MemoryDisk disk;
      DirectoryStore store(disk, "state", "w1");
      store.put_if_version("head", 0, as_bytes("one"), soon);
      disk.fail_at(call, moment);
      std::optional<SwapOutcome> answer;
      try {
        answer = store.put_if_version("head", 1, as_bytes("two"), soon);
      } catch (const IoError&) {
        // Nothing was changed.
      }
      failed = answer != SwapOutcome::stored;
      disk.lose_power({0, Loss::Data::none});

      const Versioned found = store.read_register("head", soon);
      const bool is_new = found.version == 2 && as_text(found.bytes) == "two";
      const bool is_old = found.version == 1 && as_text(found.bytes) == "one";
      CHECK((is_new || is_old));
      if (!answer) CHECK(is_old);
      if (answer == SwapOutcome::stored) CHECK(is_new);
      CHECK(answer != SwapOutcome::refused);
    }
  }
}
