#pragma once

#include <memory>
#include <string>

#include "millrace/env/network.hpp"

namespace millrace::posix {

/// What connects the nodes that live in this process.
class NodeNetworks {
 public:
  virtual ~NodeNetworks() = default;

  /// The network as `node` sees it. Must not outlive this.
  virtual std::unique_ptr<Network> of(const std::string& node) = 0;
};

}  // namespace millrace::posix
