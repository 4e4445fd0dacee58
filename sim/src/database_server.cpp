#include "millrace/sim/database_server.hpp"

#include <memory>

#include "millrace/sim/device_operations.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"

#include "device_server.hpp"
#include "memory_table.hpp"
#include "sink_protocol.hpp"

namespace millrace::sim {
namespace {

/// The batches of a publish, out of the request that carried them.
class SentBatches final : public StagedBatches {
 public:
  explicit SentBatches(Decoder in) : in_(in) { read_header(); }

  std::optional<CheckpointId> next_batch() override {
    while (pending_ && pending_ == current_) skip();
    current_ = pending_;
    return current_;
  }
  std::span<const std::byte> next_block() override {
    if (!pending_ || pending_ != current_) return {};
    const auto block = in_.bytes();
    read_header();
    return block;
  }

 private:
  void read_header() { pending_ = in_.left() == 0 ? std::optional<CheckpointId>{} : read_id(in_); }
  void skip() {
    in_.bytes();
    read_header();
  }

  Decoder in_;
  std::optional<CheckpointId> current_;  ///< The batch that is being read.
  std::optional<CheckpointId> pending_;  ///< Whose the next block is.
};

std::unique_ptr<SinkTables> open_tables(Env& env, const DatabaseOptions& options) {
  if (options.memory != nullptr) {
    return std::make_unique<MemoryTables>(env, *options.memory, options.on_commit);
  }
  return std::make_unique<SqliteTables>("", options.vfs, options.on_commit);
}

/// The tables of one client; it uses one.
class SinkSession {
 public:
  SinkSession(Env& env, const DatabaseOptions& options) : tables_(open_tables(env, options)) {}

  void serve(Env& env, std::span<const std::byte> request, Encoder& out) {
    Decoder in(request);
    const auto kind = static_cast<SinkRequest>(in.number<std::uint8_t>());
    if (kind == SinkRequest::open) return open(in);
    if (table_ == nullptr) throw WorldError("the database was not told which table");
    switch (kind) {
      case SinkRequest::open: break;
      case SinkRequest::ensure: table_->ensure(Instant::never()); break;
      case SinkRequest::fence: {
        FenceRequest wanted;
        wanted.lineage = read_lineage(in);
        wanted.term = {in.number<std::uint64_t>()};
        wanted.from_genesis = in.number<std::uint8_t>() != 0;
        wanted.adopt = in.number<std::uint8_t>() != 0;
        const Fenced fenced = table_->fence(wanted, Instant::never());
        out.number(static_cast<std::uint8_t>(fenced.outcome));
        out.number(static_cast<std::uint8_t>(fenced.marker.has_value()));
        if (fenced.marker) {
          write_lineage(out, fenced.marker->lineage);
          out.number(fenced.marker->fence_term.number);
          write_id(out, fenced.marker->published);
        }
        break;
      }
      case SinkRequest::publish: {
        const Lineage lineage = read_lineage(in);
        const Term term{in.number<std::uint64_t>()};
        const CheckpointId id = read_id(in);
        SentBatches batches(in);
        const auto outcome = table_->publish(lineage, term, id, batches, Instant::never());
        out.number(static_cast<std::uint8_t>(outcome));
        break;
      }
      case SinkRequest::write: {
        const Lineage lineage = read_lineage(in);
        const Term term{in.number<std::uint64_t>()};
        const auto outcome = table_->write(lineage, term, in.bytes(), Instant::never());
        out.number(static_cast<std::uint8_t>(outcome));
        break;
      }
    }
    env.step(served);
  }

 private:
  static constexpr Site served{"database.served"};

  void open(Decoder& in) {
    const std::string database(in.text());
    TableSchema schema;
    schema.table = in.text();
    schema.columns.resize(in.count(1));
    for (auto& column : schema.columns) {
      column.name = in.text();
      column.type = static_cast<TableSchema::Type>(in.number<std::uint8_t>());
      column.nullable = in.number<std::uint8_t>() != 0;
    }
    schema.key.resize(in.count(1));
    for (auto& name : schema.key) name = in.text();
    schema.unique_key = in.number<std::uint8_t>() != 0;
    schema.mode = static_cast<SinkMode>(in.number<std::uint8_t>());
    table_ = tables_->open(database, schema);
  }

  std::unique_ptr<SinkTables> tables_;
  std::unique_ptr<SinkTable> table_;
};

}  // namespace

void run_database_server(Env& env, const DatabaseOptions& options) {
  serve_device(env, database_operations, [options](Env& session_env) -> DeviceSession {
    const auto session = std::make_shared<SinkSession>(session_env, options);
    return [session, &session_env](std::span<const std::byte> request, Encoder& answer) {
      session->serve(session_env, request, answer);
    };
  });
}

}  // namespace millrace::sim
