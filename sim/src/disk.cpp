#include "millrace/sim/disk.hpp"

#include <algorithm>
#include <cstring>

namespace millrace::sim {
namespace {

constexpr std::size_t sector_bytes = 512;

constexpr Site fate_of_file{"disk.fate"};
constexpr Site kept_changes{"disk.kept_changes"};
constexpr Site kept_sector{"disk.kept_sector"};
constexpr Site torn_bytes{"disk.torn_bytes"};
constexpr Site kept_names{"disk.kept_names"};
constexpr Site written_part{"disk.written_part"};

/// What becomes of the writes to one file that no sync made durable. By harm: 0 is harmless.
enum class Fate : std::uint8_t { all_kept, prefix_kept, sectors_kept, none_kept };
constexpr std::uint64_t fates = 4;

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

}  // namespace

std::size_t Inode::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset >= seen_.size()) return 0;
  const std::size_t count = std::min(into.size(), seen_.size() - static_cast<std::size_t>(offset));
  std::memcpy(into.data(), seen_.data() + offset, count);
  return count;
}

void Inode::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t end = static_cast<std::size_t>(offset) + bytes.size();
  if (seen_.size() < end) seen_.resize(end);
  std::memcpy(seen_.data() + offset, bytes.data(), bytes.size());
  pending_.push_back({offset, bytes.size(), written_.size(), false});
  written_.insert(written_.end(), bytes.begin(), bytes.end());
}

void Inode::truncate(std::uint64_t size) {
  if (size == seen_.size()) return;
  seen_.resize(static_cast<std::size_t>(size));
  pending_.push_back({size, 0, 0, true});
}

void Inode::sync() {
  for (const Change& change : pending_) apply(durable_, change, change.size);
  pending_.clear();
  written_.clear();
}

void Inode::apply(Bytes& to, const Change& change, std::size_t kept) const {
  if (change.truncates) {
    to.resize(static_cast<std::size_t>(change.offset));
    return;
  }
  if (kept == 0) return;
  const std::size_t end = static_cast<std::size_t>(change.offset) + kept;
  if (to.size() < end) to.resize(end);
  std::memcpy(to.data() + change.offset, written_.data() + change.bytes, kept);
}

void Inode::lose_power(Draws& draws) {
  if (pending_.empty()) return;
  switch (static_cast<Fate>(draws.below(fate_of_file, fates))) {
    case Fate::all_kept:
      for (const Change& change : pending_) apply(durable_, change, change.size);
      break;
    case Fate::prefix_kept: {
      // The last write that began is cut anywhere: within a sector, too.
      const std::size_t whole = draws.below(kept_changes, pending_.size());
      for (std::size_t i = 0; i < whole; ++i) apply(durable_, pending_[i], pending_[i].size);
      const Change& torn = pending_[whole];
      if (!torn.truncates) apply(durable_, torn, draws.below(torn_bytes, torn.size + 1));
      break;
    }
    case Fate::sectors_kept:
      // Each sector of each write on its own. A truncation is atomic: journaling file systems
      // promise that much.
      for (const Change& change : pending_) {
        if (change.truncates) {
          if (draws.below(kept_sector, 2) == 0) apply(durable_, change, 0);
          continue;
        }
        std::size_t done = 0;
        while (done < change.size) {
          const std::uint64_t at = change.offset + done;
          const std::size_t size =
              std::min<std::size_t>(change.size - done, sector_bytes - at % sector_bytes);
          if (draws.below(kept_sector, 2) == 0) {
            apply(durable_, {at, size, change.bytes + done, false}, size);
          }
          done += size;
        }
      }
      break;
    case Fate::none_kept: break;
  }
  seen_ = durable_;
  pending_.clear();
  written_.clear();
}

SimDisk::Found SimDisk::find(std::string_view path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

bool SimDisk::has_directory_of(std::string_view path) const {
  const std::string_view directory = directory_of(path);
  return directory.empty() || directories_.contains(directory);
}

void SimDisk::make_directory(std::string_view directory) {
  for (; !directory.empty(); directory = directory_of(directory)) directories_.emplace(directory);
}

SimDisk::Found SimDisk::create(std::string_view path) {
  if (!has_directory_of(path)) return nullptr;
  Found& inode = names_[std::string(path)];
  if (inode == nullptr) {
    inode = std::make_shared<Inode>();
    pending_.push_back({"", std::string(path), inode});
  }
  return inode;
}

bool SimDisk::rename(std::string_view from, std::string_view to) {
  const Found inode = find(from);
  if (inode == nullptr || !has_directory_of(to)) return false;
  pending_.push_back({std::string(from), std::string(to), inode});
  apply(names_, pending_.back());
  return true;
}

bool SimDisk::remove(std::string_view path) {
  const Found inode = find(path);
  if (inode == nullptr) return false;
  pending_.push_back({std::string(path), "", inode});
  apply(names_, pending_.back());
  return true;
}

void SimDisk::apply(Names& names, const NameChange& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.inode;
}

std::vector<std::string> SimDisk::list(std::string_view directory) const {
  const std::string prefix = directory.empty() ? "" : std::string(directory) + "/";
  std::vector<std::string> names;
  const auto is_direct = [&](const std::string& path) {
    return path.size() > prefix.size() && path.find('/', prefix.size()) == std::string::npos;
  };
  for (auto at = names_.lower_bound(prefix); at != names_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (is_direct(at->first)) names.push_back(at->first.substr(prefix.size()));
  }
  for (auto at = directories_.lower_bound(prefix); at != directories_.end(); ++at) {
    if (!at->starts_with(prefix)) break;
    if (is_direct(*at)) names.push_back(at->substr(prefix.size()) + "/");
  }
  std::sort(names.begin(), names.end());
  return names;
}

void SimDisk::sync_directory(std::string_view directory) {
  std::erase_if(pending_, [&](const NameChange& change) {
    const std::string_view path = change.to.empty() ? change.from : change.to;
    if (directory_of(path) != directory) return false;
    apply(durable_names_, change);
    return true;
  });
}

void SimDisk::install(std::string_view path, std::span<const std::byte> bytes) {
  const auto inode = std::make_shared<Inode>(bytes);
  make_directory(directory_of(path));
  names_[std::string(path)] = inode;
  durable_names_[std::string(path)] = inode;
}

bool SimDisk::lock(std::string_view path) { return locks_.emplace(path).second; }

void SimDisk::unlock(std::string_view path) {
  if (const auto held = locks_.find(path); held != locks_.end()) locks_.erase(held);
}

std::size_t SimDisk::draw_written_part(std::size_t size) {
  return draws_.below(written_part, size + 1);
}

void SimDisk::lose_power() {
  release_locks();
  // Changes of names reach the journal in order, so a prefix of them survives.
  std::size_t kept = pending_.size();
  if (kept != 0) kept -= draws_.below(kept_names, kept + 1);
  for (std::size_t i = 0; i < kept; ++i) apply(durable_names_, pending_[i]);
  pending_.clear();
  names_ = durable_names_;
  for (const auto& [path, inode] : names_) inode->lose_power(draws_);
}

}  // namespace millrace::sim
