#include <fmt/format.h>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/text.hpp"

namespace millrace::nexmark {
namespace {

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line += c;
    }
  }
  line += '"';
}

/// `name` comes with its comma and colon: `,"extra":`.
void append_text(std::string& line, std::string_view name, std::string_view text) {
  line += name;
  append_quoted(line, text);
}

std::string without_end(const Event& event) {
  switch (event.kind) {
    case EventKind::person: {
      const Person person = person_of(event);
      return fmt::format(
          R"({{"kind":"person","id":{},"name":"{}","city":"{}","state":"{}","at":{})", person.id,
          name_text(person.name), cities[person.city], states[person.state], person.at.ms);
    }
    case EventKind::auction: {
      const Auction auction = auction_of(event);
      return fmt::format(
          R"({{"kind":"auction","id":{},"seller":{},"category":{},"initial_bid":{},"reserve":{},)"
          R"("at":{},"expires":{})",
          auction.id, auction.seller, auction.category, auction.initial_bid, auction.reserve,
          auction.at.ms, auction.expires.ms);
    }
    case EventKind::bid: {
      const Bid bid = bid_of(event);
      return fmt::format(R"({{"kind":"bid","auction":{},"bidder":{},"price":{},"at":{})",
                         bid.auction, bid.bidder, bid.price, bid.at.ms);
    }
  }
  return {};
}

}  // namespace

std::string to_text(const Event& event) { return without_end(event) + '}'; }

std::string to_text(const Event& event, const Texts& texts) {
  std::string line = without_end(event);
  if (is_person(event)) {
    append_text(line, R"(,"email":)", texts.email);
    append_text(line, R"(,"credit_card":)", texts.credit_card);
  }
  if (is_auction(event)) {
    append_text(line, R"(,"item":)", texts.item);
    append_text(line, R"(,"description":)", texts.description);
  }
  append_text(line, R"(,"extra":)", texts.extra);
  return line + '}';
}

}  // namespace millrace::nexmark
