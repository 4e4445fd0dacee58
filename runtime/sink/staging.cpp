#include "millrace/runtime/sink/staging.hpp"

#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/sink/staged_rows.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {

Staging::Staging(const StageContext& context, std::string sink)
    : env_(context.env), sink_(std::move(sink)), at_(context.at) {
  LandmarkFields fields;
  fields.id = context.restored;
  fields.subtask = at_.index;
  env_.landmark(landmarks::sink_started, fields);
}

void Staging::save(Snapshot& snapshot) {
  LandmarkFields fields;
  fields.id = snapshot.acknowledgement.id;
  fields.subtask = at_.index;
  env_.landmark(landmarks::sink_checkpoint_begun, fields);
  if (cells_.rows() != 0) {
    StagedObject object;
    object.sink = sink_;
    object.id = snapshot.acknowledgement.id;
    object.subtask = static_cast<std::uint32_t>(at_.index);
    object.name = object_names::staged(object.id, sink_, object.subtask);
    object.rows = cells_.rows();
    const Bytes cells = cells_.take();
    Bytes bytes = seal_rows(object.rows, cells);
    object.size_bytes = bytes.size();
    unpublished_.push_back(object);
    fields.count = object.rows;
    snapshot.rows.push_back({std::move(object), std::move(bytes)});
  }
  env_.landmark(landmarks::sink_flushed, fields);
  snapshot.sinks.push_back(sink_);
  auto& listed = snapshot.acknowledgement.staged;
  listed.insert(listed.end(), unpublished_.begin(), unpublished_.end());
}

void Staging::published(CheckpointId id) {
  std::erase_if(unpublished_, [id](const StagedObject& object) { return object.id <= id; });
}

}  // namespace millrace
