#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace {

struct Node;

/// What an operator that keeps state is called.
///
/// State is found again by this name after a restart, another parallelism or a new version of the
/// job. So it is required, unique in the job, and not to be changed for looks: letters, digits, `_`
/// and `-`.
struct Label {
  Label(const char* label) : name(label) {}             // NOLINT: meant to convert
  Label(std::string_view label) : name(label) {}        // NOLINT: meant to convert
  Label(std::string label) : name(std::move(label)) {}  // NOLINT: meant to convert
  std::string name;
};

/// The end of a stream: rows that go into a sink. Means nothing until it is part of a Job.
class [[nodiscard]] End {
 public:
  explicit End(std::shared_ptr<const Node> sink) : sink_(std::move(sink)) {}
  const std::shared_ptr<const Node>& sink() const { return sink_; }

 private:
  std::shared_ptr<const Node> sink_;
};

/// One thing about a job that its state depends on, by name.
struct FingerprintPart {
  std::string key;
  std::string value;
  friend bool operator==(const FingerprintPart&, const FingerprintPart&) = default;
};

/// What is to be computed: a value that can be copied, kept, and run as often as you like.
///
/// A job is the list of its ends; everything upstream of them belongs to it. It holds the user's
/// functions and no running thing: making all subtasks of a dozen-line job from it takes a few
/// microseconds, which is what a simulated crash costs.
class Job {
 public:
  /// Throws UsageError: no end, no name, or two operators with one name.
  Job(std::string_view name, std::vector<End> ends);
  template <class... Ends>
  explicit Job(std::string_view name, Ends... ends)
      : Job(name, std::vector<End>{std::move(ends)...}) {}

  const std::string& name() const { return name_; }
  const std::vector<End>& ends() const { return ends_; }
  /// Every operator, each behind those that it reads from.
  const std::vector<const Node*>& nodes() const { return nodes_; }

  /// What must not change between a run and the next on the same state.
  const std::vector<FingerprintPart>& fingerprint() const { return fingerprint_; }
  /// Replaces the fingerprint, which by default is made of the operators' names and row types.
  Job& set_fingerprint(std::vector<FingerprintPart> parts);

 private:
  std::string name_;
  std::vector<End> ends_;
  std::vector<const Node*> nodes_;
  std::vector<FingerprintPart> fingerprint_;
};

}  // namespace millrace
