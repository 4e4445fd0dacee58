#include "rules.hpp"

#include <algorithm>
#include <regex>

#include "code.hpp"

namespace millrace::tidy {
namespace {

bool begins_with_one(std::string_view path, const std::vector<std::string_view>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return path.starts_with(beginning); });
}

const std::vector<std::string_view> product{"runtime/", "sim/", "faults/", "properties/",
                                            "corpus/"};
const std::vector<std::string_view> all_code{"runtime/",    "sim/",    "faults/",
                                             "properties/", "corpus/", "tests/"};

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list{
      {"time is read through the seam",
       R"(\b(steady_clock|system_clock|high_resolution_clock|gettimeofday|clock_gettime|std::time)\b)",
       product,
       {"runtime/posix/"}},
      {"threads live in the real world",
       R"(\bstd::(thread|jthread|async|condition_variable\w*|this_thread)\b|\bpthread_\w+)",
       product,
       {"runtime/posix/"}},
      {"locks and atomics are where both worlds share memory",
       R"(\bstd::(mutex|shared_mutex|lock_guard|unique_lock|scoped_lock|atomic\w*)\b)",
       product,
       {
           "runtime/posix/",
           "runtime/files/",                 // Objects of one store are put by many threads.
           "runtime/env/src/invariant.cpp",  // One handler a process.
           "runtime/include/millrace/runtime/worker/chain_task.hpp",  // A count for people.
           "runtime/env/include/millrace/env/channel.hpp",      // The same ring in both worlds.
           "runtime/include/millrace/runtime/state/blocks.hpp"  // Uploaders drop blocks of their
                                                                // own.
       }},
      {"chance comes from the seam",
       R"(\b(random_device|mt19937\w*|s?rand|default_random_engine|\w+_distribution|getrandom)\b)",
       product,
       {"runtime/posix/"}},
      {"a hash table is looked up and never walked",
       R"(\bstd::unordered_\w+)",
       product,
       {"runtime/posix/", "properties/src/campaign.cpp", "properties/src/user_code_judge."}},
      {"decisions are made of whole numbers",
       R"(\b(float|double)\b)",
       {"sim/", "faults/", "corpus/", "runtime/coordinator/", "runtime/control/",
        "runtime/include/millrace/runtime/coordinator/",
        "runtime/include/millrace/runtime/control/"},
       {}},
      {"invariants hold in every build", R"(\bassert\s*\(|\bNDEBUG\b|\bcassert\b)", all_code, {}},
      {"nobody swallows what he does not know",
       R"(\bcatch\s*\(\s*\.\.\.\s*\))",
       all_code,
       {"runtime/posix/src/thread_tasks.cpp"}},
      {"one file knows the fibers' library",
       R"(#include\s*<boost/context)",
       all_code,
       {"sim/src/fiber.", "tests/bench/"}},
      {"two places know SQLite's interface",
       R"(#include\s*<sqlite3\.h>)",
       product,
       {"runtime/sqlite/", "sim/src/sqlite_vfs"}},
      {"one file knows TOML's library",
       R"(#include\s*<toml\+\+)",
       all_code,
       {"runtime/job/toml_section.cpp"}},
      {"the operating system is called by the real world",
       R"(#include\s*<(unistd\.h|fcntl\.h|sys/[a-z_]+\.h|poll\.h|netinet/[a-z]+\.h|signal\.h)>)",
       product,
       {"runtime/posix/"}},
  };
  return list;
}

std::vector<Violation> violations_in(std::string_view path, std::string_view source) {
  std::vector<Violation> found;
  const std::string code = code_of(source);
  for (const Rule& rule : rules()) {
    if (!begins_with_one(path, rule.rooms) || begins_with_one(path, rule.exceptions)) continue;
    const std::regex pattern{std::string(rule.pattern)};
    for (std::sregex_iterator at(code.begin(), code.end(), pattern), end; at != end; ++at) {
      const auto line = std::count(code.begin(), code.begin() + at->position(), '\n') + 1;
      found.push_back({rule.name, static_cast<std::size_t>(line), at->str()});
    }
  }
  // A promise in a comment is none.
  static const std::regex promise(
      "\\b(TO"
      "DO|FIX"
      "ME|X"
      "XX)\\b");
  std::match_results<std::string_view::const_iterator> match;
  if (std::regex_search(source.begin(), source.end(), match, promise)) {
    const auto line = std::count(source.begin(), source.begin() + match.position(), '\n') + 1;
    found.push_back({"nothing is promised for later", static_cast<std::size_t>(line), match.str()});
  }
  return found;
}

}  // namespace millrace::tidy
