#include "millrace/runtime/job.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/node.hpp"

namespace millrace {
namespace {

void visit(const Node& node, std::vector<const Node*>& order) {
  if (std::find(order.begin(), order.end(), &node) != order.end()) return;
  for (const Node::Input& input : node.inputs) visit(*input.from, order);
  order.push_back(&node);
}

bool is_label(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

const char* kind_of(const Node& node) {
  switch (node.role) {
    case Node::Role::source: return "source";
    case Node::Role::steps: return "steps";
    case Node::Role::keyed: return "keyed";
    case Node::Role::sink: return "sink";
  }
  return "";
}

}  // namespace

Job::Job(std::string_view name, std::vector<End> ends) : name_(name), ends_(std::move(ends)) {
  if (name_.empty()) throw UsageError("a job needs a name");
  if (ends_.empty()) throw UsageError(fmt::format("job `{}` ends in no sink", name_));
  for (const End& end : ends_) visit(*end.sink(), nodes_);

  std::set<std::string_view> names;
  for (const Node* node : nodes_) {
    if (node->role == Node::Role::steps) continue;
    if (!is_label(node->name)) {
      throw UsageError(fmt::format(
          "job `{}`: an operator is called `{}`; letters, digits, `_` and `-` are expected", name_,
          node->name));
    }
    if (!names.insert(node->name).second) {
      throw UsageError(fmt::format("job `{}`: two operators are called `{}`", name_, node->name));
    }
    std::string type = kind_of(*node);
    for (const RowType* out : node->outputs) type += " " + out->shape;
    if (!node->settings.empty()) type += "; " + node->settings;
    fingerprint_.push_back({node->name, std::move(type)});
  }
}

Job& Job::set_fingerprint(std::vector<FingerprintPart> parts) {
  fingerprint_ = std::move(parts);
  return *this;
}

}  // namespace millrace
