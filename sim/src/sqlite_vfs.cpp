#include "millrace/sim/sqlite_vfs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"

#include "device.hpp"
#include "node.hpp"
#include "scheduler.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

constexpr Site random_bytes{"sqlite.random"};
constexpr Site busy_sleep{"sqlite.sleep"};

/// The sector size that SQLite assumes where it cannot ask.
constexpr int sector_bytes = 4096;
/// 1 January 2026 in the milliseconds of the Julian day that SQLite counts in.
constexpr sqlite3_int64 julian_start_ms = 210'866'760'000'000 + 1'767'225'600'000;

/// The memory that connections to one database share for their write-ahead log, and its locks.
struct SharedMemory {
  std::vector<std::unique_ptr<std::byte[]>> regions;
  std::array<int, SQLITE_SHM_NLOCK> shared{};
  std::array<bool, SQLITE_SHM_NLOCK> exclusive{};
  int users = 0;
};

/// What a kernel knows of an open database file besides its bytes.
struct FileLocks {
  int shared = 0;
  bool reserved = false;
  bool pending = false;
  bool exclusive = false;
  SharedMemory memory;
};

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

}  // namespace

class SqliteVfs::State {
 public:
  State(World& w, NodeId id)
      : world(w),
        node(w.node(id)),
        name("sim." + node.name),
        draws(w.seed(), Domain::world, "sqlite/" + node.name) {}

  World& world;
  Node& node;
  std::string name;
  Draws draws;
  sqlite3_vfs vfs{};

  /// Whether somebody may use the disk as of life `opened_in`.
  bool is_usable(std::uint32_t opened_in) const {
    return opened_in == node.life && (world.is_outside() || node.process_is_up());
  }

  /// Lets the time of an operation pass. Returns `error` unless it is to take place.
  int use(DiskOperation operation, std::uint64_t what, std::uint32_t opened_in, int error) {
    return try_use(operation, what, opened_in, false) == DiskUse::done ? SQLITE_OK : error;
  }
  DiskUse try_use(DiskOperation operation, std::uint64_t what, std::uint32_t opened_in,
                  bool makes_longer) {
    Task* const task = world.scheduler().current();
    const DiskUse use =
        task == nullptr ? DiskUse::done : use_disk(*task, operation, what, makes_longer);
    return is_usable(opened_in) ? use : DiskUse::dead;
  }

  FileLocks& locks_of(const Inode* inode) {
    if (locks_life_ != node.life) locks_.clear();
    locks_life_ = node.life;
    return locks_[inode];
  }

 private:
  // Looked up by address, never walked.
  std::map<const Inode*, FileLocks> locks_;
  std::uint32_t locks_life_ = 0;
};

namespace {

/// A file as SQLite holds it. SQLite brings the memory, so nothing is constructed by itself.
struct OpenFile {
  sqlite3_file base;
  struct Body {
    SqliteVfs::State* owner;
    SimDisk::Found inode;
    std::string path;
    std::uint32_t life;
    bool remove_on_close;
    bool sync_directory;  ///< With the first sync: a new journal needs a durable name.
    int lock = SQLITE_LOCK_NONE;
    bool maps_memory = false;
    std::uint16_t shared_locks = 0;
    std::uint16_t exclusive_locks = 0;
  };
  Body* body;
};

OpenFile::Body& body_of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file)->body; }
bool is_usable(const OpenFile::Body& file) { return file.owner->is_usable(file.life); }
FileLocks& locks_of(const OpenFile::Body& file) { return file.owner->locks_of(file.inode.get()); }

int close_file(sqlite3_file* handle) {
  OpenFile::Body* const file = &body_of(handle);
  if (is_usable(*file) && file->remove_on_close) file->owner->node.disk.remove(file->path);
  delete file;
  return SQLITE_OK;
}

int read_file(sqlite3_file* handle, void* into, int count, sqlite3_int64 offset) {
  const OpenFile::Body& file = body_of(handle);
  if (!is_usable(file) || read_fails(file.owner->node)) return SQLITE_IOERR_READ;
  const std::span bytes(static_cast<std::byte*>(into), static_cast<std::size_t>(count));
  const std::size_t found = file.inode->read(static_cast<std::uint64_t>(offset), bytes);
  if (found == bytes.size()) return SQLITE_OK;
  std::memset(bytes.data() + found, 0, bytes.size() - found);
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* handle, const void* from, int count, sqlite3_int64 offset) {
  const OpenFile::Body& file = body_of(handle);
  const auto what = static_cast<std::uint64_t>(offset) ^ static_cast<std::uint64_t>(count) << 40;
  if (!is_usable(file)) return SQLITE_IOERR_WRITE;
  const auto at = static_cast<std::uint64_t>(offset);
  std::span bytes(static_cast<const std::byte*>(from), static_cast<std::size_t>(count));
  const bool makes_longer = at + bytes.size() > file.inode->size();
  switch (file.owner->try_use(DiskOperation::write, what, file.life, makes_longer)) {
    case DiskUse::done: file.inode->write(at, bytes); return SQLITE_OK;
    case DiskUse::full: return SQLITE_FULL;
    case DiskUse::failed:
      bytes = bytes.first(file.owner->node.disk.draw_written_part(bytes.size()));
      file.inode->write(at, bytes);
      return SQLITE_IOERR_WRITE;
    case DiskUse::dead: break;
  }
  return SQLITE_IOERR_WRITE;
}

int truncate_file(sqlite3_file* handle, sqlite3_int64 size) {
  const OpenFile::Body& file = body_of(handle);
  const auto bytes = static_cast<std::uint64_t>(size);
  if (!is_usable(file)) return SQLITE_IOERR_TRUNCATE;
  const int code =
      file.owner->use(DiskOperation::truncate, bytes, file.life, SQLITE_IOERR_TRUNCATE);
  if (code == SQLITE_OK) file.inode->truncate(bytes);
  return code;
}

int sync_file(sqlite3_file* handle, int) {
  OpenFile::Body& file = body_of(handle);
  if (!is_usable(file)) return SQLITE_IOERR_FSYNC;
  int code =
      file.owner->use(DiskOperation::sync, file.inode->size(), file.life, SQLITE_IOERR_FSYNC);
  if (code != SQLITE_OK) return code;
  file.inode->sync();
  if (!file.sync_directory) return SQLITE_OK;
  code = file.owner->use(DiskOperation::sync_directory, 0, file.life, SQLITE_IOERR_DIR_FSYNC);
  if (code != SQLITE_OK) return code;
  file.owner->node.disk.sync_directory(directory_of(file.path));
  file.sync_directory = false;
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* handle, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(body_of(handle).inode->size());
  return SQLITE_OK;
}

int lock_file(sqlite3_file* handle, int wanted) {
  OpenFile::Body& file = body_of(handle);
  if (!is_usable(file)) return SQLITE_IOERR_LOCK;
  if (file.lock >= wanted) return SQLITE_OK;
  FileLocks& locks = locks_of(file);
  if (wanted == SQLITE_LOCK_SHARED) {
    if (locks.pending || locks.exclusive) return SQLITE_BUSY;
    ++locks.shared;
  } else if (wanted == SQLITE_LOCK_RESERVED) {
    if (locks.reserved) return SQLITE_BUSY;
    locks.reserved = true;
  } else {
    if (file.lock < SQLITE_LOCK_RESERVED && (locks.reserved || locks.pending)) return SQLITE_BUSY;
    locks.reserved = true;
    locks.pending = true;
    if (locks.shared > 1) {
      file.lock = SQLITE_LOCK_PENDING;  // Readers leave, and none comes.
      return SQLITE_BUSY;
    }
    locks.exclusive = true;
  }
  file.lock = wanted;
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* handle, int wanted) {
  OpenFile::Body& file = body_of(handle);
  if (!is_usable(file)) return SQLITE_OK;
  FileLocks& locks = locks_of(file);
  if (file.lock > SQLITE_LOCK_SHARED && wanted <= SQLITE_LOCK_SHARED) {
    locks.reserved = locks.pending = locks.exclusive = false;
  }
  if (file.lock >= SQLITE_LOCK_SHARED && wanted == SQLITE_LOCK_NONE) --locks.shared;
  file.lock = std::min(file.lock, wanted);
  return SQLITE_OK;
}

int is_reserved(sqlite3_file* handle, int* answer) {
  *answer = locks_of(body_of(handle)).reserved ? 1 : 0;
  return SQLITE_OK;
}

int control_file(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return sector_bytes; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_memory(sqlite3_file* handle, int region, int size, int extend, void volatile** at) {
  OpenFile::Body& file = body_of(handle);
  *at = nullptr;
  if (!is_usable(file)) return SQLITE_IOERR_SHMMAP;
  SharedMemory& memory = locks_of(file).memory;
  if (!file.maps_memory) {
    file.maps_memory = true;
    ++memory.users;
  }
  while (memory.regions.size() <= static_cast<std::size_t>(region)) {
    if (extend == 0) return SQLITE_OK;
    memory.regions.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(size)));
  }
  *at = memory.regions[static_cast<std::size_t>(region)].get();
  return SQLITE_OK;
}

/// Whether `file` may have lock `slot` in the way it asks for.
bool is_free(const SharedMemory& memory, const OpenFile::Body& file, std::size_t slot,
             bool exclusively) {
  const bool mine_shared = (file.shared_locks >> slot & 1) != 0;
  const bool mine_exclusive = (file.exclusive_locks >> slot & 1) != 0;
  if (memory.exclusive[slot] && !mine_exclusive) return false;
  return !exclusively || memory.shared[slot] == (mine_shared ? 1 : 0);
}

void take_lock(SharedMemory& memory, OpenFile::Body& file, std::size_t slot, bool exclusively) {
  const auto bit = static_cast<std::uint16_t>(1U << slot);
  if (exclusively) {
    memory.exclusive[slot] = true;
    file.exclusive_locks |= bit;
  } else if ((file.shared_locks & bit) == 0) {
    ++memory.shared[slot];
    file.shared_locks |= bit;
  }
}

void give_lock(SharedMemory& memory, OpenFile::Body& file, std::size_t slot, bool exclusively) {
  const auto bit = static_cast<std::uint16_t>(1U << slot);
  if (exclusively && (file.exclusive_locks & bit) != 0) {
    memory.exclusive[slot] = false;
    file.exclusive_locks &= static_cast<std::uint16_t>(~bit);
  } else if (!exclusively && (file.shared_locks & bit) != 0) {
    --memory.shared[slot];
    file.shared_locks &= static_cast<std::uint16_t>(~bit);
  }
}

int lock_memory(sqlite3_file* handle, int offset, int count, int flags) {
  OpenFile::Body& file = body_of(handle);
  if (!is_usable(file)) return SQLITE_IOERR_SHMLOCK;
  SharedMemory& memory = locks_of(file).memory;
  const bool exclusively = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const auto first = static_cast<std::size_t>(offset);
  const auto last = first + static_cast<std::size_t>(count);
  for (std::size_t slot = first; slot < last; ++slot) {
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      give_lock(memory, file, slot, exclusively);
    } else if (!is_free(memory, file, slot, exclusively)) {
      for (std::size_t taken = first; taken < slot; ++taken) {
        give_lock(memory, file, taken, exclusively);
      }
      return SQLITE_BUSY;
    } else {
      take_lock(memory, file, slot, exclusively);
    }
  }
  return SQLITE_OK;
}

void memory_barrier(sqlite3_file*) {}

int unmap_memory(sqlite3_file* handle, int remove) {
  OpenFile::Body& file = body_of(handle);
  if (!is_usable(file) || !file.maps_memory) return SQLITE_OK;
  file.maps_memory = false;
  SharedMemory& memory = locks_of(file).memory;
  if (--memory.users == 0 && remove != 0) memory = {};
  return SQLITE_OK;
}

constexpr sqlite3_io_methods file_methods{2,
                                          close_file,
                                          read_file,
                                          write_file,
                                          truncate_file,
                                          sync_file,
                                          size_of_file,
                                          lock_file,
                                          unlock_file,
                                          is_reserved,
                                          control_file,
                                          sector_size,
                                          characteristics,
                                          map_memory,
                                          lock_memory,
                                          memory_barrier,
                                          unmap_memory,
                                          nullptr,
                                          nullptr};

SqliteVfs::State& state_of(sqlite3_vfs* vfs) {
  return *static_cast<SqliteVfs::State*>(vfs->pAppData);
}

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* handle, int flags, int* got) {
  SqliteVfs::State& state = state_of(vfs);
  auto& file = *reinterpret_cast<OpenFile*>(handle);
  file.base.pMethods = nullptr;
  const std::uint32_t life = state.node.life;
  // A dead disk is an I/O error: "cannot open" would say that the path is wrong.
  if (!state.is_usable(life)) return SQLITE_IOERR;
  if (path == nullptr) return SQLITE_CANTOPEN;

  SimDisk& disk = state.node.disk;
  SimDisk::Found inode = disk.find(path);
  if (inode == nullptr) {
    if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if (state.use(DiskOperation::open, hash_name(path), life, SQLITE_IOERR) != SQLITE_OK) {
      return SQLITE_IOERR;
    }
    inode = disk.create(path);
    if (inode == nullptr) return SQLITE_CANTOPEN;
  }
  constexpr int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  const bool is_new_journal = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & journals) != 0;
  file.body = new (std::nothrow) OpenFile::Body{
      &state,        std::move(inode), path, life, (flags & SQLITE_OPEN_DELETEONCLOSE) != 0,
      is_new_journal};
  if (file.body == nullptr) return SQLITE_NOMEM;
  file.base.pMethods = &file_methods;
  if (got != nullptr) *got = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* path, int sync_directory) {
  SqliteVfs::State& state = state_of(vfs);
  const std::uint32_t life = state.node.life;
  if (!state.is_usable(life)) return SQLITE_IOERR_DELETE;
  int code = state.use(DiskOperation::remove, hash_name(path), life, SQLITE_IOERR_DELETE);
  if (code != SQLITE_OK) return code;
  if (!state.node.disk.remove(path)) return SQLITE_IOERR_DELETE_NOENT;
  if (sync_directory == 0) return SQLITE_OK;
  code = state.use(DiskOperation::sync_directory, 0, life, SQLITE_IOERR_DIR_FSYNC);
  if (code == SQLITE_OK) state.node.disk.sync_directory(directory_of(path));
  return code;
}

int access_file(sqlite3_vfs* vfs, const char* path, int flags, int* answer) {
  const auto inode = state_of(vfs).node.disk.find(path);
  // As on Unix: an empty file does not count as existing.
  *answer = inode != nullptr && (flags != SQLITE_ACCESS_EXISTS || inode->size() != 0) ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* path, int size, char* into) {
  sqlite3_snprintf(size, into, "%s", path);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int count, char* into) {
  SqliteVfs::State& state = state_of(vfs);
  for (int i = 0; i < count; ++i) {
    into[i] = static_cast<char>(state.draws.below(random_bytes, 256));
  }
  return count;
}

int sleep_for(sqlite3_vfs* vfs, int microseconds) {
  SqliteVfs::State& state = state_of(vfs);
  if (Task* const task = state.world.scheduler().current(); task != nullptr) {
    const std::chrono::microseconds span(microseconds);
    task->wait_for_device({span, span}, busy_sleep);
  }
  return microseconds;
}

int current_time(sqlite3_vfs* vfs, sqlite3_int64* julian_ms) {
  *julian_ms = julian_start_ms + state_of(vfs).world.now().ns / 1'000'000;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

SqliteVfs::SqliteVfs(World& world, NodeId node) : state_(std::make_unique<State>(world, node)) {
  sqlite3_vfs& vfs = state_->vfs;
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(OpenFile);
  vfs.mxPathname = 512;
  vfs.zName = state_->name.c_str();
  vfs.pAppData = state_.get();
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_path;
  vfs.xRandomness = randomness;
  vfs.xSleep = sleep_for;
  vfs.xGetLastError = last_error;
  vfs.xCurrentTimeInt64 = current_time;
  invariant(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK, "SQLite takes any file system");
  sqlite3_randomness(0, nullptr);
}

SqliteVfs::~SqliteVfs() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& SqliteVfs::name() const { return state_->name; }

}  // namespace millrace::sim
