#include "millrace/runtime/state/blocks.hpp"

#include <algorithm>
#include <new>

namespace millrace {

void TableIndex::place(std::uint64_t hash, std::uint32_t position) {
  for (std::size_t i = first(hash);; i = next(i)) {
    IndexLine& line = lines_[i];
    if (const std::uint32_t free = line.matches(0); free != 0) {
      const int at = std::countr_zero(free);
      line.tags[at] = tag_of(hash);
      line.positions[at] = position;
      return;
    }
    line.overflowed |= overflow_bit(hash);
  }
}

void TableIndex::clear() { std::fill(lines_.begin(), lines_.end(), IndexLine{}); }

void TableIndex::reserve(std::uint32_t entries) {
  std::size_t wanted = lines_.size();
  while (entries > wanted * entries_per_line) {
    wanted *= 2;
    --shift_;
  }
  if (wanted != lines_.size()) lines_.assign(wanted, IndexLine{});
}

void TableIndex::double_lines() {
  lines_.assign(lines_.size() * 2, IndexLine{});
  --shift_;
}

BlockRef::Block* BlockRef::allocate(const EntryType& type) {
  auto* const block =
      ::new (::operator new(sizeof(Block) + std::size_t{type.size_bytes} * type.per_block)) Block{};
  block->type = &type;
  return block;
}

BlockRef BlockRef::fresh(const EntryType& type) { return BlockRef(allocate(type)); }

void BlockRef::make_up_to(std::uint32_t count) {
  const EntryType& type = *block_->type;
  type.make(data() + std::size_t{type.size_bytes} * block_->made, count - block_->made);
  block_->made = count;
}

BlockRef BlockRef::clone() const {
  const EntryType& type = *block_->type;
  BlockRef copy(allocate(type));
  if (type.is_trivial) {
    std::memcpy(copy.data(), data(), std::size_t{type.size_bytes} * block_->made);
  } else {
    type.copy(copy.data(), data(), block_->made);
  }
  copy.block_->made = block_->made;
  return copy;
}

BlockRef::~BlockRef() {
  if (block_ == nullptr || block_->held.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!block_->type->is_trivial) block_->type->destroy(data(), block_->made);
  ::operator delete(block_);
}

void BlockStore::thaw(std::uint32_t b) {
  KeptBlock& block = blocks_[b];
  block.changed = true;
  if (block.ref.is_shared()) block.ref = block.ref.clone();
}

std::uint32_t BlockStore::add() {
  const std::uint32_t b = size_ / type_->per_block;
  if (size_ % type_->per_block == 0 && b == blocks_.size()) grow();
  before_write(b);
  blocks_[b].ref.make(size_ % type_->per_block + 1);
  return size_++;
}

void BlockStore::grow() {
  if (spare_.empty()) {
    blocks_.push_back({BlockRef::fresh(*type_)});
  } else {
    blocks_.push_back({std::move(spare_.back())});
    spare_.pop_back();
  }
}

void BlockStore::clear() {
  for (KeptBlock& block : blocks_) {
    if (!block.ref.is_shared()) spare_.push_back(std::move(block.ref));
  }
  blocks_.clear();
  size_ = 0;
}

FrozenBlocks BlockStore::freeze() {
  FrozenBlocks frozen{blocks_, size_};
  for (KeptBlock& block : blocks_) block.changed = false;
  return frozen;
}

}  // namespace millrace
