#include "sink_client.hpp"

#include <fmt/format.h>

#include "millrace/sim/database_server.hpp"

#include "device_client.hpp"
#include "device_frame.hpp"
#include "sink_protocol.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

Encoder request(SinkRequest kind) {
  Encoder out;
  begin_frame(out);
  out.number(static_cast<std::uint8_t>(kind));
  return out;
}

class SinkClient final : public SinkTable {
 public:
  SinkClient(Task& task, std::string database, TableSchema schema)
      : server_(task, database_node), database_(std::move(database)), schema_(std::move(schema)) {}

  void ensure(Instant deadline) override { require(call(request(SinkRequest::ensure), deadline)); }

  Fenced fence(const FenceRequest& wanted, Instant deadline) override {
    Encoder out = request(SinkRequest::fence);
    write_lineage(out, wanted.lineage);
    out.number(wanted.term.number);
    out.number(static_cast<std::uint8_t>(wanted.from_genesis));
    out.number(static_cast<std::uint8_t>(wanted.adopt));
    const Bytes answer = require(call(std::move(out), deadline));
    Decoder in(answer);
    Fenced fenced;
    fenced.outcome = static_cast<FenceOutcome>(in.number<std::uint8_t>());
    if (in.number<std::uint8_t>() != 0) {
      fenced.marker = Marker{read_lineage(in), {in.number<std::uint64_t>()}, read_id(in)};
    }
    return fenced;
  }

  PublishOutcome publish(Lineage lineage, Term term, CheckpointId id, StagedBatches& batches,
                         Instant deadline) override {
    Encoder out = request(SinkRequest::publish);
    write_lineage(out, lineage);
    out.number(term.number);
    write_id(out, id);
    while (const auto batch = batches.next_batch()) {
      for (auto block = batches.next_block(); !block.empty(); block = batches.next_block()) {
        write_id(out, *batch);
        out.bytes(block);
      }
    }
    return outcome_of(call(std::move(out), deadline));
  }

  PublishOutcome write(Lineage lineage, Term term, std::span<const std::byte> cells,
                       Instant deadline) override {
    Encoder out = request(SinkRequest::write);
    write_lineage(out, lineage);
    out.number(term.number);
    out.bytes(cells);
    return outcome_of(call(std::move(out), deadline));
  }

 private:
  static PublishOutcome outcome_of(const std::optional<Bytes>& answer) {
    if (!answer) return PublishOutcome::unknown;
    return static_cast<PublishOutcome>(Decoder(*answer).number<std::uint8_t>());
  }

  /// A broken connection took the server's session along: the next one begins with `open`.
  std::optional<Bytes> call(Encoder out, Instant deadline) {
    if (!is_open_) {
      Encoder open = request(SinkRequest::open);
      open.text(database_);
      open.text(schema_.table);
      open.number(static_cast<std::uint32_t>(schema_.columns.size()));
      for (const auto& column : schema_.columns) {
        open.text(column.name);
        open.number(static_cast<std::uint8_t>(column.type));
        open.number(static_cast<std::uint8_t>(column.nullable));
      }
      open.number(static_cast<std::uint32_t>(schema_.key.size()));
      for (const auto& name : schema_.key) open.text(name);
      open.number(static_cast<std::uint8_t>(schema_.unique_key));
      open.number(static_cast<std::uint8_t>(schema_.mode));
      if (!server_.call(open, deadline)) return std::nullopt;
      is_open_ = true;
    }
    auto answer = server_.call(out, deadline);
    if (!answer) is_open_ = false;
    return answer;
  }
  Bytes require(std::optional<Bytes> answer) const {
    if (!answer) throw Unavailable(fmt::format("{}: the database does not answer", database_));
    return std::move(*answer);
  }

  DeviceClient server_;
  std::string database_;
  TableSchema schema_;
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<SinkTable> SinkClients::open(const std::string& database,
                                             const TableSchema& schema) {
  return std::make_unique<SinkClient>(task_, database, schema);
}

}  // namespace millrace::sim
