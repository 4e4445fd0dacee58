#include "millrace/sqlite/database.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sqlite3.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

constexpr int busy_timeout_ms = 5000;

const char* name_or_default(const std::string& vfs) { return vfs.empty() ? nullptr : vfs.c_str(); }

/// Some builds of SQLite read more into a path than a path, whatever flags they are given.
void expect_plain_path(const std::string& path) {
  if (path.empty() || path == ":memory:" || path.starts_with("file:")) {
    throw UsageError(fmt::format(
        "database `{}`: expected the path of a file (`./{}` names one in this directory)", path,
        path));
  }
}

bool is_out_of_handles(int system_error) {
  return system_error == EMFILE || system_error == ENFILE || system_error == ENOMEM;
}

std::string answer(Database& database, std::string_view sql) {
  Statement statement(database, sql);
  if (!statement.step()) return "";
  const Cell value = statement.column(0);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  return "";
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(std::string path, const std::string& vfs, Access access)
    : path_(std::move(path)), access_(access) {
  expect_plain_path(path_);
  const int how =
      access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path_.c_str(), &handle, how | SQLITE_OPEN_NOMUTEX, name_or_default(vfs));
  handle_.reset(handle);  // SQLite gives out a handle, and wants it back, also when it failed.
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  if (access == Access::write) sqlite3_busy_timeout(handle, busy_timeout_ms);

  // A close happens in destructors, where nothing may be written.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_wal_autocheckpoint(handle, 0);
  sqlite3_wal_hook(handle, &Database::note_commit, this);
  execute("PRAGMA temp_store = memory");
}

int Database::note_commit(void* self, sqlite3*, const char*, int pages) {
  auto& database = *static_cast<Database*>(self);
  database.wal_pages_ = static_cast<std::uint64_t>(pages);
  if (database.on_commit_) database.on_commit_();
  return SQLITE_OK;
}

void Database::make_durable() {
  invariant(access_ == Access::write, "only a connection that writes makes its commits durable");
  // The switch to a log is itself a transaction under a rollback journal, which counts only once
  // the journal's removal is durable. FULL does not wait for that, EXTRA does: a journal that came
  // back after a power loss would undo the switch under the feet of a log that holds commits.
  execute("PRAGMA synchronous = extra");
  const std::string mode = answer(*this, "PRAGMA journal_mode = wal");
  if (sqlite3_db_readonly(handle_.get(), "main") == 1) fail(SQLITE_READONLY);
  execute("PRAGMA synchronous = full");
  const std::string synchronous = answer(*this, "PRAGMA synchronous");
  // SQLite answers a pragma that it cannot follow with what it does instead, not with an error.
  if (mode != "wal" || synchronous != "2") {
    throw UsageError(fmt::format(
        "database `{}`: it keeps journal mode `{}` with synchronous `{}`; expected `wal` with `2`, "
        "as a file on a local file system can have",
        path_, mode, synchronous));
  }
  page_bytes_ = std::stoull(answer(*this, "PRAGMA page_size"));
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

std::int64_t Database::version_of_others() {
  return std::stoll(answer(*this, "PRAGMA data_version"));
}

bool Database::checkpoint() {
  return sqlite3_wal_checkpoint_v2(handle_.get(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr,
                                   nullptr) == SQLITE_OK;
}

void Database::fail(int code) const {
  const std::string text =
      fmt::format("database `{}`: {} (SQLite code {})", path_, sqlite3_errmsg(handle_.get()), code);
  if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY) {
    throw Unavailable(text + "; a crash interrupted a writer, and the next one will repair that");
  }
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL:
      throw Unavailable(text +
                        "; likely another program has it open inside a transaction, such as a "
                        "sqlite3 shell, a reader or a second run of the job");
    case SQLITE_FULL: throw NoSpace(text);
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG: throw JobFailed(text);
    case SQLITE_CORRUPT: throw CorruptObject(text);
    case SQLITE_READONLY:
      throw UsageError(fmt::format(
          "database `{}` is read-only; expected a file that can be written (SQLite code {})", path_,
          code));
    case SQLITE_NOTADB: throw UsageError(text + "; expected an SQLite database, or no file");
    case SQLITE_CANTOPEN:
      if (is_out_of_handles(sqlite3_system_errno(handle_.get()))) throw IoError(text);
      throw UsageError(text + "; expected a file that can be opened in a directory that exists");
    default: throw IoError(text);
  }
}

bool database_exists(const std::string& path, const std::string& vfs) {
  expect_plain_path(path);
  sqlite3_vfs* const files = sqlite3_vfs_find(name_or_default(vfs));
  if (files == nullptr) throw IoError(fmt::format("SQLite knows no file system `{}`", vfs));
  std::string full(static_cast<std::size_t>(files->mxPathname) + 1, '\0');
  int exists = 0;
  const int found =
      files->xFullPathname(files, path.c_str(), static_cast<int>(full.size()), full.data());
  // A symbolic link on the way is told in the upper bits.
  if ((found & 0xFF) != SQLITE_OK ||
      files->xAccess(files, full.c_str(), SQLITE_ACCESS_EXISTS, &exists) != SQLITE_OK) {
    throw IoError(fmt::format("database `{}`: nobody can tell whether it exists", path));
  }
  return exists != 0;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(database.handle_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.fail(code);
}

void Statement::bind(int index, const Cell& value) {
  int code = SQLITE_OK;
  switch (value.index()) {
    case 0: code = sqlite3_bind_null(statement_.get(), index); break;
    case 1: code = sqlite3_bind_int64(statement_.get(), index, *std::get_if<1>(&value)); break;
    case 2: code = sqlite3_bind_double(statement_.get(), index, *std::get_if<2>(&value)); break;
    default: {
      const std::string_view text = *std::get_if<3>(&value);
      // SQLite takes a null pointer for NULL, which an empty text is not.
      code = sqlite3_bind_text64(statement_.get(), index, text.empty() ? "" : text.data(),
                                 text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
  }
  if (code != SQLITE_OK) [[unlikely]]
    fail(code);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) [[unlikely]]
    fail(code);
  return false;
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

Cell Statement::column(int index) const {
  sqlite3_stmt* const row = statement_.get();
  switch (sqlite3_column_type(row, index)) {
    case SQLITE_NULL: return std::monostate{};
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(row, index)};
    case SQLITE_FLOAT: return sqlite3_column_double(row, index);
    case SQLITE_TEXT: {
      // The text first: asking for it is what makes the length right.
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, index));
      return std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(row, index)));
    }
    default:
      throw CorruptObject(fmt::format("database `{}`: column `{}` holds a blob", database_->path(),
                                      sqlite3_column_name(row, index)));
  }
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::fail(int code) {
  // Resetting keeps the error's text, and lets go of the database before anybody else goes on.
  sqlite3_reset(statement_.get());
  database_->fail(code);
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database.execute(kind == Kind::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // SQLite itself rolls back after some errors. An error of this rollback changes nothing: nobody
  // sees what was not committed.
  if (database_.in_transaction()) {
    sqlite3_exec(database_.handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

CommitOutcome Transaction::commit() {
  const int code = sqlite3_exec(database_.handle_.get(), "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return CommitOutcome::committed;
  // A commit that was not begun, because somebody is in the way, leaves the transaction open. One
  // that failed on the way ends it, with some or all of its pages in the log.
  if (database_.in_transaction()) database_.fail(code);
  return CommitOutcome::unknown;
}

void Transaction::commit_or_throw() {
  if (commit() == CommitOutcome::committed) return;
  throw IoError(fmt::format("database `{}`: the outcome of a commit is unknown: {}",
                            database_.path(), sqlite3_errmsg(database_.handle_.get())));
}

}  // namespace millrace
