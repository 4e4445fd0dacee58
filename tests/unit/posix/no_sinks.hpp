#pragma once

#include "millrace/env/error.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace::posix {

/// For tests in which nothing is written to a database.
class NoSinks final : public SinkTables {
 public:
  std::unique_ptr<SinkTable> open(const std::string& database, const TableSchema&) override {
    throw UsageError(database + ": there are no databases here");
  }
};

}  // namespace millrace::posix
