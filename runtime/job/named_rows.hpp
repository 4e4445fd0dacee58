#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

/// The rows of a job while its file is read: what they are called, which fields they have, and
/// whether somebody reads them. And all names of the job, which are also those of its operators.
///
/// All functions that are given a section throw UsageError.
class NamedRows {
 public:
  /// Notes a name that stands in `at`, under `key` or as its heading.
  void take_name(const std::string& name, const TomlSection& at, const char* key = nullptr);

  /// Steps are called so whose rows are not known yet.
  void expect(std::string name) { expected_.insert(std::move(name)); }

  struct Rows {
    std::string name;  ///< Empty: only what stands behind them reads them.
    std::vector<Field> fields;
    bool has_time;   ///< Results of the global window have none that says anything.
    TomlSection at;  ///< Where they are described.
  };
  void add(Rows rows, bool is_source);
  const Rows& operator[](std::size_t number) const { return rows_[number].rows; }

  /// What `from` of a step or sink names, one or several with equal fields; without it the rows of
  /// the step before, or of the only source.
  Inputs read_from(TomlSection& at);
  /// What `from` names, which must be there.
  Inputs read_given_from(TomlSection& at);
  /// The rows that `key` of a join names.
  std::size_t read_side(TomlSection& join, const char* key);

  /// Whether all inputs have event times that a window could go by.
  bool have_time(const Inputs& inputs) const;

  /// Complains of rows that nobody reads.
  void expect_all_read() const;

 private:
  struct Known {
    Rows rows;
    bool is_source;
    bool is_read = false;
  };
  std::size_t find(const std::string& name, const TomlSection& at, const char* key,
                   const TomlValue* value);
  void expect_equal_fields(const Inputs& inputs, const TomlSection& at) const;
  std::string names(bool sources_only) const;

  std::vector<Known> rows_;
  std::set<std::string> names_;
  std::set<std::string> expected_;
};

}  // namespace millrace
