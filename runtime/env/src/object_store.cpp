#include "millrace/env/object_store.hpp"

#include <limits>

namespace millrace {

std::optional<Bytes> read_whole(ObjectStore& store, std::string_view name, Instant deadline) {
  return store.read(name, 0, std::numeric_limits<std::uint64_t>::max(), deadline);
}

PutOutcome put(ObjectStore& store, std::string_view name, std::span<const std::byte> bytes,
               Instant deadline) {
  const auto writer = store.create(name);
  writer->append(bytes);
  return writer->commit(deadline);
}

}  // namespace millrace
