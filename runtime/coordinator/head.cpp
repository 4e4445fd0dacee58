#include "millrace/runtime/coordinator/head.hpp"

#include "millrace/env/envelope.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t format_version = 2;

}  // namespace

Bytes encode_head(const Head& head) {
  Encoder out;
  out.number(head.term.number);
  out.number(static_cast<std::uint8_t>(head.status));
  out.number(head.lineage.high);
  out.number(head.lineage.low);
  out.number(head.checkpoint.term.number);
  out.number(head.checkpoint.n);
  out.text(head.manifest);
  out.number(head.manifest_checksum);
  out.number(head.nonce);
  out.number(head.answered);
  return seal(Content::head, format_version, out.view());
}

Head decode_head(std::span<const std::byte> bytes) {
  return read_sealed(Content::head, format_version, bytes, object_names::head, [](Decoder& in) {
    Head head;
    head.term = {in.number<std::uint64_t>()};
    head.status = static_cast<JobStatus>(in.number<std::uint8_t>());
    if (head.status < JobStatus::running || head.status > JobStatus::stopped) {
      throw CorruptBytes("its status is none that there is");
    }
    head.lineage.high = in.number<std::uint64_t>();
    head.lineage.low = in.number<std::uint64_t>();
    head.checkpoint.term = {in.number<std::uint64_t>()};
    head.checkpoint.n = in.number<std::uint64_t>();
    head.manifest = in.text();
    head.manifest_checksum = in.number<std::uint64_t>();
    head.nonce = in.number<std::uint64_t>();
    head.answered = in.number<std::uint64_t>();
    return head;
  });
}

SwapStep decide_swap(const SwapFacts& facts, const Head& mine) {
  switch (facts.outcome) {
    case SwapOutcome::stored: return SwapStep::won;
    case SwapOutcome::unknown: return SwapStep::repeat;
    case SwapOutcome::refused: break;
  }
  // Refused by my own earlier attempt, whose answer was lost, is success.
  if (facts.found == mine) return SwapStep::won;
  return SwapStep::lost;
}

}  // namespace millrace
