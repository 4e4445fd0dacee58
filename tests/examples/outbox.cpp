#include "outbox.hpp"

#include <fstream>
#include <memory>
#include <mutex>
#include <set>

#include "millrace/env/error.hpp"

namespace millrace::examples {
namespace {

class Outbox {
 public:
  explicit Outbox(std::string file) : path_(std::move(file)) {}

  void put(std::string_view request, std::string_view key) {
    const std::lock_guard lock(mutex_);  // Subtasks ask at once.
    if (!file_.is_open()) open();
    if (!key.empty() && !done_.emplace(key).second) return;
    file_ << key << ' ' << request << std::endl;
    if (!file_) throw WorldError(path_ + " cannot be written");
  }

 private:
  /// At the first request: a job that asks for nothing leaves no file.
  void open() {
    std::ifstream before(path_);
    for (std::string line; std::getline(before, line);) {
      done_.insert(line.substr(0, line.find(' ')));
    }
    file_.open(path_, std::ios::app);
  }

  std::string path_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> done_;
  std::ofstream file_;
};

}  // namespace

Service outbox(const std::string& file) {
  auto box = std::make_shared<Outbox>(file);
  return [box](std::string_view request, std::string_view key) { box->put(request, key); };
}

}  // namespace millrace::examples
