#include "millrace/runtime/job/toml_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

// The only file that knows the library.
#include <algorithm>
#include <charconv>

#include <toml++/toml.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"

namespace millrace {

struct TomlSection::Tree {
  std::string file;
  toml::table root;
};

namespace {

constexpr std::string_view duration_expected = "a span such as \"10s\", with ms, s, min, h or d";

const toml::node* node_of(const void* node) { return static_cast<const toml::node*>(node); }
const toml::table& table_of(const void* table) { return *static_cast<const toml::table*>(table); }

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string: return fmt::format("\"{}\"", *node.value<std::string>());
    case toml::node_type::integer: return fmt::format("{}", *node.value<std::int64_t>());
    case toml::node_type::floating_point: return "a fraction";
    case toml::node_type::boolean: return *node.value<bool>() ? "true" : "false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
  }
}

/// Asks a section for its keys. Everything that can be wrong with one is said here.
class Asker {
 public:
  Asker(const TomlSection& section, const toml::table& table, const char* key)
      : section_(section), key_(key), node_(table.get(key)) {}

  const toml::node* node() const { return node_; }
  const toml::node& require(std::string_view expected) const {
    if (node_ == nullptr) {
      section_.fail(fmt::format("{} is missing; {} is expected", section_.path_of(key_), expected));
    }
    return *node_;
  }
  [[noreturn]] void wrong(const toml::node& node, std::string_view expected) const {
    const auto line = node.source().begin.line;
    const auto what =
        fmt::format("{} is {}; {} is expected", section_.path_of(key_), kind_of(node), expected);
    throw UsageError(line == 0 ? fmt::format("{}: {}", section_.file(), what)
                               : fmt::format("{}:{}: {}", section_.file(), line, what));
  }

 private:
  const TomlSection& section_;
  const char* key_;
  const toml::node* node_;
};

/// The value of a setting: TOML if it is some, else a text.
toml::table parse_value(const std::string& value) {
  try {
    return toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    return toml::table{{"value", value}};
  }
}

}  // namespace

std::optional<std::string> TomlValue::text() const {
  return node_of(node_)->value_exact<std::string>();
}

const std::string& TomlSection::file() const { return tree_->file; }

std::string TomlSection::path_of(std::string_view key) const {
  return name_.empty() ? fmt::format("`{}`", key) : fmt::format("`{}.{}`", name_, key);
}

void TomlSection::fail_at(const TomlValue& at, std::string_view what) const {
  const toml::node* const node = node_of(at.node_);
  const auto line =
      node == nullptr ? table_of(table_).source().begin.line : node->source().begin.line;
  // What a setting has put there stands on no line.
  throw UsageError(line == 0 ? fmt::format("{}: {}", file(), what)
                             : fmt::format("{}:{}: {}", file(), line, what));
}

void TomlSection::fail_key(std::string_view key, std::string_view what) const {
  fail_at(TomlValue(table_of(table_).get(key)), what);
}

void TomlSection::fail(std::string_view what) const { fail_at(TomlValue(nullptr), what); }

bool TomlSection::has(const char* key) {
  asked_.emplace_back(key);
  return table_of(table_).contains(key);
}

std::string TomlSection::text(const char* key) {
  asked_.emplace_back(key);
  const Asker asker(*this, table_of(table_), key);
  const toml::node& node = asker.require("a text");
  const auto value = node.value_exact<std::string>();
  if (!value) asker.wrong(node, "a text in quotes");
  if (value->empty()) asker.wrong(node, "a text that is not empty");
  return *value;
}

std::string TomlSection::text_or(const char* key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}

std::int64_t TomlSection::integer(const char* key, std::int64_t least, std::int64_t most) {
  asked_.emplace_back(key);
  const Asker asker(*this, table_of(table_), key);
  const std::string expected = fmt::format("a whole number from {} to {}", least, most);
  const toml::node& node = asker.require(expected);
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) asker.wrong(node, expected);
  return *value;
}

std::int64_t TomlSection::integer_or(const char* key, std::int64_t fallback, std::int64_t least,
                                     std::int64_t most) {
  return has(key) ? integer(key, least, most) : fallback;
}

bool TomlSection::boolean_or(const char* key, bool fallback) {
  if (!has(key)) return fallback;
  const Asker asker(*this, table_of(table_), key);
  const auto value = asker.node()->value_exact<bool>();
  if (!value) asker.wrong(*asker.node(), "true or false");
  return *value;
}

Duration TomlSection::duration(const char* key) {
  asked_.emplace_back(key);
  const Asker asker(*this, table_of(table_), key);
  const toml::node& node = asker.require(duration_expected);
  const auto written = node.value_exact<std::string>();
  const auto value = written ? parse_duration(*written) : std::nullopt;
  if (!value) asker.wrong(node, duration_expected);
  return *value;
}

Duration TomlSection::duration_or(const char* key, Duration fallback) {
  return has(key) ? duration(key) : fallback;
}

std::vector<TomlEntry> TomlSection::texts(const char* key) {
  constexpr std::string_view expected = "a list of texts, such as [\"a\", \"b\"],";
  asked_.emplace_back(key);
  const Asker asker(*this, table_of(table_), key);
  const toml::node& node = asker.require(expected);
  if (node.as_array() == nullptr) asker.wrong(node, expected);
  std::vector<TomlEntry> entries;
  for (const toml::node& element : *node.as_array()) {
    const auto value = element.value_exact<std::string>();
    if (!value) asker.wrong(element, expected);
    entries.push_back({*value, TomlValue(&element)});
  }
  return entries;
}

std::vector<TomlEntry> TomlSection::one_or_more_texts(const char* key) {
  const toml::node* const node = table_of(table_).get(key);
  if (node != nullptr && node->is_array()) return texts(key);
  std::string one = text(key);
  return {{std::move(one), TomlValue(node)}};
}

TomlSection TomlSection::section(const char* key) {
  asked_.emplace_back(key);
  const Asker asker(*this, table_of(table_), key);
  const toml::node& node = asker.require("a table");
  if (node.as_table() == nullptr) asker.wrong(node, "a table");
  return {tree_, name_.empty() ? key : name_ + "." + key, node.as_table()};
}

std::vector<TomlSection> TomlSection::sections(const char* key) {
  std::vector<TomlSection> found;
  if (!has(key)) return found;
  const Asker asker(*this, table_of(table_), key);
  const std::string expected = fmt::format("a list of tables, each headed [[{}]],", key);
  if (asker.node()->as_array() == nullptr) asker.wrong(*asker.node(), expected);
  for (const toml::node& element : *asker.node()->as_array()) {
    if (element.as_table() == nullptr) asker.wrong(element, expected);
    found.push_back({tree_, key, element.as_table()});
  }
  return found;
}

std::vector<TomlEntry> TomlSection::entries() {
  all_asked_ = true;
  struct Placed {
    toml::source_position at;
    TomlEntry entry;
  };
  std::vector<Placed> placed;
  for (const auto& [key, value] : table_of(table_)) {
    placed.push_back({key.source().begin, {std::string(key.str()), TomlValue(&value)}});
  }
  // The library sorts by name, and the order of the file matters. What a setting has added stands
  // on no line, and behind what the file has.
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    if ((a.at.line == 0) != (b.at.line == 0)) return b.at.line == 0;
    return a.at < b.at;
  });
  std::vector<TomlEntry> entries;
  for (Placed& one : placed) entries.push_back(std::move(one.entry));
  return entries;
}

void TomlSection::finish() const {
  if (all_asked_) return;
  for (const auto& [key, value] : table_of(table_)) {
    if (std::find(asked_.begin(), asked_.end(), key.str()) != asked_.end()) continue;
    std::vector<std::string> accepted = asked_;
    std::sort(accepted.begin(), accepted.end());
    accepted.erase(std::unique(accepted.begin(), accepted.end()), accepted.end());
    fail_at(TomlValue(&value),
            fmt::format("{} is no key that there is; {} has {}", path_of(key.str()),
                        name_.empty() ? "the file" : fmt::format("[{}]", name_),
                        fmt::join(accepted, ", ")));
  }
}

TomlDocument::TomlDocument(std::string_view text, const std::string& file) {
  try {
    tree_ = std::make_shared<TomlSection::Tree>(TomlSection::Tree{file, toml::parse(text, file)});
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: this is not TOML: {}", file, error.source().begin.line,
                                 error.description()));
  }
}

void TomlDocument::add_table(const std::string& key) { tree_->root.insert(key, toml::table{}); }

TomlSection TomlDocument::root() const { return {tree_, "", &tree_->root}; }

void TomlDocument::set(std::string_view key, const std::string& value) {
  const auto no_place = [&](std::string_view part) {
    throw UsageError(
        fmt::format("--set {}={}: there is nothing called `{}` to set", key, value, part));
  };
  toml::node* at = &tree_->root;
  std::string_view left = key;
  while (true) {
    const auto dot = left.find('.');
    const std::string part(left.substr(0, dot));
    const bool is_last = dot == std::string_view::npos;
    if (part.empty()) no_place(part);
    if (auto* const table = at->as_table()) {
      if (is_last) {
        // Copied as a value and not as a node, so that it stands on no line of the file.
        toml::table holder = parse_value(value);
        holder.get("value")->visit([&](auto&& held) { table->insert_or_assign(part, held); });
        return;
      }
      at = table->get(part);
    } else if (auto* const list = at->as_array(); list != nullptr && !is_last) {
      std::size_t index = 0;
      const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
      const bool is_number = read.ec == std::errc{} && read.ptr == part.data() + part.size();
      at = is_number ? list->get(index) : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) no_place(part);
    left.remove_prefix(dot + 1);
  }
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace millrace
