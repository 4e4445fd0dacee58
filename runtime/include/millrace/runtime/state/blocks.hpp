#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace {

// Everything of a keyed table that knows no key: where entries lie, how they are found by hash, and
// how a snapshot keeps them as they are.

/// Twelve places of a table's index, in one cache line.
struct alignas(64) IndexLine {
  std::uint8_t tags[12];    ///< Part of the hash of the key at that place; 0: the place is free.
  std::uint8_t overflowed;  ///< Bit b: a key whose hash says b went on to the next line.
  std::uint8_t unused[3];
  std::uint32_t positions[12];

  /// Bit i is set where tag i equals `tag`. The same on every machine.
  std::uint32_t matches(std::uint8_t tag) const {
#ifdef __SSE2__
    using Vector = char __attribute__((vector_size(16)));
    Vector line;
    std::memcpy(&line, tags, sizeof line);
    const Vector wanted = Vector{} + static_cast<char>(tag);
    const auto equal = reinterpret_cast<Vector>(line == wanted);
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(equal)) & 0xFFFU;
#else
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < 12; ++i) found |= std::uint32_t{tags[i] == tag} << i;
    return found;
#endif
  }
};
static_assert(sizeof(IndexLine) == 64);

/// Finds positions by hash.
class TableIndex {
 public:
  TableIndex() : lines_(2) {}

  /// Never 0.
  static std::uint8_t tag_of(std::uint64_t hash) {
    const auto low = static_cast<std::uint8_t>(hash);
    return static_cast<std::uint8_t>(low + (low == 0 ? 1 : 0));
  }
  static std::uint8_t overflow_bit(std::uint64_t hash) {
    return static_cast<std::uint8_t>(1U << (hash >> 8 & 7));
  }
  std::size_t first(std::uint64_t hash) const { return hash >> shift_; }
  std::size_t next(std::size_t line) const { return (line + 1) & (lines_.size() - 1); }
  IndexLine& line(std::size_t i) { return lines_[i]; }
  const IndexLine& line(std::size_t i) const { return lines_[i]; }
  std::size_t size_bytes() const { return lines_.size() * sizeof(IndexLine); }

  bool is_full(std::uint32_t entries) const { return entries >= lines_.size() * entries_per_line; }
  void place(std::uint64_t hash, std::uint32_t position);
  void clear();
  /// Makes room for `entries` in an empty index.
  void reserve(std::uint32_t entries);
  /// Doubles the lines and empties them; the caller places its entries again.
  void double_lines();

 private:
  static constexpr std::size_t entries_per_line = 10;  ///< Of twelve: lines overflow rarely.
  std::vector<IndexLine> lines_;
  int shift_ = 63;
};

/// What a block must know about its entries.
struct EntryType {
  std::uint32_t size_bytes;
  std::uint32_t per_block;
  bool is_trivial;
  void (*make)(void* at, std::uint32_t count);
  void (*copy)(void* to, const void* from, std::uint32_t count);
  void (*destroy)(void* at, std::uint32_t count);
};

template <class Entry>
inline constexpr EntryType entry_type{
    sizeof(Entry),
    sizeof(Entry) <= 32    ? 256
    : sizeof(Entry) <= 128 ? 64
                           : 16,
    std::is_trivially_copyable_v<Entry>,
    [](void* at, std::uint32_t count) {
      std::uninitialized_value_construct_n(static_cast<Entry*>(at), count);
    },
    [](void* to, const void* from, std::uint32_t count) {
      std::uninitialized_copy_n(static_cast<const Entry*>(from), count, static_cast<Entry*>(to));
    },
    [](void* at, std::uint32_t count) { std::destroy_n(static_cast<Entry*>(at), count); }};

/// A shared block of entries. Who holds the only reference may write. Entries are made when they
/// are first needed: most tables are small.
class BlockRef {
 public:
  BlockRef() = default;
  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_ != nullptr) block_->held.fetch_add(1, std::memory_order_relaxed);
  }
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef();

  static BlockRef fresh(const EntryType& type);
  BlockRef clone() const;

  /// Sees to it that the first `count` entries are there. Only if it is not shared.
  void make(std::uint32_t count) {
    if (count > block_->made) make_up_to(count);
  }

  bool is_shared() const { return block_->held.load(std::memory_order_acquire) > 1; }
  std::byte* data() const { return reinterpret_cast<std::byte*>(block_ + 1); }

 private:
  struct alignas(16) Block {
    std::atomic<std::uint32_t> held{1};
    std::uint32_t made = 0;
    const EntryType* type;
  };
  explicit BlockRef(Block* block) : block_(block) {}
  void make_up_to(std::uint32_t count);
  static Block* allocate(const EntryType& type);
  Block* block_ = nullptr;
};

/// A block of a table.
struct KeptBlock {
  BlockRef ref;
  bool changed = true;  ///< Written to since the freeze before.
};

/// The blocks of a table as they were when it was frozen. Never change, whatever the table does.
struct FrozenBlocks {
  std::vector<KeptBlock> blocks;
  std::uint32_t entries = 0;
};

/// Entries in blocks, by position.
///
/// A frozen block belongs to a snapshot too, and the first write to it works on a copy. So freezing
/// costs a pointer per block, and "which blocks changed since" is the same bit.
class BlockStore {
 public:
  explicit BlockStore(const EntryType& type) : type_(&type) {}

  std::uint32_t size() const { return size_; }
  std::byte* block(std::uint32_t b) const { return blocks_[b].ref.data(); }
  void before_write(std::uint32_t b) {
    if (!blocks_[b].changed) [[unlikely]] {
      thaw(b);
    }
  }
  /// Makes room for one more entry and returns its position.
  std::uint32_t add();
  void drop_last() { --size_; }
  void clear();
  FrozenBlocks freeze();
  std::size_t size_bytes() const { return blocks_.size() * type_->per_block * type_->size_bytes; }

 private:
  void thaw(std::uint32_t b);
  void grow();

  const EntryType* type_;
  std::vector<KeptBlock> blocks_;
  std::vector<BlockRef> spare_;
  std::uint32_t size_ = 0;
};

}  // namespace millrace
