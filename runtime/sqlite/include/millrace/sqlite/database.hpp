#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/env/cells.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace millrace {

/// A connection to an SQLite database. Used by one task.
///
/// Everything in this header throws what SQLite's error means for the job:
/// - Unavailable: somebody else held the database for the whole busy timeout, or a crash left it so
///   that only a writer can bring it into order.
/// - NoSpace: the disk is full.
/// - UsageError: the path cannot be opened or not be written, or holds no SQLite database. Trying
///   again is of no use.
/// - JobFailed: a row violates a constraint of its table, or is too large for any.
/// - CorruptObject: SQLite found the file damaged.
/// - IoError: all else, with SQLite's text and extended code.
/// After any of them the connection can be used again; a transaction that was open may have been
/// rolled back by SQLite itself.
///
/// Nothing throws while a frame of SQLite is on the stack, and a destructor ignores errors: it only
/// gives back what the operating system would take back anyway.
class Database {
 public:
  enum class Access : std::uint8_t {
    read,   ///< The file must exist. Nothing waits: who is not let in is told so at once.
    write,  ///< The file is made if it is not there. Waits for others up to the busy timeout.
  };

  /// Opens the file at `path` in the virtual file system that SQLite knows as `vfs`, or in its
  /// default one if that is empty. Looks at nothing in the file yet.
  Database(std::string path, const std::string& vfs, Access access);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Makes a commit mean durable: write-ahead log, full synchronisation. Changes the file's journal
  /// mode if it had another.
  ///
  /// Throws UsageError: the file is read-only, or it cannot have a write-ahead log.
  void make_durable();

  void execute(const std::string& sql);

  /// Whether a transaction is open.
  bool in_transaction() const;

  /// A number that is another one once somebody else has committed anything.
  std::int64_t version_of_others();

  /// Size of the write-ahead log after the latest commit on this connection, once it is durable.
  std::uint64_t wal_bytes() const { return wal_pages_ * page_bytes_; }

  /// Copies what it can of the write-ahead log into the database, waiting for nobody (passive).
  /// Returns whether that worked. If not, no row is lost or hidden: the log still holds them.
  bool checkpoint();

  /// Has `listener` called after every commit on this connection that has written something, when
  /// others can see it and before the call that committed returns. SQLite is on the stack then: it
  /// must not throw, and must not use this connection.
  void on_commit(std::function<void()> listener) { on_commit_ = std::move(listener); }

  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  /// Throws what `code`, SQLite's answer to the latest call on this connection, means.
  [[noreturn]] void fail(int code) const;
  static int note_commit(void* self, sqlite3*, const char* schema, int pages);

  std::string path_;
  Access access_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::uint64_t wal_pages_ = 0;
  std::uint64_t page_bytes_ = 0;
  std::function<void()> on_commit_;
};

/// Whether there is a file with at least one byte at `path`, found without opening it.
bool database_exists(const std::string& path, const std::string& vfs);

/// A prepared statement. Goes away before its connection.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  /// Gives parameter `index`, from 1, its value. A text is not copied: it must stay until the next
  /// `reset`.
  void bind(int index, const Cell& value);

  /// Goes to the next row. Returns whether there is one. On an exception the statement was reset.
  bool step();

  /// Number of columns of a row.
  int columns() const;
  /// The value in column `index`, from 0, of the present row. A text is good until the next `step`.
  /// Throws CorruptObject: it is a blob, which Millrace never writes.
  Cell column(int index) const;

  /// Makes the statement ready to run again and gives up its hold on the database. Parameters keep
  /// their values.
  void reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  [[noreturn]] void fail(int code);

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// What became of a commit. `unknown`: SQLite met an error under way. It shows the rows to nobody,
/// but they may lie whole in the log, and then a restart will find them.
enum class CommitOutcome : std::uint8_t { committed, unknown };

/// A transaction, rolled back when it goes away without `commit`.
class Transaction {
 public:
  enum class Kind : std::uint8_t {
    read,   ///< All reads see one state of the database. No writer waits for it.
    write,  ///< From the beginning nobody else writes (BEGIN IMMEDIATE).
  };
  Transaction(Database& database, Kind kind);
  ~Transaction();

  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Commits; `committed` means durable, if the transaction has written at all: a transaction that
  /// wrote nothing syncs nothing.
  ///
  /// Throws Unavailable, JobFailed: nothing was committed, and the transaction is still open.
  CommitOutcome commit();

  /// Commits, for a caller that is free to repeat the whole transaction.
  /// Also throws IoError: the outcome is unknown.
  void commit_or_throw();

 private:
  Database& database_;
};

}  // namespace millrace
