#include "millrace/properties/case.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_file.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/sim/draw_book.hpp"

namespace millrace::properties {
namespace {

constexpr std::int64_t format_version = 1;

/// A longer partition is referred to and not written out.
constexpr std::ptrdiff_t most_inline_lines = 200;

/// So long at most is a span among the options of checkpoints and restarts.
constexpr std::chrono::nanoseconds longest_option = std::chrono::hours(1);

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string hex_digits(std::string_view text) {
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return digits;
}

/// Nothing unless it is pairs of hexadecimal digits.
std::optional<std::string> from_hex_digits(std::string_view digits) {
  std::string text;
  if (digits.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
    if (error != std::errc{} || end != &digits[i] + 2) return std::nullopt;
    text += static_cast<char>(byte);
  }
  return text;
}

/// As TOML's literal text of several lines, if that can hold it.
std::string literal_lines(const std::string& text) {
  return text.find("'''") == std::string::npos ? fmt::format("'''\n{}'''", text)
                                               : toml_quoted(text);
}

/// As TOML's literal text, which needs no escapes, if that can hold it.
std::string literal(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c != '\'' && (static_cast<unsigned char>(c) >= 0x20 || c == '\t') && c != 0x7F;
  });
  return is_plain ? fmt::format("'{}'", text) : toml_quoted(text);
}

void write_lines(std::string& out, const std::string& text) {
  out += "lines = [\n";
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = text.find('\n', begin);
    out += fmt::format("  {},\n", literal(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  out += "]\n";
}

void write_partition(std::string& out, const InputPartition& partition,
                     const std::function<std::string(const std::string&)>& path_of) {
  out += fmt::format("\n[[input]]\npartition = {}\n", toml_quoted(partition.name));
  const std::string& text = partition.text;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines > most_inline_lines && !partition.origin.empty()) {
    out += fmt::format("file = {}\nbytes = {}\nxxh3 = \"{}\"\n",
                       toml_quoted(path_of(partition.origin)), text.size(), hex(checksum(text)));
  } else if (!is_utf8(text)) {
    out += fmt::format("hex = \"{}\"\n", hex_digits(text));
  } else if (text.empty() || text.back() == '\n') {
    write_lines(out, text);
  } else {
    out += fmt::format("text = {}\n", toml_quoted(text));
  }
}

/// A section of `lines`, or nothing if there are none.
std::string section_text(std::string_view name, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("\n[{}]\n", name);
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

/// What is not as it is by default.
std::string checkpoint_text(const CheckpointOptions& options) {
  const CheckpointOptions defaults;
  std::vector<std::string> lines;
  const auto span = [&](const char* key, std::chrono::nanoseconds value) {
    lines.push_back(fmt::format("{} = \"{}\"", key, faults::to_text(value)));
  };
  if (options.min_pause != defaults.min_pause) span("min_pause", options.min_pause);
  if (options.timeout != defaults.timeout) span("timeout", options.timeout);
  if (options.tolerable_failures != defaults.tolerable_failures) {
    lines.push_back(fmt::format("tolerable_failures = {}", options.tolerable_failures));
  }
  if (options.retained != defaults.retained) {
    lines.push_back(fmt::format("retained = {}", options.retained));
  }
  return section_text("checkpoint", lines);
}

std::string restart_text(const RestartOptions& options) {
  const RestartOptions defaults;
  std::vector<std::string> lines;
  const auto span = [&](const char* key, std::chrono::nanoseconds value) {
    lines.push_back(fmt::format("{} = \"{}\"", key, faults::to_text(value)));
  };
  if (options.strategy != defaults.strategy) lines.emplace_back("strategy = \"fixed\"");
  if (options.delay != defaults.delay) span("delay", options.delay);
  if (options.max_delay != defaults.max_delay) span("max_delay", options.max_delay);
  if (options.attempts != defaults.attempts) {
    lines.push_back(fmt::format("attempts = {}", options.attempts));
  }
  if (options.within) span("within", *options.within);
  return section_text("restart", lines);
}

class CaseReader {
 public:
  CaseReader(TomlSection root, const std::function<std::string(const std::string&)>& read_file)
      : root_(std::move(root)), read_file_(read_file) {}

  Case read() {
    root_.integer("format", format_version, format_version);
    Case made;
    made.seed = hex_number(root_, "seed");
    made.is_quiet = root_.boolean_or("quiet", false);
    read_choices(made);
    made.expect = expected();
    made.build = root_.text_or("build", "");
    if (root_.has("trace_hash")) made.trace_hash = hex_number(root_, "trace_hash");
    if (root_.has("registered")) {
      made.registered = root_.text("registered");
    } else {
      made.job = parse_job_file(root_.text("job"), root_.file() + ", job");
    }
    read_cluster(made, root_.section("cluster"));
    read_timing(made, root_.section("timing"));
    if (root_.has("checkpoint")) read_checkpoint(made.checkpoint, root_.section("checkpoint"));
    if (root_.has("restart")) read_restart(made.restart, root_.section("restart"));
    read_plan(made, root_.section("plan"));
    for (TomlSection& partition : root_.sections("input")) {
      made.input.partitions.push_back(read_partition(partition));
    }
    root_.finish();
    return made;
  }

 private:
  void read_choices(Case& made) {
    if (!root_.has("choices")) return;
    sim::DrawBook book;  // Knows which draws there is a choice of.
    for (const TomlEntry& entry : root_.texts("choices")) {
      try {
        made.choices.push_back(sim::parse_choice(entry.key));
        book.add(made.choices.back());
      } catch (const UsageError& error) {
        root_.fail_at(entry.value, error.what());
      }
    }
  }

  static void read_cluster(Case& made, TomlSection cluster) {
    made.cluster.workers = static_cast<std::uint32_t>(cluster.integer("workers", 1, 100));
    made.cluster.parallelism = static_cast<std::uint32_t>(cluster.integer("parallelism", 1, 128));
    made.cluster.database = database_kind(cluster);
    cluster.finish();
  }

  static DatabaseKind database_kind(TomlSection& cluster) {
    const std::string text = cluster.text_or("database", "sqlite");
    if (text == "memory") return DatabaseKind::memory;
    if (text != "sqlite") {
      cluster.fail_key("database", fmt::format("`cluster.database` is \"{}\"; sqlite or memory is "
                                               "expected",
                                               text));
    }
    return DatabaseKind::sqlite;
  }

  static void read_timing(Case& made, TomlSection timing) {
    made.arrival = span(timing, "arrival");
    made.checkpoint.interval = span(timing, "checkpoint_interval");
    if (made.checkpoint.interval.count() == 0) {
      timing.fail_key("checkpoint_interval", "`timing.checkpoint_interval` is 0");
    }
    timing.finish();
  }

  static void read_checkpoint(CheckpointOptions& options, TomlSection checkpoint) {
    options.min_pause = span_or(checkpoint, "min_pause", options.min_pause);
    options.timeout = span_or(checkpoint, "timeout", options.timeout);
    if (options.timeout.count() == 0) {
      checkpoint.fail_key("timeout", "`checkpoint.timeout` is 0");
    }
    options.tolerable_failures = static_cast<std::uint32_t>(
        checkpoint.integer_or("tolerable_failures", options.tolerable_failures, 0, 1000));
    options.retained =
        static_cast<std::uint32_t>(checkpoint.integer_or("retained", options.retained, 1, 100));
    checkpoint.finish();
  }

  static void read_restart(RestartOptions& options, TomlSection restart) {
    const std::string strategy = restart.text_or("strategy", "exponential");
    if (strategy == "fixed") {
      options.strategy = RestartOptions::Strategy::fixed;
    } else if (strategy != "exponential") {
      restart.fail_key(
          "strategy",
          fmt::format("`restart.strategy` is \"{}\"; fixed or exponential is expected", strategy));
    }
    options.delay = span_or(restart, "delay", options.delay);
    options.max_delay = span_or(restart, "max_delay", options.max_delay);
    options.attempts =
        static_cast<std::uint32_t>(restart.integer_or("attempts", options.attempts, 0, 1'000'000));
    if (restart.has("within")) {
      options.within = span_or(restart, "within", {});
      if (options.within->count() == 0) restart.fail_key("within", "`restart.within` is 0");
    }
    restart.finish();
  }

  static void read_plan(Case& made, TomlSection plan) {
    for (const TomlEntry& entry : plan.texts("faults")) {
      try {
        made.plan.faults.push_back(faults::parse_fault(entry.key));
      } catch (const UsageError& error) {
        plan.fail_at(entry.value, error.what());
      }
      const auto& moment = faults::moment_of(made.plan.faults.back());
      const auto* const anchor = std::get_if<Anchor>(&moment);
      if (anchor != nullptr && landmarks::find(anchor->landmark) == nullptr) {
        plan.fail_at(entry.value,
                     fmt::format("fault `{}`: there is no landmark `{}`; `millrace landmarks` "
                                 "lists them",
                                 entry.key, anchor->landmark));
      }
    }
    plan.finish();
  }

  InputPartition read_partition(TomlSection& section) const {
    InputPartition partition;
    partition.name = section.text("partition");
    if (section.has("lines")) {
      for (const TomlEntry& line : section.texts("lines")) partition.text += line.key + "\n";
    } else if (section.has("text")) {
      partition.text = section.text("text");
    } else if (section.has("hex")) {
      const auto text = from_hex_digits(section.text("hex"));
      if (!text) section.fail_key("hex", "`input.hex`: two hexadecimal digits a byte are expected");
      partition.text = *text;
    } else {
      read_origin(section, partition);
    }
    section.finish();
    return partition;
  }

  void read_origin(TomlSection& section, InputPartition& partition) const {
    partition.origin = section.text("file");
    const auto bytes = section.integer("bytes", 0, INT64_MAX);
    const auto expected = hex_number(section, "xxh3");
    partition.text = read_file_(partition.origin).substr(0, static_cast<std::size_t>(bytes));
    if (checksum(partition.text) != expected) {
      section.fail_key("xxh3",
                       fmt::format("the first {} bytes of {} are not those that the case was "
                                   "seen with",
                                   bytes, partition.origin));
    }
  }

  Verdict expected() {
    const std::string text = root_.text("expect");
    try {
      return parse_verdict(text);
    } catch (const UsageError& error) {
      root_.fail_key("expect", error.what());
    }
  }

  static std::chrono::nanoseconds span(TomlSection& section, const char* key) {
    const std::string text = section.text(key);
    try {
      return faults::parse_span(text);
    } catch (const UsageError& error) {
      section.fail_key(key, error.what());
    }
  }

  static std::chrono::nanoseconds span_or(TomlSection& section, const char* key,
                                          std::chrono::nanoseconds fallback) {
    if (!section.has(key)) return fallback;
    const auto given = span(section, key);
    if (given > longest_option) {
      section.fail_key(key, fmt::format("{} is longer than an hour", section.path_of(key)));
    }
    return given;
  }

  static std::uint64_t hex_number(TomlSection& section, const char* key) {
    const std::string text = section.text(key);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc{} || end != text.data() + text.size()) {
      section.fail_key(key, fmt::format("{} is \"{}\"; up to 16 hexadecimal digits are expected",
                                        section.path_of(key), text));
    }
    return number;
  }

  TomlSection root_;
  const std::function<std::string(const std::string&)>& read_file_;
};

}  // namespace

std::string to_text(const Case& written, const std::vector<std::string>& comments,
                    const std::function<std::string(const std::string& origin)>& path_of) {
  std::string out;
  for (const std::string& comment : comments) {
    out += comment.empty() ? "#\n" : fmt::format("# {}\n", comment);
  }
  out += fmt::format("format = {}\nexpect = \"{}\"\nseed = \"{}\"\nquiet = {}\n", format_version,
                     to_text(written.expect), hex(written.seed), written.is_quiet);
  if (!written.choices.empty()) {
    out += "choices = [\n";
    for (const sim::Choice& choice : written.choices) {
      out += fmt::format("  {},\n", toml_quoted(to_text(choice)));
    }
    out += "]\n";
  }
  if (!written.build.empty()) out += fmt::format("build = {}\n", toml_quoted(written.build));
  if (written.trace_hash) out += fmt::format("trace_hash = \"{}\"\n", hex(*written.trace_hash));
  out += written.registered.empty()
             ? fmt::format("job = {}\n", literal_lines(to_toml(written.job)))
             : fmt::format("registered = {}\n", toml_quoted(written.registered));
  out += '\n' + setting_text(written);
  for (const InputPartition& partition : written.input.partitions) {
    write_partition(out, partition, path_of);
  }
  return out;
}

std::string setting_text(const Case& written) {
  std::string out = fmt::format("[cluster]\nworkers = {}\nparallelism = {}\n",
                                written.cluster.workers, written.cluster.parallelism);
  if (written.cluster.database == DatabaseKind::memory) out += "database = \"memory\"\n";
  out +=
      fmt::format("\n[timing]\narrival = \"{}\"\ncheckpoint_interval = \"{}\"\n",
                  faults::to_text(written.arrival), faults::to_text(written.checkpoint.interval));
  out += checkpoint_text(written.checkpoint) + restart_text(written.restart);
  out += "\n[plan]\nfaults = [\n";
  for (const faults::Fault& fault : written.plan.faults) {
    out += fmt::format("  {},\n", toml_quoted(to_text(fault)));
  }
  return out + "]\n";
}

Case parse_case(std::string_view text, const std::string& file,
                const std::function<std::string(const std::string& path)>& read_file) {
  return CaseReader(TomlDocument(text, file).root(), read_file).read();
}

}  // namespace millrace::properties
