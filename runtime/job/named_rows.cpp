#include "named_rows.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"

namespace millrace {
namespace {

bool is_label(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string list_of(const std::vector<Field>& fields) {
  std::vector<std::string> list;
  for (const Field& field : fields) list.push_back(describe(field));
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

void NamedRows::take_name(const std::string& name, const TomlSection& at, const char* key) {
  const auto complain = [&](const std::string& what) {
    if (key == nullptr) at.fail(what);
    at.fail_key(key, what);
  };
  if (!is_label(name) || name.empty()) {
    complain(fmt::format("`{}` is a name; letters, digits, `_` and `-` are expected", name));
  }
  if (names_.insert(name).second) return;
  complain(
      fmt::format("two of the sources, steps, sinks and their late rows are called `{}`; "
                  "{} is expected, under which state is kept",
                  name, key == nullptr ? "a `name`" : "another name"));
}

void NamedRows::add(Rows rows, bool is_source) {
  expected_.erase(rows.name);
  rows_.push_back({std::move(rows), is_source});
}

Inputs NamedRows::read_from(TomlSection& at) {
  if (at.has("from")) return read_given_from(at);
  if (!rows_.back().is_source || rows_.size() == 1) {
    rows_.back().is_read = true;
    return {rows_.size() - 1};
  }
  at.fail(fmt::format("{} is missing; one of the sources is expected, which are {}",
                      at.path_of("from"), names(true)));
}

Inputs NamedRows::read_given_from(TomlSection& at) {
  Inputs inputs;
  for (const TomlEntry& entry : at.one_or_more_texts("from")) {
    inputs.push_back(find(entry.key, at, "from", &entry.value));
    if (std::count(inputs.begin(), inputs.end(), inputs.back()) != 1) {
      at.fail_at(entry.value,
                 fmt::format("{}: `{}` stands there twice", at.path_of("from"), entry.key));
    }
  }
  if (inputs.empty()) at.fail_key("from", fmt::format("{} is empty", at.path_of("from")));
  expect_equal_fields(inputs, at);
  return inputs;
}

std::size_t NamedRows::read_side(TomlSection& join, const char* key) {
  return find(join.text(key), join, key, nullptr);
}

bool NamedRows::have_time(const Inputs& inputs) const {
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](std::size_t number) { return rows_[number].rows.has_time; });
}

void NamedRows::expect_all_read() const {
  for (const Known& known : rows_) {
    if (known.is_read) continue;
    const std::string& name = known.rows.name;
    known.rows.at.fail(
        fmt::format("nobody reads the rows of {}{}; a step or a sink with `from` is "
                    "expected",
                    known.is_source ? "the source" : "this step",
                    name.empty() ? ", which has no name" : fmt::format(" `{}`", name)));
  }
}

std::size_t NamedRows::find(const std::string& name, const TomlSection& at, const char* key,
                            const TomlValue* value) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Known& known) {
    return !name.empty() && known.rows.name == name;
  });
  if (found != rows_.end()) {
    found->is_read = true;
    return static_cast<std::size_t>(found - rows_.begin());
  }
  const std::string what =
      expected_.contains(name)
          ? fmt::format("{}: the step `{}` does not stand before this one; rows go down the file",
                        at.path_of(key), name)
          : fmt::format("{}: no source and no step is called `{}`; there are {}", at.path_of(key),
                        name, names(false));
  if (value != nullptr) at.fail_at(*value, what);
  at.fail_key(key, what);
}

void NamedRows::expect_equal_fields(const Inputs& inputs, const TomlSection& at) const {
  const Rows& first = rows_[inputs.front()].rows;
  for (const std::size_t number : inputs) {
    const Rows& other = rows_[number].rows;
    if (other.fields == first.fields) continue;
    at.fail_key("from", fmt::format("{}: fields of equal names and types, in one order, are "
                                    "expected; `{}` has {}, and `{}` has {}",
                                    at.path_of("from"), first.name, list_of(first.fields),
                                    other.name, list_of(other.fields)));
  }
}

std::string NamedRows::names(bool sources_only) const {
  std::vector<std::string_view> names;
  for (const Known& known : rows_) {
    if (known.rows.name.empty() || (sources_only && !known.is_source)) continue;
    names.push_back(known.rows.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace millrace
