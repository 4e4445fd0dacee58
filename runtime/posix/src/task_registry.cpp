#include "millrace/posix/task_registry.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"

namespace millrace::posix {

void TaskRegistry::enter(std::string_view node, std::string_view role, ThreadParker& parker) {
  auto name = fmt::format("{}/{}", node, role);
  const std::lock_guard lock(mutex_);
  invariant(
      std::ranges::none_of(tasks_, [&](const auto& entry) { return entry.second.name == name; }),
      "no two tasks that live at once on a node share a role");
  const bool is_new =
      tasks_.try_emplace(std::this_thread::get_id(), Task{std::move(name), &parker}).second;
  invariant(is_new, "a thread runs one task at a time");
}

void TaskRegistry::leave() {
  const std::lock_guard lock(mutex_);
  tasks_.erase(std::this_thread::get_id());
}

ThreadParker& TaskRegistry::parker_of_this_thread() {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(std::this_thread::get_id());
  invariant(found != tasks_.end(), "whoever waits for a device is a task");
  return *found->second.parker;
}

std::size_t TaskRegistry::count() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

}  // namespace millrace::posix
