#include "watched_files.hpp"

#include <atomic>

#include <sqlite3.h>

namespace millrace {
namespace {

/// An open file: SQLite wants its own part first, and the real file lies behind.
struct WatchedFile {
  sqlite3_file base;
  WatchedFiles* watcher;
  const char* path;  ///< SQLite keeps it as long as the file is open.
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

WatchedFile& watched(sqlite3_file* file) { return *reinterpret_cast<WatchedFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return watched(file).real(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

template <class Act>
int meddle(sqlite3_file* file, WatchedFiles::Call call, Act act) {
  const WatchedFile& self = watched(file);
  const WatchedFiles::Event event{call, self.path == nullptr ? "" : self.path};
  if (self.watcher->before) {
    if (const int code = self.watcher->before(event); code != SQLITE_OK) return code;
  }
  const int code = act();
  if (code == SQLITE_OK && self.watcher->after) self.watcher->after(event);
  return code;
}

int close_file(sqlite3_file* file) { return methods(file).xClose(real(file)); }
int read_file(sqlite3_file* file, void* into, int count, sqlite3_int64 at) {
  if (const auto& told = watched(file).watcher->before_read) told();
  return methods(file).xRead(real(file), into, count, at);
}
int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
  return meddle(file, WatchedFiles::Call::write,
                [&] { return methods(file).xWrite(real(file), from, count, at); });
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return meddle(file, WatchedFiles::Call::truncate,
                [&] { return methods(file).xTruncate(real(file), size); });
}
int sync_file(sqlite3_file* file, int flags) {
  return meddle(file, WatchedFiles::Call::sync,
                [&] { return methods(file).xSync(real(file), flags); });
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int lock) { return methods(file).xLock(real(file), lock); }
int unlock_file(sqlite3_file* file, int lock) { return methods(file).xUnlock(real(file), lock); }
int check_reserved(sqlite3_file* file, int* result) {
  return methods(file).xCheckReservedLock(real(file), result);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return methods(file).xFileControl(real(file), what, argument);
}
int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** to) {
  return methods(file).xShmMap(real(file), region, size, extend, to);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(real(file), offset, count, flags);
}
void barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(real(file), remove);
}

constexpr sqlite3_io_methods methods_of_version(int version) {
  return {version,      close_file,   read_file,       write_file,  truncate_file,
          sync_file,    file_size,    lock_file,       unlock_file, check_reserved,
          control_file, sector_size,  characteristics, map_shared,  lock_shared,
          barrier,      unmap_shared, nullptr,         nullptr};
}
constexpr sqlite3_io_methods with_shared_memory = methods_of_version(2);
constexpr sqlite3_io_methods without_shared_memory = methods_of_version(1);

WatchedFiles& watcher_of(sqlite3_vfs* vfs) { return *static_cast<WatchedFiles*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  WatchedFiles& watcher = watcher_of(vfs);
  WatchedFile& self = watched(file);
  self.base.pMethods = nullptr;
  self.watcher = &watcher;
  self.path = path;
  if (watcher.read_only && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
  }
  sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  const int code = files->xOpen(files, path, self.real(), flags, out_flags);
  if (self.real()->pMethods != nullptr) {
    self.base.pMethods = watcher.has_shared_memory ? &with_shared_memory : &without_shared_memory;
  }
  return code;
}

int skip_wait(sqlite3_vfs* vfs, int microseconds) {
  watcher_of(vfs).waited_ms += microseconds / 1000;
  return microseconds;
}

}  // namespace

struct WatchedFiles::Hooks {
  std::string name;
  sqlite3_vfs vfs;
};

WatchedFiles::WatchedFiles() : hooks_(std::make_unique<Hooks>()) {
  static std::atomic<int> count = 0;
  sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  hooks_->name = "watched" + std::to_string(++count);
  hooks_->vfs = *files;  // What is not replaced below works on no open file.
  hooks_->vfs.iVersion = 2;
  hooks_->vfs.szOsFile = static_cast<int>(sizeof(WatchedFile)) + files->szOsFile;
  hooks_->vfs.zName = hooks_->name.c_str();
  hooks_->vfs.pAppData = this;
  hooks_->vfs.xOpen = open_file;
  hooks_->vfs.xSleep = skip_wait;
  sqlite3_vfs_register(&hooks_->vfs, 0);
}

WatchedFiles::~WatchedFiles() { sqlite3_vfs_unregister(&hooks_->vfs); }

const std::string& WatchedFiles::name() const { return hooks_->name; }

}  // namespace millrace
