#include "fake_world.hpp"

#include <algorithm>
#include <stdexcept>

namespace millrace {
namespace {

[[noreturn]] void there_is_none(const char* what) {
  throw std::logic_error(std::string("the fake world has no ") + what);
}

/// The bytes of an entry are followed by others that may be read.
constexpr std::size_t readable_behind_entry = 64;

}  // namespace

bool CountingParker::park_until(Instant deadline) {
  if (deadline == Instant::never()) throw EndlessWait{};
  if (clock_.now() < deadline) clock_.advance(deadline - clock_.now());
  return false;
}

class MemoryStore::Writer final : public ObjectWriter {
 public:
  Writer(MemoryStore& store, std::string_view name) : store_(store), name_(name) {}
  void append(std::span<const std::byte> bytes) override { out_.raw(bytes.data(), bytes.size()); }
  PutOutcome commit(Instant) override {
    if (store_.before_put) {
      if (const auto instead = store_.before_put(name_)) return *instead;
    }
    store_.objects[name_] = Bytes(out_.view().begin(), out_.view().end());
    return PutOutcome::stored;
  }

 private:
  MemoryStore& store_;
  std::string name_;
  Encoder out_;
};

std::unique_ptr<ObjectWriter> MemoryStore::create(std::string_view name) {
  return std::make_unique<Writer>(*this, name);
}

std::optional<Bytes> MemoryStore::read(std::string_view name, std::uint64_t offset,
                                       std::uint64_t length, Instant) {
  const auto found = objects.find(name);
  if (found == objects.end()) return std::nullopt;
  const std::span<const std::byte> all(found->second);
  const auto left = all.subspan(std::min<std::size_t>(offset, all.size()));
  const auto part = left.first(std::min<std::size_t>(length, left.size()));
  return Bytes(part.begin(), part.end());
}

Versioned MemoryStore::read_register(std::string_view name, Instant) {
  const auto found = registers.find(name);
  return found == registers.end() ? Versioned{} : found->second;
}

SwapOutcome MemoryStore::put_if_version(std::string_view name, std::uint64_t expected,
                                        std::span<const std::byte> bytes, Instant) {
  swapped.emplace_back(bytes.begin(), bytes.end());
  if (before_swap) {
    if (const auto instead = before_swap()) return *instead;
  }
  Versioned& found = registers[std::string(name)];
  if (found.version != expected) return SwapOutcome::refused;
  found = {expected + 1, swapped.back()};
  return SwapOutcome::stored;
}

void MemoryStore::remove(std::string_view name, Instant) {
  const auto found = objects.find(name);
  if (found != objects.end()) objects.erase(found);
}

std::vector<std::string> MemoryStore::list(std::string_view prefix, Instant) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : objects) {
    if (name.starts_with(prefix)) names.push_back(name);
  }
  return names;
}

class TextLog::Reader final : public PartitionReader {
 public:
  Reader(std::string text, Position from, std::int64_t end, std::size_t most_per_read)
      : text_(std::move(text)),
        end_(static_cast<std::size_t>(end)),
        at_(from),
        most_per_read_(most_per_read) {
    text_.append(readable_behind_entry, '\0');
  }

  std::span<const LogEntry> try_read(std::size_t most) override {
    entries_.clear();
    while (entries_.size() < std::min(most, most_per_read_) && !at_end()) {
      const auto begin = static_cast<std::size_t>(at_.offset);
      const std::size_t newline = std::min(text_.find('\n', begin), end_);
      const Position next{static_cast<std::int64_t>(std::min(newline + 1, end_)), at_.line + 1};
      entries_.push_back({std::string_view(text_).substr(begin, newline - begin), at_, next});
      at_ = next;
    }
    return entries_;
  }
  bool at_end() const override { return static_cast<std::size_t>(at_.offset) >= end_; }
  void bind(Parker&) override {}

 private:
  std::string text_;
  std::size_t end_;
  Position at_;
  std::size_t most_per_read_;
  std::vector<LogEntry> entries_;
};

std::vector<PartitionFacts> TextLog::partitions(const std::string&, Instant) {
  std::vector<PartitionFacts> found;
  for (const auto& [name, text] : partitions_by_name) {
    found.push_back({name, static_cast<std::int64_t>(text.size()), 0});
  }
  return found;
}

std::unique_ptr<PartitionReader> TextLog::open(const std::string&, const std::string& partition,
                                               Position from, std::int64_t end) {
  return std::make_unique<Reader>(partitions_by_name.at(partition), from, end, most_per_read);
}

std::size_t RecordedLandmarks::times(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      list.begin(), list.end(), [&](const Reached& one) { return one.name == name; }));
}

std::uint64_t RecordedLandmarks::counted(std::string_view name) const {
  std::uint64_t sum = 0;
  for (const Reached& one : list) sum += one.name == name ? one.count : 0;
  return sum;
}

struct FakeWorld::Nothing final : Tasks, Network, Disk, SinkTables, Host {
  std::unique_ptr<RunningTask> start(std::string, std::function<void(Env&)>) override {
    there_is_none("tasks");
  }
  std::unique_ptr<Listener> listen(std::string_view) override { there_is_none("network"); }
  std::unique_ptr<Connection> connect(const Endpoint&, Lane, Instant) override {
    there_is_none("network");
  }
  std::unique_ptr<File> open(std::string_view, Open) override { there_is_none("disk"); }
  void rename(std::string_view, std::string_view) override { there_is_none("disk"); }
  void remove(std::string_view) override { there_is_none("disk"); }
  std::vector<std::string> list(std::string_view) override { there_is_none("disk"); }
  void make_directory(std::string_view) override { there_is_none("disk"); }
  void sync_directory(std::string_view) override { there_is_none("disk"); }
  std::unique_ptr<FileLock> try_lock(std::string_view) override { there_is_none("disk"); }
  std::unique_ptr<SinkTable> open(const std::string&, const TableSchema&) override {
    there_is_none("databases");
  }
  std::vector<std::string> peers(std::string_view) override { return {}; }
  bool stop_requested() override { return false; }
  void report(const Progress&) override {}
  void note(std::string_view) override {}
};

FakeWorld::FakeWorld() : nothing_(std::make_unique<Nothing>()) {}
FakeWorld::~FakeWorld() = default;

Env FakeWorld::env(std::string role) {
  return {"worker1", std::move(role), clock,     parker, *nothing_, *nothing_, *nothing_, store,
          log,       *nothing_,       *nothing_, chance, landmarks, user_code};
}

}  // namespace millrace
