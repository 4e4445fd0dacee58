#include "job_picture.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "guarantee.hpp"

namespace millrace::tool {
namespace {

// All lengths are in units of the picture, about a pixel each.
constexpr int letter = 8;  ///< Of a fixed width.
constexpr int line = 18;
constexpr int margin = 24;
constexpr int padding = 12;
constexpr int gap_across = 110;
constexpr int gap_down = 28;

constexpr const char* style = R"(
  svg { background: #ffffff; }
  text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1b1f24; }
  .box { fill: #f3f6fa; stroke: #57606a; }
  .title { font-weight: bold; }
  .note, .edge { fill: #57606a; }
  path { fill: none; stroke: #57606a; }
  marker path { fill: #57606a; stroke: none; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #e6edf3; }
    .box { fill: #161b22; stroke: #8b949e; }
    .note, .edge { fill: #9da7b3; }
    path { stroke: #8b949e; }
    marker path { fill: #8b949e; }
  }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

/// A chain, as it is drawn.
struct Box {
  std::vector<std::string> lines;  ///< The first is its title.
  int column = 0;
  int x = 0;
  int y = 0;
  int width() const {
    std::size_t longest = 0;
    for (const std::string& text : lines) longest = std::max(longest, text.size());
    return static_cast<int>(longest) * letter + 2 * padding;
  }
  int height() const { return static_cast<int>(lines.size()) * line + 2 * padding; }
  int middle() const { return y + height() / 2; }
};

class Picture {
 public:
  Picture(const RealJob& real, const Layout& layout) : real_(real), layout_(layout) {
    for (const ChainLayout& chain : layout.chains) boxes_.push_back(box_of(chain));
    place();
  }

  std::string svg() const {
    std::string body;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      for (const EdgeLayout& edge : layout_.chains[i].inputs) draw_edge(edge, boxes_[i], body);
    }
    for (const Box& box : boxes_) draw_box(box, body);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
        "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n{4}"
        "</svg>\n",
        width_, height_, escaped(real_.name), style, body);
  }

 private:
  Box box_of(const ChainLayout& chain) const {
    Box box;
    box.lines.push_back(fmt::format("{} x {}", chain.parallelism, chain.name));
    for (const StageLayout& stage : chain.stages) {
      const Node& node = *stage.node;
      box.lines.push_back(node.name.empty() ? "steps" : node.name);
      if (!node.address.empty()) box.lines.push_back("  " + node.address);
      if (!node.settings.empty()) box.lines.push_back("  " + node.settings);
      if (node.sink) add_table(node.name, box);
    }
    for (const EdgeLayout& edge : chain.inputs) {
      const int before = boxes_[static_cast<std::size_t>(edge.from)].column;
      box.column = std::max(box.column, before + 1);
    }
    return box;
  }
  void add_table(const std::string& sink, Box& box) const {
    for (const RealJob::Table& table : real_.tables) {
      if (table.sink != sink) continue;
      const Guarantee guarantee =
          guarantee_of(table.schema.mode, real_.checkpoint.interval, table.due);
      box.lines.push_back("  table " + table.schema.table);
      box.lines.push_back("  " + guarantee.promise);
      box.lines.push_back(fmt::format(
          "  {} after {}",
          table.schema.mode == SinkMode::staged
              ? fmt::format("{} ms", real_.checkpoint.interval / std::chrono::milliseconds(1))
              : "at once",
          table.due));
    }
  }

  /// Columns from left to right, the boxes of one from top to bottom.
  void place() {
    int columns = 0;
    for (const Box& box : boxes_) columns = std::max(columns, box.column + 1);
    int x = margin;
    for (int column = 0; column < columns; ++column) {
      int y = margin;
      int widest = 0;
      for (Box& box : boxes_) {
        if (box.column != column) continue;
        box.x = x;
        box.y = y;
        y += box.height() + gap_down;
        widest = std::max(widest, box.width());
      }
      height_ = std::max(height_, y - gap_down + margin);
      width_ = x + widest + margin;
      x += widest + gap_across;
    }
  }

  void draw_box(const Box& box, std::string& out) const {
    out +=
        fmt::format("<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
                    box.x, box.y, box.width(), box.height());
    int y = box.y + padding + line - 5;
    for (std::size_t i = 0; i < box.lines.size(); ++i, y += line) {
      const std::string& text = box.lines[i];
      const char* const kind = i == 0           ? " class=\"title\""
                               : text[0] == ' ' ? " class=\"note\""
                                                : "";
      const int indent = text[0] == ' ' ? 2 * letter : 0;
      out += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>\n", kind, box.x + padding + indent, y,
                         escaped(text.substr(text[0] == ' ' ? 2 : 0)));
    }
  }

  void draw_edge(const EdgeLayout& edge, const Box& to, std::string& out) const {
    const Box& from = boxes_[static_cast<std::size_t>(edge.from)];
    const int x = from.x + from.width();
    const int bend = (x + to.x) / 2;
    out += fmt::format("<path d=\"M{} {} C{} {} {} {} {} {}\" marker-end=\"url(#tip)\"/>\n", x,
                       from.middle(), bend, from.middle(), bend, to.middle(), to.x, to.middle());
    out += fmt::format("<text class=\"edge\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                       bend, (from.middle() + to.middle()) / 2 - 6,
                       edge.is_straight ? "straight" : "by key");
  }

  const RealJob& real_;
  const Layout& layout_;
  std::vector<Box> boxes_;
  int width_ = 2 * margin;
  int height_ = 2 * margin;
};

}  // namespace

std::string picture_of(const RealJob& real, const Layout& layout) {
  return Picture(real, layout).svg();
}

}  // namespace millrace::tool
