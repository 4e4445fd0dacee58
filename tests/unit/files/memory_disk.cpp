#include "memory_disk.hpp"

#include <algorithm>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t sector_bytes = 512;

std::string parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(path.substr(0, slash));
}

}  // namespace

template <class Effect>
auto MemoryDisk::call(Effect effect) {
  if (dead_) throw Killed{};
  const bool struck = ++calls_ == strike_call_;
  if (struck && moment_ == Moment::before) strike();
  auto result = effect(struck && moment_ == Moment::halfway);
  if (struck) strike();
  return result;
}

class MemoryDisk::OpenFile final : public File {
 public:
  OpenFile(MemoryDisk& disk, std::shared_ptr<Content> content)
      : disk_(disk), content_(std::move(content)) {}

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return disk_.call([&](bool) {
      const auto& from = content_->written;
      if (offset >= from.size()) return std::size_t{0};
      const auto count = std::min<std::size_t>(into.size(), from.size() - offset);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
      return count;
    });
  }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    disk_.call([&](bool halfway) {
      disk_.write_sizes_.push_back(bytes.size());
      if (halfway) bytes = bytes.first(bytes.size() / 2);
      auto& to = content_->written;
      to.resize(std::max<std::size_t>(to.size(), offset + bytes.size()));
      std::ranges::copy(bytes, to.begin() + static_cast<std::ptrdiff_t>(offset));
      return 0;
    });
  }
  void sync() override {
    disk_.call([&](bool halfway) {
      if (!halfway) content_->synced = content_->written;
      return 0;
    });
  }
  std::uint64_t size_bytes() override {
    return disk_.call([&](bool) { return content_->written.size(); });
  }

 private:
  MemoryDisk& disk_;
  std::shared_ptr<Content> content_;
};

class MemoryDisk::HeldLock final : public FileLock {
 public:
  HeldLock(std::shared_ptr<std::set<std::string>> locked, std::string path)
      : locked_(std::move(locked)), path_(std::move(path)) {}
  ~HeldLock() override { locked_->erase(path_); }

 private:
  std::shared_ptr<std::set<std::string>> locked_;
  std::string path_;
};

void MemoryDisk::strike_at(std::uint64_t k, Moment moment, bool deadly) {
  strike_call_ = calls_ + k;
  moment_ = moment;
  deadly_ = deadly;
}

void MemoryDisk::strike() {
  strike_call_ = 0;
  if (!deadly_) throw IoError("the disk fails, as it was told to");
  dead_ = true;
  throw Killed{};
}

void MemoryDisk::lose_power(Loss loss) {
  for (std::size_t i = 0; i < std::min(loss.kept_names, changes_.size()); ++i) {
    apply(changes_[i], durable_);
  }
  for (const auto& [path, content] : durable_) {
    auto& kept = content->synced;
    const auto& written = content->written;
    if (loss.kept_data == Loss::Data::all) kept = written;
    if (loss.kept_data == Loss::Data::every_other_sector) {
      kept.resize(written.size());
      for (std::size_t at = sector_bytes; at < kept.size(); at += 2 * sector_bytes) {
        const auto count = std::min(sector_bytes, kept.size() - at);
        std::copy_n(written.begin() + static_cast<std::ptrdiff_t>(at), count,
                    kept.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    content->written = kept;
  }
  visible_ = durable_;
  changes_.clear();
  restart();
}

void MemoryDisk::restart() {
  // Locks of the dead process are no longer held, and letting go of them later frees nobody else's.
  locked_ = std::make_shared<std::set<std::string>>();
  strike_call_ = 0;
  dead_ = false;
}

void MemoryDisk::put_file(const std::string& path, std::string_view text) {
  const auto bytes = as_bytes(text);
  const auto content = std::make_shared<Content>(
      Content{{bytes.begin(), bytes.end()}, {bytes.begin(), bytes.end()}});
  visible_[path] = content;
  durable_[path] = content;
  directories_.insert(parent_of(path));
}

std::vector<std::string> MemoryDisk::files() const {
  std::vector<std::string> paths;
  for (const auto& [path, content] : visible_) paths.push_back(path);
  return paths;
}

std::unique_ptr<File> MemoryDisk::open(std::string_view path, Open how) {
  return call([&](bool) -> std::unique_ptr<File> {
    const std::string name(path);
    if (directories_.contains(name)) throw IoError(name + ": is a directory");
    if (how == Open::create && directories_.contains(parent_of(path))) {
      const auto found = visible_.find(path);
      if (found == visible_.end()) {
        change({parent_of(path), {{name, std::make_shared<Content>()}}});
      } else {
        found->second->written.clear();
      }
    }
    const auto found = visible_.find(path);
    if (found == visible_.end()) throw NotFound(name + ": not found");
    return std::make_unique<OpenFile>(*this, found->second);
  });
}

void MemoryDisk::rename(std::string_view from, std::string_view to) {
  call([&](bool) {
    const auto found = visible_.find(from);
    if (found == visible_.end()) throw NotFound(std::string(from) + ": not found");
    change({parent_of(to), {{std::string(from), nullptr}, {std::string(to), found->second}}});
    return 0;
  });
}

void MemoryDisk::remove(std::string_view path) {
  call([&](bool) {
    if (visible_.contains(path)) change({parent_of(path), {{std::string(path), nullptr}}});
    return 0;
  });
}

std::vector<std::string> MemoryDisk::list(std::string_view directory) {
  return call([&](bool) {
    const std::string prefix = directory == "." ? "" : std::string(directory) + "/";
    std::set<std::string> names;
    const auto add = [&](std::string_view path) {
      if (!path.starts_with(prefix) || path == prefix) return;
      const auto name = path.substr(prefix.size());
      const auto slash = name.find('/');
      names.emplace(slash == std::string_view::npos ? name : name.substr(0, slash + 1));
    };
    for (const auto& [path, content] : visible_) add(path);
    for (const auto& made : directories_) add(made + "/");
    return std::vector<std::string>(names.begin(), names.end());
  });
}

void MemoryDisk::make_directory(std::string_view directory) {
  call([&](bool halfway) {
    if (!halfway) directories_.insert(std::string(directory));
    return 0;
  });
}

void MemoryDisk::sync_directory(std::string_view directory) {
  call([&](bool halfway) {
    if (halfway) return 0;
    std::erase_if(changes_, [&](const Change& change) {
      if (change.directory == directory) apply(change, durable_);
      return change.directory == directory;
    });
    return 0;
  });
}

std::unique_ptr<FileLock> MemoryDisk::try_lock(std::string_view path) {
  return call([&](bool) -> std::unique_ptr<FileLock> {
    if (!locked_->insert(std::string(path)).second) return nullptr;
    if (!visible_.contains(path)) {
      change({parent_of(path), {{std::string(path), std::make_shared<Content>()}}});
    }
    return std::make_unique<HeldLock>(locked_, std::string(path));
  });
}

void MemoryDisk::change(Change what) {
  apply(what, visible_);
  changes_.push_back(std::move(what));
}

void MemoryDisk::apply(const Change& change, Names& names) {
  for (const auto& [path, content] : change.names) {
    if (content == nullptr) {
      names.erase(path);
    } else {
      names[path] = content;
    }
  }
}

}  // namespace millrace
