#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// A value with its place, and a key with its place: for lists whose order matters, which the
/// library sorts by name.
struct TomlEntry {
  std::string key;
  const toml::node* value;
};

/// A table of a TOML file, whose keys are asked for one by one. Whatever nobody asked for is an
/// error: a misspelt key must not be a default in disguise.
///
/// All functions throw UsageError with file, line, key and what was expected.
class TomlSection {
 public:
  TomlSection(std::string file, std::string name, const toml::table& table)
      : file_(std::move(file)), name_(std::move(name)), table_(table) {}

  bool has(const char* key);
  std::string text(const char* key);
  std::string text_or(const char* key, std::string fallback);
  std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t least,
                          std::int64_t most);
  bool boolean_or(const char* key, bool fallback);
  Duration duration(const char* key);
  Duration duration_or(const char* key, Duration fallback);
  std::vector<TomlEntry> texts(const char* key);  ///< A list; the entries' keys are the texts.
  TomlSection section(const char* key);
  std::vector<TomlSection> sections(const char* key);  ///< A list of tables; perhaps empty.
  /// All keys of this table with their values, in the order of the file.
  std::vector<TomlEntry> entries();

  /// Complains of the first key that was not asked for.
  void finish() const;

  /// Complains of a value, of a key's value, of the section as a whole.
  [[noreturn]] void fail_at(const toml::node* at, std::string_view what) const;
  [[noreturn]] void fail_key(std::string_view key, std::string_view what) const {
    fail_at(table_.get(key), what);
  }
  [[noreturn]] void fail(std::string_view what) const { fail_at(&table_, what); }
  /// `[sink] table`, for messages.
  std::string path_of(std::string_view key) const;
  const std::string& file() const { return file_; }

 private:
  const toml::node* find(const char* key);
  const toml::node& require(const char* key, std::string_view expected);
  [[noreturn]] void wrong(const char* key, const toml::node& node, std::string_view expected) const;

  std::string file_;
  std::string name_;
  const toml::table& table_;
  std::vector<std::string> asked_;
  bool all_asked_ = false;
};

}  // namespace millrace
