#pragma once

#include "millrace/runtime/state/checkpoint.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

// The parts of a checkpoint are plain structs down to these, so the compiler finds their members.
// The same bytes stand in manifests and in control messages (MANIFEST.md).

template <>
struct Codec<Term> {
  static void encode(Encoder& out, Term value) { out.number(value.number); }
  static void decode(Decoder& in, Term& value) { value.number = in.number<std::uint64_t>(); }
};

template <>
struct Codec<CheckpointId> {
  static void encode(Encoder& out, CheckpointId value) {
    out.number(value.term.number);
    out.number(value.n);
  }
  static void decode(Decoder& in, CheckpointId& value) {
    value.term.number = in.number<std::uint64_t>();
    value.n = in.number<std::uint64_t>();
  }
};

}  // namespace millrace
