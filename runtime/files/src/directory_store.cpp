#include "millrace/files/directory_store.hpp"

#include <algorithm>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "millrace/env/invariant.hpp"

#include "object_name.hpp"
#include "register_file.hpp"

namespace millrace {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

/// So many directories are remembered; then all are forgotten, which costs a sync each.
constexpr std::size_t most_made_directories = 1024;

constexpr std::string_view lock_ending = "~lock";

}  // namespace

/// Writes a temporary file and gives it its name at the end. Holds one piece in memory.
class DirectoryStore::Writer final : public ObjectWriter {
 public:
  Writer(DirectoryStore& store, std::string path) : store_(store), path_(std::move(path)) {}

  ~Writer() override { give_up_temporary(); }

  void append(std::span<const std::byte> bytes) override {
    invariant(!committed_, "an object gets no more bytes once its commit was tried");
    if (!piece_.empty()) {
      const auto filling = bytes.first(std::min(bytes.size(), piece_bytes - piece_.size()));
      piece_.insert(piece_.end(), filling.begin(), filling.end());
      bytes = bytes.subspan(filling.size());
      if (piece_.size() == piece_bytes) write_piece();
    }
    if (bytes.size() >= piece_bytes) {
      write(bytes);
    } else {
      piece_.insert(piece_.end(), bytes.begin(), bytes.end());
    }
  }

  PutOutcome commit(Instant) override {
    if (stored_) return PutOutcome::stored;
    if (committed_) {
      // The last attempt may have given the file its name, or not. A copy of its own makes this
      // attempt independent of what became of that one.
      copy_to_another_temporary();
    } else {
      write_piece();
    }
    begin_work();
    file_->sync();
    committed_ = true;
    stored_ = store_.make_visible(temporary_, path_);
    failed_ = false;
    if (!stored_) return PutOutcome::unknown;
    temporary_.clear();
    file_.reset();
    return PutOutcome::stored;
  }

 private:
  /// After an error nobody knows what the file holds, and a second sync would lie (File::sync).
  void begin_work() {
    if (failed_) throw IoError(fmt::format("{}: writing it has failed before", path_));
    failed_ = true;
  }

  void open_temporary() {
    store_.make_directory_of(path_);
    temporary_ = store_.temporary_path(path_);
    file_ = store_.disk_.open(temporary_, Disk::Open::create);
  }

  void write(std::span<const std::byte> bytes) {
    begin_work();
    if (file_ == nullptr) open_temporary();
    if (!bytes.empty()) file_->write_at(size_, bytes);
    size_ += bytes.size();
    failed_ = false;
  }

  void write_piece() {
    write(piece_);
    piece_.clear();
  }

  void copy_to_another_temporary() {
    const auto from = std::move(file_);
    const auto size = std::exchange(size_, 0);
    auto first = std::exchange(temporary_, {});
    piece_.resize(piece_bytes);
    while (size_ < size) {
      const auto count = from->read_at(size_, piece_);
      if (count == 0) throw IoError(fmt::format("{}: its temporary file became shorter", path_));
      write(std::span(piece_).first(count));
    }
    piece_.clear();
    if (file_ == nullptr) write({});
    store_.abandon(std::move(first));
  }

  void give_up_temporary() {
    if (!temporary_.empty()) store_.abandon(std::exchange(temporary_, {}));
  }

  DirectoryStore& store_;
  const std::string path_;
  std::string temporary_;  ///< Empty: there is none.
  std::unique_ptr<File> file_;
  std::uint64_t size_ = 0;
  Bytes piece_;
  bool failed_ = false;
  bool committed_ = false;  ///< Or tried to.
  bool stored_ = false;
};

DirectoryStore::DirectoryStore(Disk& disk, std::string directory, std::string writer)
    : disk_(disk), directory_(std::move(directory)), writer_(std::move(writer)) {}

std::unique_ptr<ObjectWriter> DirectoryStore::create(std::string_view name) {
  expect_object_name(name);
  remove_abandoned();
  return std::make_unique<Writer>(*this, path_of(name));
}

std::optional<Bytes> DirectoryStore::read(std::string_view name, std::uint64_t offset,
                                          std::uint64_t length, Instant) {
  expect_object_name(name);
  std::unique_ptr<File> file;
  try {
    file = disk_.open(path_of(name), Disk::Open::read);
  } catch (const NotFound&) {
    return std::nullopt;
  }
  const auto size = file->size_bytes();
  Bytes bytes(offset < size ? std::min(length, size - offset) : 0);
  bytes.resize(file->read_at(offset, bytes));
  return bytes;
}

Versioned DirectoryStore::read_register(std::string_view name, Instant) {
  expect_object_name(name);
  const auto path = path_of(name);
  std::unique_ptr<File> file;
  try {
    file = disk_.open(path, Disk::Open::read);
  } catch (const NotFound&) {
    return {};
  }
  // Its writer may have died between the rename and the sync of the directory. A caller that acts
  // on what it reads must not be overtaken by a power loss that takes it back.
  file->sync();
  disk_.sync_directory(directory_of(path));
  Bytes sealed(file->size_bytes());
  sealed.resize(file->read_at(0, sealed));
  return unseal_register(sealed, name);
}

SwapOutcome DirectoryStore::put_if_version(std::string_view name, std::uint64_t expected,
                                           std::span<const std::byte> bytes, Instant) {
  expect_object_name(name);
  remove_abandoned();
  const auto path = path_of(name);
  make_directory_of(path);
  const auto lock = disk_.try_lock(path + std::string(lock_ending));
  if (lock == nullptr) return SwapOutcome::unknown;

  const auto sealed = read_file(path);
  const auto found = sealed ? unseal_register(*sealed, name).version : 0;
  if (found != expected) return SwapOutcome::refused;

  Writer writer(*this, path);
  writer.append(seal_register(expected + 1, bytes));
  return writer.commit(Instant::never()) == PutOutcome::stored ? SwapOutcome::stored
                                                               : SwapOutcome::unknown;
}

void DirectoryStore::remove(std::string_view name, Instant) {
  expect_object_name(name);
  disk_.remove(path_of(name));
}

std::vector<std::string> DirectoryStore::list(std::string_view prefix, Instant) {
  std::vector<std::string> names;
  collect("", prefix, names);
  std::ranges::sort(names);
  return names;
}

void DirectoryStore::remove_temporaries() {
  remove_abandoned();
  remove_temporaries_under(directory_);
}

/// Made for every operation, so its format is compiled, as those of the other names are.
std::string DirectoryStore::path_of(std::string_view name) const {
  return fmt::format(FMT_COMPILE("{}/{}"), directory_, name);
}

/// Beside the file that it will become: a rename within a directory needs one sync.
std::string DirectoryStore::temporary_path(std::string_view path) {
  return fmt::format(FMT_COMPILE("{}{}{}.{}"), path, not_an_object, writer_, ++temporaries_);
}

/// Asked for also when the directory is there: whoever made it may have died before it was durable.
void DirectoryStore::make_directory_of(std::string_view path) {
  auto directory = directory_of(path);
  {
    const std::lock_guard lock(mutex_);
    if (made_directories_.contains(directory)) return;
  }
  disk_.make_directory(directory);
  const std::lock_guard lock(mutex_);
  if (made_directories_.size() == most_made_directories) made_directories_.clear();
  made_directories_.insert(std::move(directory));
}

std::optional<Bytes> DirectoryStore::read_file(const std::string& path) {
  try {
    const auto file = disk_.open(path, Disk::Open::read);
    Bytes bytes(file->size_bytes());
    bytes.resize(file->read_at(0, bytes));
    return bytes;
  } catch (const NotFound&) {
    return std::nullopt;
  }
}

/// False: nobody knows whether the file has its name, or whether a power loss would undo that.
bool DirectoryStore::make_visible(const std::string& temporary, const std::string& path) {
  try {
    disk_.rename(temporary, path);
    disk_.sync_directory(directory_of(path));
    return true;
  } catch (const NotFound&) {
    throw;  // Somebody removed the temporary file: nothing became visible, and nothing will.
  } catch (const IoError&) {
    return false;
  }
}

/// Synced behind the look: what somebody removed since is still among the names, and what was
/// removed before stays away.
std::vector<std::string> DirectoryStore::list_directory(const std::string& directory) {
  auto entries = disk_.list(directory);
  try {
    disk_.sync_directory(directory);
  } catch (const NotFound&) {  // Nothing was ever stored there.
  }
  return entries;
}

void DirectoryStore::collect(std::string_view under, std::string_view prefix,
                             std::vector<std::string>& into) {
  const auto path = path_of(under);
  for (const auto& entry :
       list_directory(under.empty() ? directory_ : path.substr(0, path.size() - 1))) {
    const auto name = fmt::format(FMT_COMPILE("{}{}"), under, entry);
    if (entry.ends_with('/')) {
      if (name.starts_with(prefix) || prefix.starts_with(name)) collect(name, prefix, into);
    } else if (name.starts_with(prefix) && is_object_name(name)) {
      into.push_back(name);
    }
  }
}

void DirectoryStore::remove_temporaries_under(const std::string& directory) {
  for (const auto& entry : disk_.list(directory)) {
    const auto path = fmt::format("{}/{}", directory, entry);
    if (entry.ends_with('/')) {
      remove_temporaries_under(path.substr(0, path.size() - 1));
    } else if (entry.find(not_an_object) != std::string::npos && !entry.ends_with(lock_ending)) {
      disk_.remove(path);
    }
  }
}

/// Only remembers: it is called by destructors, which must not wait for a disk.
void DirectoryStore::abandon(std::string temporary) noexcept {
  const std::lock_guard lock(mutex_);
  abandoned_.push_back(std::move(temporary));
}

void DirectoryStore::remove_abandoned() {
  std::vector<std::string> abandoned;
  {
    const std::lock_guard lock(mutex_);
    abandoned.swap(abandoned_);
  }
  for (const auto& path : abandoned) disk_.remove(path);
}

}  // namespace millrace
