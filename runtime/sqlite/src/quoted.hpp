#pragma once

#include <string>
#include <string_view>

namespace millrace {

/// A name as SQL wants it, whatever characters it holds: `a"b` becomes `"a""b"`.
inline std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace millrace
