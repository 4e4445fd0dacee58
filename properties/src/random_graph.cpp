#include "random_graph.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace millrace::properties {
namespace {

constexpr Site has_two_sources{"random_graph.has_two_sources"};
constexpr Site is_csv{"random_graph.is_csv"};
constexpr Site is_join{"random_graph.is_join"};
constexpr Site which_join{"random_graph.which_join"};
constexpr Site how_near{"random_graph.how_near"};
constexpr Site is_top{"random_graph.is_top"};
constexpr Site how_many{"random_graph.how_many"};
constexpr Site which_field{"random_graph.which_field"};
constexpr Site has_second_window{"random_graph.has_second_window"};

}  // namespace

std::vector<RandomSource> RandomGraph::sources() {
  std::vector<RandomSource> sources{{}};
  if (draws_.hits(has_two_sources, {1, 4})) sources = {{"left"}, {"right"}};
  for (RandomSource& source : sources) source.is_csv = draws_.hits(is_csv, {1, 6});
  return sources;
}

std::string RandomGraph::first_steps(const std::vector<RandomSource>& sources, std::int64_t window,
                                     std::string_view key) {
  if (sources.size() == 1) return "";
  if (draws_.hits(is_join, {1, 2})) {
    return fmt::format(
        "[[step]]\njoin = {{ left = \"left\", right = \"right\", left_key = [{0}], right_key = "
        "[{0}], {1} }}\ncolumns = {{ t = \"right.t\", k = \"left.k\", m = \"left.m\", n = "
        "\"right.n\", x = \"left.x\" }}\n",
        key, how_joined(window));
  }
  return "[[step]]\nfrom = [\"right\", \"left\"]\nkeep = [\"t\", \"k\", \"m\", \"n\", \"x\"]\n";
}

std::string RandomGraph::how_joined(std::int64_t window) {
  const std::uint64_t kind = draws_.below(which_join, 4);
  if (kind == 0) return fmt::format("tumbling = \"{}ms\"", window);
  if (kind == 1) {
    return fmt::format("sliding = \"{}ms\", slide = \"{}ms\"", window,
                       std::max<std::int64_t>(1, window * 2 / 3));
  }
  const auto span = [&] {
    return static_cast<std::int64_t>(
               draws_.below(how_near, static_cast<std::uint64_t>(2 * window + 1))) -
           window;
  };
  const std::int64_t one = span();
  const std::int64_t other = span();
  return fmt::format("between = [\"{}ms\", \"{}ms\"]", std::min(one, other), std::max(one, other));
}

std::string RandomGraph::largest_rows() {
  if (!draws_.hits(is_top, {1, 8})) return "";
  constexpr std::string_view fields[] = {"t", "k", "m", "n", "x"};
  return fmt::format("top = {{ n = {}, by = \"{}\" }}", 1 + draws_.below(how_many, 4),
                     fields[draws_.below(which_field, std::size(fields))]);
}

std::string RandomGraph::second_window(std::int64_t window, std::string_view key) {
  if (!draws_.hits(has_second_window, {1, 8})) return "";
  return fmt::format(
      "[[step]]\nname = \"second\"\nwindow = {{ tumbling = \"{}ms\", key = [{}] }}\n"
      "aggregate = {{ c = \"count()\", g = \"max(a0)\" }}\n",
      4 * window, key);
}

}  // namespace millrace::properties
