#include "campaign_wire.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace millrace::properties {
namespace {

using nlohmann::json;

json to_json(const RowCounts& rows) {
  return {rows.lost, rows.duplicated, rows.altered, rows.unexpected, rows.unjudged};
}
RowCounts rows_from(const json& value) {
  return {value.at(0), value.at(1), value.at(2), value.at(3), value.at(4)};
}
void add(RowCounts& to, const RowCounts& from) {
  to.lost += from.lost;
  to.duplicated += from.duplicated;
  to.altered += from.altered;
  to.unexpected += from.unexpected;
  to.unjudged += from.unjudged;
}

void add(RunStatistics& to, const RunStatistics& from) {
  to.checkpoints += from.checkpoints;
  to.publishes += from.publishes;
  to.records += from.records;
  to.virtual_ns += from.virtual_ns;
  to.events += from.events;
  to.switches += from.switches;
  to.messages += from.messages;
  for (std::size_t i = 0; i < to.firings.size(); ++i) to.firings[i] += from.firings[i];
  for (std::size_t i = 0; i < to.landmarks.size(); ++i) to.landmarks[i] += from.landmarks[i];
}
json to_json(const RunStatistics& s) {
  return {{"checkpoints", s.checkpoints}, {"publishes", s.publishes}, {"records", s.records},
          {"virtual_ns", s.virtual_ns},   {"events", s.events},       {"switches", s.switches},
          {"messages", s.messages},       {"firings", s.firings},     {"landmarks", s.landmarks}};
}
RunStatistics statistics_from(const json& value) {
  RunStatistics s;
  value.at("checkpoints").get_to(s.checkpoints);
  value.at("publishes").get_to(s.publishes);
  value.at("records").get_to(s.records);
  value.at("virtual_ns").get_to(s.virtual_ns);
  value.at("events").get_to(s.events);
  value.at("switches").get_to(s.switches);
  value.at("messages").get_to(s.messages);
  value.at("firings").get_to(s.firings);
  value.at("landmarks").get_to(s.landmarks);
  return s;
}

json to_json(const Finding& finding) {
  json breaches = json::array();
  for (const Breach& breach : finding.outcome.breaches) {
    breaches.push_back({breach.judge, breach.what});
  }
  return {{"seed", finding.seed},
          {"verdict", to_text(finding.outcome.verdict)},
          {"breaches", breaches},
          {"rows", to_json(finding.outcome.rows)},
          {"reason", finding.outcome.reason},
          {"unfired", finding.outcome.unfired},
          {"unasked", finding.outcome.unasked},
          {"trace_hash", finding.outcome.trace_hash}};
}
Finding finding_from(const json& value) {
  Finding finding;
  value.at("seed").get_to(finding.seed);
  finding.outcome.verdict = parse_verdict(value.at("verdict").get<std::string>());
  for (const json& breach : value.at("breaches")) {
    finding.outcome.breaches.push_back({breach.at(0), breach.at(1)});
  }
  finding.outcome.rows = rows_from(value.at("rows"));
  value.at("reason").get_to(finding.outcome.reason);
  value.at("unfired").get_to(finding.outcome.unfired);
  value.at("unasked").get_to(finding.outcome.unasked);
  value.at("trace_hash").get_to(finding.outcome.trace_hash);
  return finding;
}

json to_json(const Tally& tally) {
  json pairs = json::array();
  for (const auto& [number, count] : tally.counts()) pairs.push_back({number, count});
  return pairs;
}
void add(Tally& to, const json& pairs) {
  for (const json& pair : pairs) to.add(pair.at(0), pair.at(1));
}

}  // namespace

std::string to_line(const CampaignReport& part) {
  json findings = json::array();
  for (const Finding& finding : part.findings) findings.push_back(to_json(finding));
  const json line = {{"runs", part.runs},
                     {"verdicts", part.verdicts},
                     {"judges", part.judges},
                     {"rows", to_json(part.rows)},
                     {"checkpoints", to_json(part.checkpoints)},
                     {"publishes", to_json(part.publishes)},
                     {"unfired", part.unfired},
                     {"planned", part.planned},
                     {"totals", to_json(part.totals)},
                     {"findings", findings}};
  // What a run says may hold anything that its input holds.
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

void add_line(CampaignReport& report, std::string_view line) {
  const json part = json::parse(line);
  report.runs += part.at("runs").get<std::uint64_t>();
  const auto verdicts = part.at("verdicts").get<std::array<std::uint64_t, 9>>();
  for (std::size_t i = 0; i < verdicts.size(); ++i) report.verdicts[i] += verdicts[i];
  for (const auto& [judge, runs] : part.at("judges").items()) {
    report.judges[judge] += runs.get<std::uint64_t>();
  }
  add(report.rows, rows_from(part.at("rows")));
  add(report.checkpoints, part.at("checkpoints"));
  add(report.publishes, part.at("publishes"));
  report.unfired += part.at("unfired").get<std::uint64_t>();
  report.planned += part.at("planned").get<std::uint64_t>();
  add(report.totals, statistics_from(part.at("totals")));
  for (const json& finding : part.at("findings")) report.findings.push_back(finding_from(finding));
}

void add_outcome(CampaignReport& report, std::uint64_t seed, std::size_t planned_faults,
                 const Outcome& outcome) {
  ++report.runs;
  ++report.verdicts[static_cast<std::size_t>(outcome.verdict)];
  for (const Breach& breach : outcome.breaches) ++report.judges[breach.judge];
  add(report.rows, outcome.rows);
  report.checkpoints.add(outcome.statistics.checkpoints);
  report.publishes.add(outcome.statistics.publishes);
  report.unfired += outcome.unfired.size();
  report.planned += planned_faults;
  add(report.totals, outcome.statistics);
  if (outcome.verdict != Verdict::held) report.findings.push_back({seed, outcome});
}

Outcome outcome_of_dead(const ChildEnd& end) {
  Outcome outcome;
  outcome.verdict = Verdict::crashed;
  outcome.breaches.push_back(
      {"process", end.signal != 0 ? fmt::format("the process died of signal {}", end.signal)
                                  : fmt::format("the process ended with code {}", end.exit_code)});
  return outcome;
}

}  // namespace millrace::properties
