#include "millrace/runtime/coordinator/head.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"

#include "damage.hpp"

using namespace millrace;

namespace {

Head some_head() {
  Head head;
  head.term = {7};
  head.status = JobStatus::stopped;
  head.lineage = {0x0123456789ABCDEFU, 0xFEDCBA9876543210U};
  head.checkpoint = {{6}, 42};
  head.manifest = "manifest/6.42";
  head.manifest_checksum = 0x1122334455667788U;
  head.nonce = 99;
  head.answered = 12;
  return head;
}

}  // namespace

TEST_CASE("a head survives being written down and read back", "[runtime][head]") {
  for (const JobStatus status : {JobStatus::running, JobStatus::finished, JobStatus::stopped}) {
    Head head = some_head();
    head.status = status;
    CHECK(decode_head(encode_head(head)) == head);
  }
  CHECK(decode_head(encode_head(Head{})) == Head{});
}

TEST_CASE("a head with any byte changed, or cut short, is refused", "[runtime][head]") {
  const Bytes bytes = encode_head(some_head());

  CHECK(find_unnoticed_change(bytes, decode_head) == std::nullopt);
  CHECK(find_unnoticed_cut(bytes, decode_head) == std::nullopt);
}

TEST_CASE("a head is refused whose checksum fits and whose content cannot be", "[runtime][head]") {
  const Bytes sealed = encode_head(some_head());
  const auto payload = unseal(Content::head, 2, sealed, "head");
  const auto resealed = [&](auto change) {
    Bytes changed(payload.begin(), payload.end());
    change(changed);
    return seal(Content::head, 2, changed);
  };
  constexpr std::size_t status_at = 8;

  for (const int status : {0, 4, 255}) {
    const Bytes bytes =
        resealed([&](Bytes& head) { head[status_at] = static_cast<std::byte>(status); });
    CHECK(message_of<CorruptObject>([&] { decode_head(bytes); }) ==
          "head: its status is none that there is");
  }
  CHECK(is_refused(resealed([](Bytes& head) { head.pop_back(); }), decode_head));
  CHECK(is_refused(resealed([](Bytes& head) { head.push_back({}); }), decode_head));
}

TEST_CASE("a head of another version is refused by name", "[runtime][head]") {
  const Bytes sealed = encode_head(some_head());
  for (const int other : {1, 3}) {
    const Bytes bytes = seal(Content::head, static_cast<std::uint16_t>(other),
                             unseal(Content::head, 2, sealed, "head"));
    CHECK(message_of<CorruptObject>([&] { decode_head(bytes); }) ==
          "head: its format has version " + std::to_string(other) +
              "; this program reads version 2");
  }
}

TEST_CASE("a swap that was stored is won, whatever is found", "[runtime][head]") {
  CHECK(decide_swap({SwapOutcome::stored, std::nullopt}, some_head()) == SwapStep::won);
}

TEST_CASE("a swap whose answer was lost is repeated, whatever is found", "[runtime][head]") {
  Head other = some_head();
  other.nonce = 100;

  CHECK(decide_swap({SwapOutcome::unknown, std::nullopt}, some_head()) == SwapStep::repeat);
  // Even what looks like an answer is none: the late put may still come (PROTOCOL 1.3).
  CHECK(decide_swap({SwapOutcome::unknown, some_head()}, some_head()) == SwapStep::repeat);
  CHECK(decide_swap({SwapOutcome::unknown, other}, some_head()) == SwapStep::repeat);
}

TEST_CASE("a swap refused by its own earlier attempt is won, and by anything else is lost",
          "[runtime][head]") {
  const Head mine = some_head();
  CHECK(decide_swap({SwapOutcome::refused, mine}, mine) == SwapStep::won);
  CHECK(decide_swap({SwapOutcome::refused, std::nullopt}, mine) == SwapStep::lost);

  // One difference is enough, and above all the nonce: another writer may want to say the same.
  std::vector<Head> others(7, mine);
  others[0].nonce = 100;
  others[1].term = {8};
  others[2].status = JobStatus::running;
  others[3].lineage.low = 0;
  others[4].checkpoint = {{6}, 43};
  others[5].manifest = "manifest/6.43";
  others[6].manifest_checksum = 0;
  for (const Head& other : others) {
    CHECK(decide_swap({SwapOutcome::refused, other}, mine) == SwapStep::lost);
  }
}
