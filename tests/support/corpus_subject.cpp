#include "corpus_subject.hpp"

#include "job_loading.hpp"

namespace millrace::tests {

properties::Subject corpus_subject(const std::string& job, std::uint64_t records, SinkMode mode) {
  JobSpec spec = tool::load_job(MILLRACE_ROOT "/corpus/jobs/" + job + ".toml", {});
  spec.sinks.front().mode = mode;
  return properties::Subject(spec, head_of(tool::load_input(spec), records));
}

}  // namespace millrace::tests
