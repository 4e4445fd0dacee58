#include "millrace/sqlite/publish_decision.hpp"

namespace millrace {

PublishDecision decide_publish(const std::optional<Marker>& marker, Lineage lineage, Term term,
                               CheckpointId id) {
  // A marker that is gone was taken away after the fence made it. Only a takeover may say what that
  // means; it will find it absent.
  if (!marker) return PublishDecision::refuse;
  if (marker->lineage != lineage) return PublishDecision::refuse;
  // Before the look at the id: a zombie must learn that it is one, even when it asks for nothing.
  if (marker->fence_term > term) return PublishDecision::refuse;
  return id > marker->published ? PublishDecision::insert : PublishDecision::repeat;
}

bool may_write(const std::optional<Marker>& marker, Lineage lineage, Term term) {
  return marker && marker->lineage == lineage && marker->fence_term == term;
}

}  // namespace millrace
