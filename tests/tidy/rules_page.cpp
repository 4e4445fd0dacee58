#include "rules_page.hpp"

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace millrace::tidy {
namespace {

constexpr std::string_view beginning_of_test = "TEST_CASE(";

/// A text of C++ that begins at `at` or behind blanks; texts beside each other are one.
std::string text_at(std::string_view source, std::size_t at) {
  constexpr std::string_view blanks = " \n";
  std::string text;
  for (at = source.find_first_not_of(blanks, at); at < source.size() && source[at] == '"';
       at = source.find_first_not_of(blanks, at + 1)) {
    for (++at; at < source.size() && source[at] != '"'; ++at) {
      if (source[at] == '\\' && at + 1 < source.size()) ++at;
      text += source[at];
    }
  }
  return text;
}

std::vector<std::string> found_in(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.push_back((*at)[1].str());
  }
  return found;
}

/// All tests as CTest names them: `program: name`.
std::set<std::string> tests_of(const Tree& tree) {
  static const std::regex declaration(R"(millrace_test\((\w+))");
  std::set<std::string> tests;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".cpp")) continue;
    const auto folder = std::filesystem::path(path).parent_path();
    const auto list = tree.find((folder / "CMakeLists.txt").generic_string());
    if (list == tree.end()) continue;
    for (const std::string& program : found_in(list->second, declaration)) {
      for (auto at = text.find(beginning_of_test); at != std::string::npos;
           at = text.find(beginning_of_test, at + 1)) {
        tests.insert(program + ": " + text_at(text, at + beginning_of_test.size()));
      }
    }
  }
  return tests;
}

/// Reads a page line by line.
class PageReader {
 public:
  explicit PageReader(const Tree& tree)
      : tree_(tree), protocol_(tree.at("runtime/PROTOCOL.md")), tests_(tests_of(tree)) {}

  std::vector<std::string> wrong;

  void read(const std::string& line) {
    static const std::regex beginning(R"(\| [A-Z]{2}-\d.*)");
    static const std::regex rule(
        R"(\| (([A-Z]{2})-(\d{1,3})) \| [^|]+ \| (held|replaced|open) \|)");
    std::smatch match;
    if (line.starts_with("| | | ")) {
      read_reason(line);
    } else if (std::regex_match(line, match, rule)) {
      begin(match[1].str(), match[2].str(), std::stoi(match[3].str()), match[4].str());
    } else if (std::regex_match(line, beginning)) {
      wrong.push_back("this cannot be read: " + line);
    }
  }
  void finish() {
    if (!is_told_) wrong.push_back(id_ + ": nothing says what holds it");
    is_told_ = true;
  }
  /// How many rules there are, as the page must say.
  std::string count() {
    return fmt::format("{} rules: {} are held, {} replaced, {} open.",
                       counts_["held"] + counts_["replaced"] + counts_["open"], counts_["held"],
                       counts_["replaced"], counts_["open"]);
  }

 private:
  void begin(const std::string& id, const std::string& family, int number,
             const std::string& state) {
    finish();
    id_ = id;
    state_ = state;
    is_told_ = false;
    ++counts_[state];
    int& newest = newest_[family];
    if (number != newest + 1) {
      wrong.push_back(fmt::format("{} stands where {}-{} is expected", id, family, newest + 1));
    }
    newest = number;
  }
  void read_reason(const std::string& line) {
    static const std::regex name("`([^`]+)`");
    static const std::regex section(R"(PROTOCOL (\d+))");
    const auto names = found_in(line, name);
    for (const std::string& one : names) {
      if (!is_there(one)) wrong.push_back(fmt::format("{}: `{}` is not there", id_, one));
    }
    for (const std::string& one : found_in(line, section)) {
      if (protocol_.find("\n## " + one + ". ") != std::string::npos) continue;
      wrong.push_back(fmt::format("{}: PROTOCOL {} is not there", id_, one));
    }
    // What is held is held by something that has a name.
    is_told_ = is_told_ || state_ != "held" || !names.empty();
  }
  bool is_there(const std::string& name) const {
    return tests_.contains(name) || tree_.contains(name) || tree_.contains(name + ".toml");
  }

  const Tree& tree_;
  const std::string& protocol_;
  std::set<std::string> tests_;
  std::map<std::string, int> newest_;  ///< Of each family.
  std::map<std::string, int> counts_;  ///< Of each state.
  std::string id_;                     ///< Of the rule that was begun last.
  std::string state_;
  bool is_told_ = true;
};

}  // namespace

std::vector<std::string> wrong_on_page(const std::string& page, const Tree& tree) {
  PageReader reader(tree);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) reader.read(line);
  reader.finish();
  if (page.find(reader.count()) == std::string::npos) {
    reader.wrong.push_back("it does not say: " + reader.count());
  }
  return reader.wrong;
}

}  // namespace millrace::tidy
