#include "millrace/runtime/job_file.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {
namespace {

/// Reads a job file, section by section, into a spec.
class JobFileReader {
 public:
  explicit JobFileReader(TomlSection root) : root_(std::move(root)) {}

  JobSpec read() {
    TomlSection job = root_.section("job");
    spec_.name = job.text("name");
    spec_.parallelism =
        static_cast<std::uint32_t>(job.integer_or("parallelism", 1, 1, key_group_count));
    job.finish();
    read_source(root_.section("source"));
    for (TomlSection& step : root_.sections("step")) read_step(step);
    if (spec_.aggregates.empty()) {
      root_.fail_key("step", "a job needs one [[step]] with `window` and `aggregate`");
    }
    read_sink(root_.section("sink"));
    read_checkpoint();
    root_.finish();
    return std::move(spec_);
  }

 private:
  void read_source(TomlSection source) {
    if (const auto format = source.text("format"); format != "jsonl") {
      source.fail_key("format",
                      fmt::format("`source.format` is \"{}\"; \"jsonl\" is expected", format));
    }
    spec_.files = source.text("files");
    spec_.address = beside(root_.file(), spec_.files);
    read_fields(source.section("fields"));
    const std::string time = source.text("event_time");
    spec_.event_time = field(source, "event_time", nullptr, time);
    if (spec_.fields[spec_.event_time].type != FieldType::integer ||
        spec_.fields[spec_.event_time].nullable) {
      source.fail_key("event_time",
                      fmt::format("`source.event_time` is `{}`, which is {}; a field of "
                                  "type \"int64\" is expected",
                                  time, type_text(spec_.fields[spec_.event_time])));
    }
    spec_.disorder = source.duration_or("disorder", Duration{0});
    const std::string bad = source.text_or("on_bad_record", "fail");
    if (bad != "fail" && bad != "skip") {
      source.fail_key(
          "on_bad_record",
          fmt::format("`source.on_bad_record` is \"{}\"; \"fail\" or \"skip\" is expected", bad));
    }
    spec_.on_bad_record = bad == "fail" ? OnBadRecord::fail : OnBadRecord::skip;
    source.finish();
  }

  void read_fields(TomlSection fields) {
    for (const TomlEntry& entry : fields.entries()) {
      Field field;
      field.name = entry.key;
      const auto type = entry.value.text();
      if (!type || !parse_type(*type, field)) {
        fields.fail_at(entry.value, fmt::format("{} is expected to be \"string\", \"int64\" or "
                                                "\"float64\", with `?` behind it if it may be null",
                                                fields.path_of(entry.key)));
      }
      if (spec_.fields.size() == Row::most_fields) {
        fields.fail_at(entry.value, fmt::format("more than {} fields", Row::most_fields));
      }
      spec_.fields.push_back(std::move(field));
    }
  }

  void read_step(TomlSection& step) {
    const bool is_filter = step.has("filter");
    const bool is_window = step.has("window");
    if (is_filter == is_window) {
      step.fail("a [[step]] has either `filter` or `window` with `aggregate`");
    }
    if (!spec_.aggregates.empty()) {
      step.fail("a step behind the window: the window is expected to be the last step");
    }
    if (is_filter) {
      FilterSpec filter;
      filter.text = step.text("filter");
      try {
        filter.expression = parse_expression(filter.text, spec_.fields);
      } catch (const UsageError& error) {
        step.fail_key("filter", fmt::format("`filter`: {}", error.what()));
      }
      spec_.filters.push_back(std::move(filter));
    } else {
      read_window(step.section("window"));
      read_aggregate(step.section("aggregate"));
    }
    step.finish();
  }

  void read_window(TomlSection window) {
    spec_.window_size = window.duration("tumbling");
    if (spec_.window_size == Duration::zero()) {
      window.fail_key("tumbling", "a window of no length: a span above 0 is expected");
    }
    for (const TomlEntry& entry : window.texts("key")) {
      const auto number = field(window, "key", &entry.value, entry.key);
      if (spec_.fields[number].type == FieldType::real) {
        window.fail_at(entry.value,
                       fmt::format("`{}` is a float64, which makes no key: equal numbers "
                                   "can be written differently",
                                   entry.key));
      }
      if (entry.key == "window_start" || entry.key == "window_end") {
        window.fail_at(entry.value,
                       fmt::format("`{}` is the name of another column of the table", entry.key));
      }
      if (std::find(spec_.key.begin(), spec_.key.end(), number) != spec_.key.end()) {
        window.fail_at(entry.value, fmt::format("`{}` stands in the key twice", entry.key));
      }
      spec_.key.push_back(number);
    }
    if (spec_.key.empty()) window.fail_key("key", "a key of one field or more is expected");
    window.finish();
  }

  void read_aggregate(TomlSection aggregate) {
    std::set<std::string> columns{"window_start", "window_end"};
    for (const std::uint32_t number : spec_.key) columns.insert(spec_.fields[number].name);
    for (const TomlEntry& entry : aggregate.entries()) {
      if (!columns.insert(entry.key).second) {
        aggregate.fail_at(entry.value, fmt::format("{} is the name of another column",
                                                   aggregate.path_of(entry.key)));
      }
      const auto text = entry.value.text();
      spec_.aggregates.push_back(
          fold(aggregate, entry, text ? *text : aggregate.text(entry.key.c_str())));
      if (spec_.aggregates.size() > Row::most_fields) {
        aggregate.fail_at(entry.value,
                          fmt::format("more than {} aggregates of one window", Row::most_fields));
      }
    }
    if (spec_.aggregates.empty()) {
      aggregate.fail("one aggregate or more is expected, such as { count = \"count()\" }");
    }
  }

  AggregateColumn fold(const TomlSection& at, const TomlEntry& entry, std::string_view text) const {
    constexpr std::pair<std::string_view, AggregateColumn::Fold> folds[] = {
        {"count", AggregateColumn::Fold::count},
        {"sum", AggregateColumn::Fold::sum},
        {"min", AggregateColumn::Fold::minimum},
        {"max", AggregateColumn::Fold::maximum},
        {"avg", AggregateColumn::Fold::average}};
    AggregateColumn column;
    column.name = entry.key;
    const auto open = text.find('(');
    const auto* const known =
        std::find_if(std::begin(folds), std::end(folds),
                     [&](const auto& pair) { return pair.first == text.substr(0, open); });
    if (open == std::string_view::npos || !text.ends_with(')') || known == std::end(folds)) {
      at.fail_at(entry.value,
                 fmt::format("{} is \"{}\"; count(), count(FIELD), sum(FIELD), min(FIELD), "
                             "max(FIELD) or avg(FIELD) is expected",
                             at.path_of(entry.key), text));
    }
    column.fold = known->second;
    const auto of = text.substr(open + 1, text.size() - open - 2);
    if (of.empty() && column.fold == AggregateColumn::Fold::count) {
      column.of_rows = true;
      return column;
    }
    column.field = field(at, entry.key, &entry.value, of);
    if (column.fold != AggregateColumn::Fold::count &&
        spec_.fields[column.field].type == FieldType::text) {
      at.fail_at(entry.value,
                 fmt::format("{} is \"{}\", and `{}` is a string; a number is expected",
                             at.path_of(entry.key), text, of));
    }
    return column;
  }

  void read_sink(TomlSection sink) {
    spec_.table = sink.text("table");
    spec_.database = sink.text("database");
    const auto mode = sink.text_or("mode", "staged");
    const auto found = find_sink_mode(mode);
    if (!found) {
      sink.fail_key("mode", fmt::format("`sink.mode` is \"{}\"; \"staged\", \"upsert\" or "
                                        "\"insert\" is expected",
                                        mode));
    }
    spec_.mode = *found;
    if (sink.has("key")) {
      const TableSchema schema = schema_of(spec_);
      for (const TomlEntry& entry : sink.texts("key")) {
        const bool known =
            std::any_of(schema.columns.begin(), schema.columns.end(),
                        [&](const auto& column) { return column.name == entry.key; });
        if (!known) {
          std::vector<std::string_view> names;
          for (const auto& column : schema.columns) names.push_back(column.name);
          sink.fail_at(entry.value, fmt::format("the table has no column `{}`; its columns are {}",
                                                entry.key, fmt::join(names, ", ")));
        }
        spec_.sink_key.push_back(entry.key);
      }
    }
    spec_.unique_key = sink.boolean_or("unique", false);
    if (spec_.unique_key && spec_.sink_key.empty()) {
      sink.fail_key("unique", "`sink.unique` is true without a `sink.key` that could be unique");
    }
    if (spec_.unique_key && spec_.mode == SinkMode::insert) {
      sink.fail_key("unique", "`sink.unique` is true, and an insert sink writes rows again");
    }
    if (spec_.mode == SinkMode::upsert) expect_distinct_keys(sink);
    sink.finish();
  }

  /// Rows of one key would replace each other, in an order that nobody promises.
  void expect_distinct_keys(const TomlSection& sink) const {
    const auto holds = [&](std::string_view column) {
      return std::find(spec_.sink_key.begin(), spec_.sink_key.end(), column) !=
             spec_.sink_key.end();
    };
    const auto expect = [&](const std::string& column) {
      if (holds(column)) return;
      sink.fail_key("key", fmt::format("`sink.key` of an upsert sink lacks `{}`; the key of the "
                                       "window and `window_start` are expected, which tell rows "
                                       "apart",
                                       column));
    };
    for (const std::uint32_t number : spec_.key) expect(spec_.fields[number].name);
    if (!holds("window_end")) expect("window_start");
    for (const auto& column : schema_of(spec_).columns) {
      if (!column.nullable || !holds(column.name)) continue;
      sink.fail_key("key", fmt::format("`sink.key` of an upsert sink has `{}`, which may be null",
                                       column.name));
    }
  }

  void read_checkpoint() {
    spec_.state_directory = spec_.name + ".state";
    if (!root_.has("checkpoint")) return;
    TomlSection checkpoint = root_.section("checkpoint");
    spec_.state_directory = checkpoint.text_or("directory", spec_.state_directory);
    spec_.checkpoint_interval = checkpoint.duration_or("interval", std::chrono::seconds(1));
    if (spec_.checkpoint_interval == Duration::zero()) {
      checkpoint.fail_key("interval", "`checkpoint.interval` is 0; a span above 0 is expected");
    }
    checkpoint.finish();
  }

  std::uint32_t field(const TomlSection& at, std::string_view key, const TomlValue* value,
                      std::string_view name) const {
    const auto found = std::find_if(spec_.fields.begin(), spec_.fields.end(),
                                    [&](const Field& f) { return f.name == name; });
    if (found == spec_.fields.end()) {
      std::vector<std::string_view> names;
      for (const Field& f : spec_.fields) names.push_back(f.name);
      const auto what = fmt::format("{}: there is no field `{}`; the fields are {}",
                                    at.path_of(key), name, fmt::join(names, ", "));
      if (value != nullptr) at.fail_at(*value, what);
      at.fail_key(key, what);
    }
    return static_cast<std::uint32_t>(found - spec_.fields.begin());
  }

  /// A path that is relative to a file.
  static std::string beside(const std::string& file, const std::string& path) {
    const auto slash = file.rfind('/');
    if (path.starts_with('/') || slash == std::string::npos) return path;
    return file.substr(0, slash + 1) + path;
  }

  TomlSection root_;
  JobSpec spec_;
};

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> list;
  for (const std::string& text : texts) list.push_back(toml_quoted(text));
  return fmt::format("[{}]", fmt::join(list, ", "));
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw UsageError(
        fmt::format("--set {}: key=value is expected, such as sink.table=other", text));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

JobSpec parse_job_file(std::string_view text, const std::string& file,
                       const std::vector<Setting>& settings) {
  TomlDocument document(text, file);
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  return JobFileReader(document.root()).read();
}

std::string to_toml(const JobSpec& spec) {
  std::vector<std::string> fields;
  for (const Field& field : spec.fields) {
    fields.push_back(
        fmt::format("{} = {}", toml_quoted(field.name), toml_quoted(type_text(field))));
  }
  std::vector<std::string> key;
  for (const std::uint32_t number : spec.key) key.push_back(spec.fields[number].name);
  std::vector<std::string> aggregates;
  for (const AggregateColumn& column : spec.aggregates) {
    aggregates.push_back(fmt::format("{} = {}", toml_quoted(column.name),
                                     toml_quoted(describe(column, spec.fields))));
  }
  std::string out = fmt::format(
      "[job]\nname = {}\nparallelism = {}\n"
      "[source]\nformat = \"jsonl\"\nfiles = {}\nfields = {{ {} }}\nevent_time = {}\n"
      "disorder = {}\non_bad_record = {}\n",
      toml_quoted(spec.name), spec.parallelism, toml_quoted(spec.files), fmt::join(fields, ", "),
      toml_quoted(spec.fields[spec.event_time].name), toml_quoted(describe(spec.disorder)),
      toml_quoted(describe(spec.on_bad_record)));
  for (const FilterSpec& filter : spec.filters) {
    out += fmt::format("[[step]]\nfilter = {}\n", toml_quoted(filter.text));
  }
  out += fmt::format(
      "[[step]]\nwindow = {{ tumbling = {}, key = {} }}\naggregate = {{ {} }}\n"
      "[sink]\ntable = {}\ndatabase = {}\nmode = \"{}\"\nkey = {}\nunique = {}\n"
      "[checkpoint]\ndirectory = {}\ninterval = {}\n",
      toml_quoted(describe(spec.window_size)), quoted_list(key), fmt::join(aggregates, ", "),
      toml_quoted(spec.table), toml_quoted(spec.database), describe(spec.mode),
      quoted_list(spec.sink_key), spec.unique_key, toml_quoted(spec.state_directory),
      toml_quoted(describe(spec.checkpoint_interval)));
  return out;
}

}  // namespace millrace
