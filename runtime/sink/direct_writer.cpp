#include "millrace/runtime/sink/direct_writer.hpp"

#include <chrono>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr auto call_patience = 5s;

}  // namespace

DirectWriter::DirectWriter(const StageContext& context, const std::string& database,
                           const TableSchema& schema)
    : env_(context.env),
      at_(context.at),
      lineage_(context.lineage),
      term_(context.term),
      place_(fmt::format("table `{}` in {}", schema.table, database)),
      table_(env_.sinks.open(database, schema)) {
  LandmarkFields fields;
  fields.id = context.restored;
  fields.subtask = at_.index;
  env_.landmark(landmarks::sink_started, fields);
}

void DirectWriter::write() {
  if (cells_.rows() == 0) return;
  LandmarkFields fields;
  fields.id.term = term_;
  fields.subtask = at_.index;
  fields.count = cells_.rows();
  env_.landmark(landmarks::write_begun, fields);
  const Bytes rows = cells_.take();
  switch (table_->write(lineage_, term_, rows, env_.in(call_patience))) {
    case PublishOutcome::published: env_.landmark(landmarks::rows_written, fields); return;
    case PublishOutcome::fenced:
      env_.landmark(landmarks::fenced_out, fields);
      throw WorldError(fmt::format("{}: a later term has fenced it", place_));
    case PublishOutcome::unknown:
      throw Unavailable(fmt::format("{}: nobody knows whether rows were written", place_));
  }
}

}  // namespace millrace
