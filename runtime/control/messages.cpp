#include "millrace/runtime/control/messages.hpp"

#include <type_traits>

#include "millrace/runtime/state/checkpoint_codec.hpp"

namespace millrace {

Term term_of(const ControlMessage& message) {
  return std::visit(
      [](const auto& m) -> Term {
        using M = std::remove_cvref_t<decltype(m)>;
        if constexpr (std::is_same_v<M, Join>) {
          return {};
        } else if constexpr (std::is_same_v<M, Acknowledged>) {
          return m.acknowledgement.id.term;
        } else if constexpr (requires { m.term; }) {
          return m.term;
        } else {
          return m.id.term;
        }
      },
      message);
}

void encode_message(Encoder& out, const ControlMessage& message) { encode(out, message); }

ControlMessage decode_message(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  auto message = decoded<ControlMessage>(in);
  in.expect_end();
  return message;
}

}  // namespace millrace
