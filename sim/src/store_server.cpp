#include "millrace/sim/store_server.hpp"

#include <fmt/format.h>

#include "millrace/files/directory_store.hpp"
#include "millrace/sim/device_operations.hpp"

#include "device_server.hpp"
#include "store_protocol.hpp"

namespace millrace::sim {
namespace {

using namespace std::chrono_literals;

constexpr auto pause_between_starts = 100ms;

void serve(ObjectStore& store, std::span<const std::byte> request, Encoder& out) {
  Decoder in(request);
  const auto kind = static_cast<StoreRequest>(in.number<std::uint8_t>());
  const auto name = in.text();
  switch (kind) {
    case StoreRequest::put:
      out.number(static_cast<std::uint8_t>(put(store, name, in.bytes(), Instant::never())));
      break;
    case StoreRequest::read: {
      const auto offset = in.number<std::uint64_t>();
      const auto length = in.number<std::uint64_t>();
      const auto found = store.read(name, offset, length, Instant::never());
      out.number(static_cast<std::uint8_t>(found.has_value()));
      if (found) out.bytes(*found);
      break;
    }
    case StoreRequest::read_register: {
      const Versioned found = store.read_register(name, Instant::never());
      out.number(found.version);
      out.bytes(found.bytes);
      break;
    }
    case StoreRequest::put_if_version: {
      const auto expected = in.number<std::uint64_t>();
      const auto outcome = store.put_if_version(name, expected, in.bytes(), Instant::never());
      out.number(static_cast<std::uint8_t>(outcome));
      break;
    }
    case StoreRequest::remove: store.remove(name, Instant::never()); break;
    case StoreRequest::list: {
      const auto names = store.list(name, Instant::never());
      out.number(static_cast<std::uint32_t>(names.size()));
      for (const std::string& found : names) out.text(found);
      break;
    }
  }
}

/// Until the disk lets it: a real server would be started again and again.
void remove_temporaries(Env& env) {
  while (true) {
    try {
      DirectoryStore(env.disk, "objects", "server").remove_temporaries();
      return;
    } catch (const IoError&) {
      env.sleep(pause_between_starts);
    }
  }
}

}  // namespace

void run_store_server(Env& env) {
  remove_temporaries(env);
  serve_device(env, store_operations, [](Env& session) -> DeviceSession {
    const auto store = std::make_shared<DirectoryStore>(session.disk, "objects", session.role);
    return [store](std::span<const std::byte> request, Encoder& answer) {
      serve(*store, request, answer);
    };
  });
}

}  // namespace millrace::sim
