#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// A value of a TOML file, with its place.
class TomlValue {
 public:
  /// The text that it is, if it is one.
  std::optional<std::string> text() const;

 private:
  friend class TomlSection;
  explicit TomlValue(const void* node) : node_(node) {}
  const void* node_;  ///< A node of the library; null: none.
};

/// A value and what it is called. In lists of texts, the text itself.
struct TomlEntry {
  std::string key;
  TomlValue value;
};

/// A table of a TOML file, whose keys are asked for one by one. Whatever nobody asked for is an
/// error: a misspelt key must not be a default in disguise.
///
/// All functions throw UsageError with file, line, key and what was expected.
class TomlSection {
 public:
  bool has(const char* key);
  std::string text(const char* key);
  std::string text_or(const char* key, std::string fallback);
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most);
  std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t least,
                          std::int64_t most);
  bool boolean_or(const char* key, bool fallback);
  Duration duration(const char* key);
  Duration duration_or(const char* key, Duration fallback);
  std::vector<TomlEntry> texts(const char* key);
  /// One text, or a list of them.
  std::vector<TomlEntry> one_or_more_texts(const char* key);
  TomlSection section(const char* key);
  std::vector<TomlSection> sections(const char* key);  ///< A list of tables; perhaps empty.
  /// All keys of this table with their values, in the order of the file.
  std::vector<TomlEntry> entries();

  /// Complains of the first key that was not asked for.
  void finish() const;

  /// Complains of a value, of a key's value, of the section as a whole.
  [[noreturn]] void fail_at(const TomlValue& at, std::string_view what) const;
  [[noreturn]] void fail_key(std::string_view key, std::string_view what) const;
  [[noreturn]] void fail(std::string_view what) const;
  /// `sink.table`, for messages.
  std::string path_of(std::string_view key) const;
  const std::string& file() const;

 private:
  friend class TomlDocument;
  struct Tree;
  TomlSection(std::shared_ptr<const Tree> tree, std::string name, const void* table)
      : tree_(std::move(tree)), name_(std::move(name)), table_(table) {}

  std::shared_ptr<const Tree> tree_;
  std::string name_;
  const void* table_;
  std::vector<std::string> asked_;
  bool all_asked_ = false;
};

/// A TOML file. The only way to TOML in this program: the library's header stays behind it.
class TomlDocument {
 public:
  /// Throws UsageError: it is not TOML, and where.
  TomlDocument(std::string_view text, const std::string& file);

  /// Replaces or adds a value. `key` is names joined by dots, elements of lists by their number;
  /// `value` is TOML, and what is none is taken as a text.
  /// Throws UsageError: there is nothing like that to set.
  void set(std::string_view key, const std::string& value);

  /// Adds an empty table to the file's own, if there is nothing of that name.
  void add_table(const std::string& key);

  TomlSection root() const;

 private:
  std::shared_ptr<TomlSection::Tree> tree_;
};

/// A text as TOML writes it, in quotes.
std::string toml_quoted(std::string_view text);

}  // namespace millrace
