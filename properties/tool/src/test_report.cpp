#include "test_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "build_id.hpp"

namespace millrace::tool {
namespace {

using properties::CampaignReport;
using properties::Verdict;

/// With fewer publishes that show rows, little can go wrong between two of them.
constexpr std::uint64_t fewest_publishes = 3;

std::string faults_line(const CampaignReport& campaign) {
  std::string line;
  for (std::size_t i = 0; i < std::size(faults::kinds); ++i) {
    line += fmt::format("{} {}, ", faults::kinds[i], grouped(campaign.totals.firings[i]));
  }
  return line + fmt::format("{} of {} planned never met their moment", grouped(campaign.unfired),
                            grouped(campaign.planned));
}

std::vector<std::string_view> unreached(const CampaignReport& campaign) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < properties::landmark_count; ++i) {
    if (campaign.totals.landmarks[i] == 0) names.push_back(landmarks::all[i]->name);
  }
  return names;
}

std::string verdicts_line(const CampaignReport& campaign) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < campaign.verdicts.size(); ++i) {
    if (campaign.verdicts[i] == 0) continue;
    parts.push_back(
        fmt::format("{} {}", to_text(static_cast<Verdict>(i)), grouped(campaign.verdicts[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

void print_table(const TestReport& report) {
  const CampaignReport& campaign = report.campaign;
  const double simulated = static_cast<double>(campaign.totals.virtual_ns) / 1e9;
  const auto runs = static_cast<double>(campaign.runs);
  fmt::print("{}\n", report.job);
  fmt::print("  input        {} records", grouped(report.records));
  if (report.is_random) fmt::print(" in all, of another job in every run");
  if (report.whole_input > report.records) {
    fmt::print(" of {}, from the head of every file", grouped(report.whole_input));
  }
  fmt::print("\n  runs         {} in {:.1f} s: {:.1f}/s, {:.1f} per second of processor time\n",
             grouped(campaign.runs), report.seconds, runs / report.seconds,
             runs / report.processor_seconds);
  fmt::print("  time         {:.0f} s simulated, {:.0f} for each real one\n", simulated,
             simulated / report.seconds);
  fmt::print("  per run      {} checkpoints, {} publishes that showed rows (medians)\n",
             campaign.checkpoints.median(), campaign.publishes.median());
  if (!report.is_random && campaign.runs > 1 && campaign.publishes.median() < fewest_publishes) {
    fmt::print(
        "               fewer than {} publishes: this job's rows come all at once, and it "
        "tries little\n",
        fewest_publishes);
  }
  fmt::print("  faults       {}\n", faults_line(campaign));
  const auto missing = unreached(campaign);
  fmt::print("  landmarks    {} of {} reached{}{}\n", properties::landmark_count - missing.size(),
             properties::landmark_count,
             missing.empty() ? "" : "; not: ", fmt::join(missing, ", "));
  fmt::print("  verdicts     {}\n", verdicts_line(campaign));
  const properties::RowCounts& rows = campaign.rows;
  if (rows.wrong() != 0) {
    fmt::print("  rows         lost {}, duplicated {}, altered {}, unexpected {}\n",
               grouped(rows.lost), grouped(rows.duplicated), grouped(rows.altered),
               grouped(rows.unexpected));
  }
  if (rows.unjudged != 0) {
    fmt::print("  not judged   {} rows, whose value depends on records that came too late\n",
               grouped(rows.unjudged));
  }
}

void print_json(const TestReport& report) {
  const CampaignReport& campaign = report.campaign;
  nlohmann::ordered_json json;
  json["job"] = report.job;
  json["build"] = build_id;
  json["campaign_seed"] = report.campaign_seed;
  json["records"] = report.records;
  json["runs"] = campaign.runs;
  json["held"] = campaign.held();
  json["breached"] = campaign.verdicts[static_cast<std::size_t>(Verdict::breached)];
  auto& verdicts = json["verdicts"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < campaign.verdicts.size(); ++i) {
    verdicts[std::string(to_text(static_cast<Verdict>(i)))] = campaign.verdicts[i];
  }
  json["judges"] = campaign.judges;
  json["rows"] = {{"lost", campaign.rows.lost},
                  {"duplicated", campaign.rows.duplicated},
                  {"altered", campaign.rows.altered},
                  {"unexpected", campaign.rows.unexpected},
                  {"unjudged", campaign.rows.unjudged}};
  json["runs_per_second"] = static_cast<double>(campaign.runs) / report.seconds;
  json["runs_per_processor_second"] = static_cast<double>(campaign.runs) / report.processor_seconds;
  json["seconds"] = report.seconds;
  json["simulated_seconds"] = static_cast<double>(campaign.totals.virtual_ns) / 1e9;
  json["checkpoints_median"] = campaign.checkpoints.median();
  json["publishes_median"] = campaign.publishes.median();
  auto& firings = json["faults"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < std::size(faults::kinds); ++i) {
    firings[std::string(faults::kinds[i])] = campaign.totals.firings[i];
  }
  json["faults_unfired"] = campaign.unfired;
  auto& reached = json["landmarks"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < properties::landmark_count; ++i) {
    reached[std::string(landmarks::all[i]->name)] = campaign.totals.landmarks[i];
  }
  if (report.interleaving) json["depends_on_interleaving"] = *report.interleaving;
  json["cases"] = report.cases;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace millrace::tool
