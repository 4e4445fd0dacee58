#include "store_client.hpp"

#include <fmt/format.h>

#include "millrace/sim/store_server.hpp"

#include "device_frame.hpp"
#include "store_protocol.hpp"

namespace millrace::sim {
namespace {

Encoder request(StoreRequest kind, std::string_view name) {
  Encoder out;
  begin_frame(out);
  out.number(static_cast<std::uint8_t>(kind));
  out.text(name);
  return out;
}

Bytes answer_or_throw(std::optional<Bytes> answer, std::string_view name) {
  if (!answer) throw Unavailable(fmt::format("{}: the object store does not answer", name));
  return std::move(*answer);
}

/// Collects an object at the client and sends it whole.
class StoreWriter final : public ObjectWriter {
 public:
  StoreWriter(DeviceClient& server, std::string_view name) : server_(server), name_(name) {}

  void append(std::span<const std::byte> bytes) override { bytes_.raw(bytes.data(), bytes.size()); }

  PutOutcome commit(Instant deadline) override {
    Encoder out = request(StoreRequest::put, name_);
    out.bytes(bytes_.view());
    const auto answer = server_.call(out, deadline);
    if (!answer) return PutOutcome::unknown;
    return static_cast<PutOutcome>(Decoder(*answer).number<std::uint8_t>());
  }

 private:
  DeviceClient& server_;
  std::string name_;
  Encoder bytes_;
};

}  // namespace

StoreClient::StoreClient(Task& task) : server_(task, store_node) {}

std::unique_ptr<ObjectWriter> StoreClient::create(std::string_view name) {
  return std::make_unique<StoreWriter>(server_, name);
}

std::optional<Bytes> StoreClient::read(std::string_view name, std::uint64_t offset,
                                       std::uint64_t length, Instant deadline) {
  Encoder out = request(StoreRequest::read, name);
  out.number(offset);
  out.number(length);
  const Bytes answer = answer_or_throw(server_.call(out, deadline), name);
  Decoder in(answer);
  if (in.number<std::uint8_t>() == 0) return std::nullopt;
  const auto bytes = in.bytes();
  return Bytes(bytes.begin(), bytes.end());
}

Versioned StoreClient::read_register(std::string_view name, Instant deadline) {
  Encoder out = request(StoreRequest::read_register, name);
  const Bytes answer = answer_or_throw(server_.call(out, deadline), name);
  Decoder in(answer);
  Versioned found;
  found.version = in.number<std::uint64_t>();
  const auto bytes = in.bytes();
  found.bytes.assign(bytes.begin(), bytes.end());
  return found;
}

SwapOutcome StoreClient::put_if_version(std::string_view name, std::uint64_t expected,
                                        std::span<const std::byte> bytes, Instant deadline) {
  Encoder out = request(StoreRequest::put_if_version, name);
  out.number(expected);
  out.bytes(bytes);
  const auto answer = server_.call(out, deadline);
  if (!answer) return SwapOutcome::unknown;
  return static_cast<SwapOutcome>(Decoder(*answer).number<std::uint8_t>());
}

void StoreClient::remove(std::string_view name, Instant deadline) {
  Encoder out = request(StoreRequest::remove, name);
  answer_or_throw(server_.call(out, deadline), name);
}

std::vector<std::string> StoreClient::list(std::string_view prefix, Instant deadline) {
  Encoder out = request(StoreRequest::list, prefix);
  const Bytes answer = answer_or_throw(server_.call(out, deadline), prefix);
  Decoder in(answer);
  std::vector<std::string> names(in.count(sizeof(std::uint32_t)));
  for (std::string& name : names) name = in.text();
  return names;
}

}  // namespace millrace::sim
