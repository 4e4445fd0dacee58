#include "millrace/nexmark/registered_jobs.hpp"

#include <string>
#include <utility>

#include "millrace/nexmark/event_lines.hpp"
#include "millrace/nexmark/jobs.hpp"
#include "millrace/nexmark/reference.hpp"

#include "sample.hpp"
#include "tables.hpp"

namespace millrace::nexmark {
namespace {

using properties::ExpectedRows;
using properties::Input;
using properties::Places;
using properties::UserJob;

using Key = std::vector<std::string>;
/// Rows of which several may be equal.
const Key no_key;

template <class Row>
UserJob registered(const std::string& query, std::string about,
                   Job (*job)(const Source<Event>&, const Sink<Row>&),
                   std::vector<Row> (*reference)(reference::Events), Key key,
                   SinkMode mode = SinkMode::staged) {
  UserJob made;
  made.name = "nexmark." + query;
  made.about = std::move(about);
  made.make = [job, schema = schema_of<Row>(query, std::move(key), mode)](const Places& places) {
    return job(event_lines(places.input), table_of<Row>(places.database, schema));
  };
  made.places = {"nexmark/*.jsonl", "nexmark.db"};
  made.sample = sample;
  made.reference = [query, reference](const Input& input) {
    return std::vector<ExpectedRows>{{query, owned(reference(events_in(input)))}};
  };
  return made;
}

}  // namespace

std::vector<UserJob> registered_jobs() {
  return {
      registered("q0", "Every event, as it is.", q0, reference::q0, no_key),
      registered("q1", "Every bid, in euros.", q1, reference::q1, no_key),
      registered("q2", "Bids for auctions that are watched.", q2, reference::q2, no_key),
      registered("q3", "Who sells what is looked for, and where.", q3, reference::q3, {"auction"}),
      registered("q4", "What things of a category were sold for, on average.", q4, reference::q4,
                 {"window_end", "category"}),
      registered("q5", "The auctions with the most bids.", q5, reference::q5,
                 {"window_end", "auction"}),
      registered("q7", "The highest bids.", q7, reference::q7, no_key),
      registered("q8", "Offers of sellers who have only just come.", q8, reference::q8, no_key),
      registered("q11", "Bids per bidder until there are none for ten seconds.", q11,
                 reference::q11, {"bidder", "start"}),
      registered("q12", "Bids per bidder, counted by a clock and added up.", q12_total,
                 reference::q12, {"bidder"}, SinkMode::upsert),
      registered("q17", "What was bid for an auction on a day.", q17, reference::q17,
                 {"auction", "day"}, SinkMode::upsert),
      registered("q18", "The last bid per bidder and auction.", q18, reference::q18,
                 {"bidder", "auction"}, SinkMode::upsert),
  };
}

}  // namespace millrace::nexmark
