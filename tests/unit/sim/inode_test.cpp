#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/sim/disk.hpp"

using namespace millrace;
using namespace millrace::sim;

// What a power loss leaves of the bytes of one file (DISK.md).

namespace {

constexpr std::size_t sector_bytes = 512;

/// The draws of a disk in a run of its own.
Draws draws_of(std::uint64_t seed) { return {{seed}, Domain::world, "disk/test"}; }

void write(Inode& inode, std::uint64_t offset, std::string_view text) {
  inode.write(offset, as_bytes(text));
}

std::string text_of(const Inode& inode) {
  std::string text(inode.size(), '?');
  inode.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// What is left of a file after `write_it`, if power is lost in the run of this seed.
template <class WriteIt>
std::string left_by(std::uint64_t seed, WriteIt write_it) {
  Inode inode;
  write_it(inode);
  Draws draws = draws_of(seed);
  inode.lose_power(draws);
  CHECK(inode.is_synced());  // What is there now is durable.
  return text_of(inode);
}

/// Makes so many writes of one sector each, side by side; number i is made of the letter 'a' + i.
constexpr std::size_t writes = 20;
void write_sectors(Inode& inode) {
  for (std::size_t i = 0; i < writes; ++i) {
    write(inode, i * sector_bytes, std::string(sector_bytes, static_cast<char>('a' + i)));
  }
}

/// How much of each of those writes is there: so many bytes, from its beginning.
std::vector<std::size_t> kept_of(const std::string& text) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < writes; ++i) {
    const auto begin = std::min(text.size(), i * sector_bytes);
    const std::string_view sector = std::string_view(text).substr(begin, sector_bytes);
    const auto letter = static_cast<char>('a' + i);
    const auto count = sector.find_first_not_of(letter);
    kept.push_back(count == std::string_view::npos ? sector.size() : count);
    // What was not kept was never written, and reads as nothing.
    CHECK(sector.find_first_not_of('\0', kept.back()) == std::string_view::npos);
  }
  return kept;
}

struct Fates {
  int all = 0;
  int none = 0;
  int prefix = 0;  ///< Some first writes, and a part of the next.
  int sectors = 0;
  int torn = 0;  ///< Of the prefixes: with a write cut inside of its sector.
};

Fates fates_of(int runs) {
  Fates fates;
  for (int seed = 0; seed < runs; ++seed) {
    const auto kept = kept_of(left_by(static_cast<std::uint64_t>(seed), write_sectors));
    const auto whole = std::ranges::count(kept, sector_bytes);
    const auto gone = std::ranges::count(kept, std::size_t{0});
    const bool is_torn = whole + gone != writes;
    if (whole == writes) {
      ++fates.all;
    } else if (gone == writes) {
      ++fates.none;
    } else if (std::ranges::is_sorted(kept, std::greater<>{})) {
      ++fates.prefix;
      fates.torn += is_torn ? 1 : 0;
      CHECK(whole + gone + 1 >= static_cast<std::ptrdiff_t>(writes));  // One at most is in part.
    } else {
      ++fates.sectors;
      CHECK_FALSE(is_torn);  // A sector is there or not.
    }
  }
  return fates;
}

}  // namespace

TEST_CASE("what was synced survives whatever happens to later writes", "[sim][disk]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string left = left_by(seed, [](Inode& inode) {
      write(inode, 0, std::string(3'000, 's'));
      inode.sync();
      write(inode, 2'000, std::string(3'000, 'u'));
    });

    CAPTURE(seed);
    REQUIRE(left.size() >= 3'000);
    CHECK(left.substr(0, 2'000) == std::string(2'000, 's'));
    // Where it was written over, each byte is the old or the new one, and nothing else.
    CHECK(left.substr(2'000, 1'000).find_first_not_of("su") == std::string::npos);
    CHECK(left.substr(3'000).find_first_not_of(std::string("u\0", 2)) == std::string::npos);
  }
}

TEST_CASE("a power loss changes nothing of a file that is synced", "[sim][disk]") {
  Inode inode;
  write(inode, 0, "text");
  CHECK_FALSE(inode.is_synced());
  inode.sync();
  CHECK(inode.is_synced());
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draws draws = draws_of(seed);
    inode.lose_power(draws);
    CHECK(text_of(inode) == "text");
  }
}

TEST_CASE("writes that were not synced meet each of four fates equally often", "[sim][disk]") {
  const Fates fates = fates_of(4'000);

  // 1,000 each, and three and a half times the spread of 27. A prefix may also happen to be empty.
  CHECK(fates.all > 900);
  CHECK(fates.all < 1'100);
  CHECK(fates.none > 900);
  CHECK(fates.none < 1'100);
  CHECK(fates.prefix > 900);
  CHECK(fates.prefix < 1'100);
  CHECK(fates.sectors > 900);
  CHECK(fates.sectors < 1'100);
}

TEST_CASE("only the last write that survives is torn inside of a sector", "[sim][disk]") {
  const Fates fates = fates_of(1'000);

  CHECK(fates.torn > 200);  // Nearly every prefix; fates_of sees to the rest.
}

TEST_CASE("a long write keeps any of its sectors, or a part that ends anywhere", "[sim][disk]") {
  // From the middle of a sector to the middle of another.
  constexpr std::uint64_t from = 100;
  constexpr std::size_t size = 4 * sector_bytes;
  int ends_in_a_sector = 0;
  int has_a_gap = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const std::string left = left_by(seed, [](Inode& inode) {
      write(inode, 0, std::string(6 * sector_bytes, '.'));
      inode.sync();
      write(inode, from, std::string(size, 'x'));
    });
    CHECK(left.size() == 6 * sector_bytes);
    const auto first = left.find('x');
    if (first == std::string::npos) continue;
    const auto end = left.find('.', first);
    const bool gap = first != from || left.find('x', end) != std::string::npos;
    const bool whole_sectors = end % sector_bytes == 0 || end == from + size;
    has_a_gap += gap ? 1 : 0;
    ends_in_a_sector += whole_sectors ? 0 : 1;
    CAPTURE(seed);
    // Never both: what is kept by the sector is kept in whole sectors.
    if (gap) CHECK(whole_sectors);
    if (gap) CHECK((first == from || first % sector_bytes == 0));
  }

  CHECK(has_a_gap > 100);
  CHECK(ends_in_a_sector > 100);
}

TEST_CASE("a file that grew without a sync may be as short as before", "[sim][disk]") {
  bool was_short = false;
  bool was_long = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string left = left_by(seed, [](Inode& inode) {
      write(inode, 0, "old");
      inode.sync();
      write(inode, 3, "new");
    });
    was_short |= left == "old";
    was_long |= left == "oldnew";
    CHECK(std::string_view("oldnew").starts_with(left));
    CHECK(left.size() >= 3);
  }

  CHECK(was_short);
  CHECK(was_long);
}

TEST_CASE("a lost write leaves zeros between those that survived", "[sim][disk]") {
  bool seen = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto kept = kept_of(left_by(seed, write_sectors));  // Checks that they are zeros.
    seen |= kept[0] == 0 && kept[1] == sector_bytes;
  }

  CHECK(seen);
}

TEST_CASE("a truncation happens as a whole or not at all", "[sim][disk]") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string left = left_by(seed, [](Inode& inode) {
      write(inode, 0, std::string(2'000, 's'));
      inode.sync();
      inode.truncate(700);
    });
    CAPTURE(seed);
    CHECK((left == std::string(2'000, 's') || left == std::string(700, 's')));
    kept += left.size() == 700 ? 1 : 0;
  }

  // All kept, and half of those by the sector: 150, and three and a half times a spread of 10.
  CHECK(kept > 115);
  CHECK(kept < 185);
}

TEST_CASE("a truncation and a later write survive in any combination", "[sim][disk]") {
  std::vector<std::string> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string left = left_by(seed, [](Inode& inode) {
      write(inode, 0, std::string(600, 's'));
      inode.sync();
      inode.truncate(0);
      write(inode, 512, std::string(10, 'w'));
    });
    if (std::ranges::find(seen, left) == seen.end()) seen.push_back(left);
  }

  const std::string hole(512, '\0');
  const std::string written(10, 'w');
  const auto was_seen = [&](const std::string& text) {
    return std::ranges::find(seen, text) != seen.end();
  };
  CHECK(was_seen(std::string(600, 's')));
  CHECK(was_seen(""));
  CHECK(was_seen(hole + written));
  CHECK(was_seen(std::string(512, 's') + written + std::string(78, 's')));
}

TEST_CASE("nothing is lost when all is quiet", "[sim][disk]") {
  Inode inode;
  write_sectors(inode);
  inode.truncate(2 * sector_bytes);
  Draws draws({7, true}, Domain::world, "disk/test");

  inode.lose_power(draws);

  CHECK(text_of(inode) == std::string(sector_bytes, 'a') + std::string(sector_bytes, 'b'));
}

TEST_CASE("a file is read as it was last written, synced or not", "[sim][disk]") {
  Inode inode;
  write(inode, 0, "0123456789");
  inode.sync();
  write(inode, 3, "abc");
  inode.truncate(8);
  write(inode, 10, "z");
  write(inode, 500, "");  // Nothing, not even length.

  CHECK(text_of(inode) == std::string("012abc67\0\0z", 11));
  std::string piece(4, '?');
  CHECK(inode.read(9, std::as_writable_bytes(std::span(piece))) == 2);
  CHECK(inode.read(11, std::as_writable_bytes(std::span(piece))) == 0);
}
