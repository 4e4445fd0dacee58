#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

/// The rows that a join reads.
struct JoinSide {
  std::string name;
  std::vector<Field> fields;
};
struct JoinSides {
  JoinSide left;
  JoinSide right;
};
/// Of a step that joins; `rows` are the fields of all rows of the job.
JoinSides join_sides(const JobSpec& spec, const std::vector<std::vector<Field>>& rows,
                     const StepSpec& step);

// A [[step]] with `join`, read, written, and told to the fingerprint. Reading throws UsageError,
// and leaves `left` and `right` of the section `join` and the step's other keys.

JoinSpec read_join_step(TomlSection& step, TomlSection& join, const JoinSides& sides);
std::string to_toml(const JoinSpec& join, const JoinSides& sides);
void add_fingerprint(const JoinSpec& join, const JoinSides& sides,
                     std::vector<FingerprintPart>& parts);

/// `-5min`: of a span that may be negative.
std::string describe_signed(Duration span);

}  // namespace millrace
