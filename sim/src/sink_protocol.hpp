#pragma once

#include <cstdint>

#include "millrace/env/bytes.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace::sim {

/// What a client asks of the database. Requests begin with it.
enum class SinkRequest : std::uint8_t {
  open,     ///< database, schema ->
  ensure,   ///< ->
  fence,    ///< FenceRequest -> Fenced
  publish,  ///< lineage, term, id, batches -> PublishOutcome
  write,    ///< lineage, term, cells -> PublishOutcome
};

inline void write_id(Encoder& out, CheckpointId id) {
  out.number(id.term.number);
  out.number(id.n);
}
inline CheckpointId read_id(Decoder& in) {
  const auto term = in.number<std::uint64_t>();
  const auto n = in.number<std::uint64_t>();
  return {{term}, n};
}
inline void write_lineage(Encoder& out, Lineage lineage) {
  out.number(lineage.high);
  out.number(lineage.low);
}
inline Lineage read_lineage(Decoder& in) {
  const auto high = in.number<std::uint64_t>();
  const auto low = in.number<std::uint64_t>();
  return {high, low};
}

}  // namespace millrace::sim
