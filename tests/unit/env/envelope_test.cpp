#include "millrace/env/envelope.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

std::string complaint(Content content, std::uint16_t version, const Bytes& sealed) {
  try {
    unseal(content, version, sealed, "manifest/1.2");
  } catch (const CorruptObject& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an envelope gives back what was put into it", "[env][envelope]") {
  const Bytes sealed = seal(Content::manifest, 3, as_bytes("payload"));

  CHECK(as_text(unseal(Content::manifest, 3, sealed, "x")) == "payload");
}

TEST_CASE("an envelope with any byte changed is refused by name", "[env][envelope]") {
  const Bytes sealed = seal(Content::manifest, 3, as_bytes("payload"));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    Bytes broken = sealed;
    broken[i] ^= std::byte{0x20};

    CAPTURE(i);
    CHECK(complaint(Content::manifest, 3, broken).find("manifest/1.2") == 0);
  }
}

TEST_CASE("an envelope that was cut off or added to is refused", "[env][envelope]") {
  const Bytes sealed = seal(Content::manifest, 3, as_bytes("payload"));
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    CHECK_FALSE(complaint(Content::manifest, 3,
                          Bytes(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(size)))
                    .empty());
  }
  Bytes longer = sealed;
  longer.push_back(std::byte{0});
  CHECK_FALSE(complaint(Content::manifest, 3, longer).empty());
}

TEST_CASE("an envelope says which version it has and which is read", "[env][envelope]") {
  const Bytes sealed = seal(Content::manifest, 4, as_bytes("payload"));

  CHECK(complaint(Content::manifest, 3, sealed) ==
        "manifest/1.2: its format has version 4; this program reads version 3");
  CHECK(complaint(Content::head, 4, sealed).find("kind 2 where 1 was expected") !=
        std::string::npos);
}
