#include <random>
#include <stdexcept>

#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "example_jobs.hpp"
#include "outbox.hpp"
#include "payment.hpp"

namespace millrace::examples {
namespace {

using namespace std::chrono_literals;

struct Note {
  std::string user;
  std::int64_t at = 0;
  std::int64_t number = 0;
};

Sink<Note> notes_table(const std::string& database) {
  using Type = TableSchema::Type;
  TableSchema schema;
  schema.table = "notes";
  schema.columns = {{"user", Type::text}, {"at", Type::integer}, {"number", Type::integer}};
  return staged_table<Note>(database, schema, [](const Note& note, CellWriter& cells) {
    cells.text(note.user);
    cells.integer(note.at);
    cells.integer(note.number);
  });
}

struct Empty {
  bool unused = false;
};
using Here = KeyContext<std::string, Empty>;

/// A job that runs one function per user.
template <class F>
properties::UserJob per_user(const char* name, const char* about, const char* label, F function) {
  properties::UserJob job;
  job.name = name;
  job.about = about;
  job.places = {"payments/*.txt", std::string(name) + ".db"};
  job.sample = some_payments;
  job.make = [name, label, function](const properties::Places& places) {
    return Job(name, from("payments", payments(places.input))
                         .template event_time<&Payment::at>(disorder(0s))
                         .template key_by<&Payment::user>()
                         .process(label, function)
                         .to("notes", notes_table(places.database)));
  };
  return job;
}

struct DrawsAtRandom {
  using State = Empty;
  using Output = Note;
  void on_record(const Payment& payment, Here& here, Emit<Note>& out) const {
    static std::mt19937 dice{4711};
    out({here.key(), payment.at.ms, static_cast<std::int64_t>(dice() % 100)});
  }
};

struct RemembersElsewhere {
  using State = Empty;
  using Output = Note;
  void on_record(const Payment& payment, Here& here, Emit<Note>& out) const {
    static std::int64_t paid_so_far = 0;
    paid_so_far += payment.cents;
    out({here.key(), payment.at.ms, paid_so_far});
  }
};

constexpr std::int64_t large = 900;

struct Mails {
  using State = Empty;
  using Output = Note;
  enum class Key : std::uint8_t { none, one_each, one_for_a_user };
  Key key = Key::none;

  void on_record(const Payment& payment, Here& here, Emit<Note>& out) const {
    if (payment.cents < large) return;
    const std::string when = std::to_string(payment.at.ms);
    const std::string what = here.key() + " paid " + std::to_string(payment.cents);
    here.effect("mail", what,
                key == Key::one_each         ? here.key() + when
                : key == Key::one_for_a_user ? here.key()
                                             : std::string());
    out({here.key(), payment.at.ms, payment.cents});
  }
};

properties::UserJob mailing(const char* name, const char* about, Mails::Key key) {
  properties::UserJob job = per_user(name, about, "notify", Mails{key});
  job.services["mail"] = outbox(std::string(name) + ".outbox");
  return job;
}

struct NumbersAll {
  struct State {
    std::int64_t seen = 0;
  };
  using Output = Note;
  void on_record(const Payment& payment, KeyContext<std::int64_t, State>& here,
                 Emit<Note>& out) const {
    out({payment.user, payment.at.ms, ++here.state().seen});
  }
};

struct CannotStandIt {
  using State = Empty;
  using Output = Note;
  void on_record(const Payment& payment, Here& here, Emit<Note>& out) const {
    if (payment.at.ms % 10'000 == 0) throw std::runtime_error("this is not to be borne");
    out({here.key(), payment.at.ms, payment.cents});
  }
};

}  // namespace

properties::UserJob lottery() {
  return per_user("lottery", "Draws a bonus for each payment, at random.", "bonus",
                  DrawsAtRandom{});
}
properties::UserJob memory() {
  return per_user("memory", "Adds up all payments outside of its state.", "sequel",
                  RemembersElsewhere{});
}
properties::UserJob mails() {
  return mailing("mails", "Mails about large payments, without a key.", Mails::Key::none);
}
properties::UserJob keyed_mails() {
  return mailing("keyed_mails", "Mails about large payments, each under a key.",
                 Mails::Key::one_each);
}
properties::UserJob mixed_mails() {
  return mailing("mixed_mails", "Mails about large payments, all of a user under one key.",
                 Mails::Key::one_for_a_user);
}
properties::UserJob nobodys_mails() {
  properties::UserJob job = keyed_mails();
  job.name = "nobodys_mails";
  job.about = "Mails about large payments, and there is nobody who sends them.";
  job.services.clear();
  return job;
}
properties::UserJob poison() {
  return per_user("poison", "Throws at some payments.", "delicate", CannotStandIt{});
}

properties::UserJob first_come() {
  properties::UserJob job;
  job.name = "first_come";
  job.about = "Numbers all payments as they come.";
  job.places = {"payments/*.txt", "first_come.db"};
  job.sample = some_payments;
  job.make = [](const properties::Places& places) {
    return Job("first_come", from("payments", payments(places.input))
                                 .event_time<&Payment::at>(disorder(0s))
                                 .key_by([](const Payment&) { return std::int64_t{0}; })
                                 .process("number", NumbersAll{})
                                 .to("notes", notes_table(places.database)));
  };
  return job;
}

std::vector<properties::UserJob> all() {
  return {totals(),      lottery(),       memory(),     mails(), keyed_mails(),
          mixed_mails(), nobodys_mails(), first_come(), poison()};
}

}  // namespace millrace::examples
