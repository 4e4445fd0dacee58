#include "flags.hpp"

// The only file that knows CLI11, which takes long to compile.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "build_id.hpp"

namespace millrace::tool {
namespace {

constexpr int usage_error = 2;

constexpr const char* about =
    R"(Millrace: an exactly-once stream processor inside its own fault simulator.

A job reads records from files, folds them per key and window, and writes rows into
a database: each row once, whatever crashes. The same processor runs for real
(`run`) and in a simulated world (`test`), where it is crashed in every way there is
and judged by what readers of the table see.)";

constexpr const char* examples = R"(
First steps:
  millrace init                                     a job file to begin with
  millrace check corpus/jobs/quakes.toml            what the job is, and what it guarantees
  millrace run corpus/jobs/quakes.toml              for real; kill it, and run it again
  millrace doctor corpus/jobs/quakes.toml           whether it can be run here
  millrace status corpus/jobs/quakes.toml           how far it has come, and who runs it
  millrace test corpus/jobs/quakes.toml --seeds 500 crash it 500 times in simulation
  millrace replay CASE                              see a failure again
  millrace shrink CASE                              make it small enough to understand
  millrace COMMAND --help                           all flags of a command
)";

constexpr const char* exit_codes = R"(
Exit codes: 0 done / held, 1 breached, 2 wrong flags, job or table, 3 no progress,
4 not deterministic, 5 invariant violated, 6 stale case, 7 refused, already owned
or unfit, 8 job failed, 9 ownership lost, 10 a worker process crashed, 130 interrupted.)";

constexpr const char* job_argument = "The job file, or the name of a job in C++ (see `jobs`)";

void add_settings(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option("--set", settings,
                  "Replace a value of the job file, e.g. sink.table=other; may be given often")
      ->type_name("KEY=VALUE");
}

void add_run(CLI::App& app, RunFlags& flags) {
  CLI::App& run = *app.add_subcommand(
      "run",
      "Run a job for real, until its input is read and all rows are visible.\n"
      "Ctrl-C takes one more checkpoint and ends; kill -9 at any moment is as safe:\n"
      "the next run goes on from the last checkpoint. A job whose input is finished says so.");
  run.add_option("JOB", flags.job, job_argument)->required();
  run.add_option("--rate", flags.records_per_second, "Read so many records a second, in all")
      ->type_name("R")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  run.add_option("--parallelism", flags.parallelism,
                 "Subtasks of every operator, whatever the job says; may differ from run to run")
      ->type_name("N")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{128}));
  run.add_flag("--fresh", flags.fresh,
               "Begin a new history: forget all checkpoints. Refused while the table has rows,\n"
               "unless --adopt is given");
  run.add_flag("--adopt", flags.adopt,
               "Take over a table that holds rows of another history, and keep them");
  run.add_option("--log", flags.log_file, "Add every step of the protocol to a file")
      ->type_name("FILE");
  add_settings(run, flags.settings);
}

void add_test(CLI::App& app, TestFlags& flags) {
  CLI::App& test = *app.add_subcommand(
      "test",
      "Run a job in the simulated world under many seeds. Each seed decides a cluster, a\n"
      "schedule and a plan of faults; what readers see is compared with an exactly-once\n"
      "reference all the time. A failure becomes a small file that replays for ever.");
  test.add_option(
          "JOB", flags.job,
          "The job file; or the name of a job in C++; or the word random: every seed draws a job\n"
          "and an input of its own")
      ->required();
  auto* const seeds = test.add_option("--seeds", flags.seeds, "How many runs")
                          ->type_name("N")
                          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
                          ->capture_default_str();
  test.add_option("--seed", flags.only_seed,
                  "One run, of this seed (hexadecimal, as failures are reported)")
      ->type_name("X")
      ->excludes(seeds);
  test.add_option("--campaign-seed", flags.campaign_seed, "Decides which seeds the runs have")
      ->type_name("S")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->capture_default_str();
  test.add_option("--jobs", flags.jobs, "Worker processes; one per processor by default")
      ->type_name("J")
      ->check(CLI::Range(1, 1024));
  test.add_option("--input-records", flags.input_records,
                  "Use at most so many records of the input, from the head of every file\n"
                  "(2000 by default); of a random job as many at most (200)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000}));
  test.add_option("--save", flags.save_directory,
                  "Where failing cases go, and with --seed any case; by default the first few\n"
                  "failing ones, into ./millrace-cases")
      ->type_name("DIR");
  test.add_flag("--check-determinism", flags.check_determinism,
                "Run every case again in another process and compare the traces");
  test.add_flag("--json", flags.json, "Print the result as JSON and nothing else");
  add_settings(test, flags.settings);
}

void add_replay(CLI::App& app, ReplayFlags& flags) {
  CLI::App& replay = *app.add_subcommand(
      "replay",
      "Run a case again. On the build that wrote it the run is the same, event by event;\n"
      "on another it is judged by its verdict, and stale if it no longer gets where it must.");
  replay.add_option("CASE", flags.file, "The case file")->required();
  replay.add_flag("--expect", flags.expect, "Exit with 0 if the verdict is the case's own");
  replay.add_flag("--check-determinism", flags.check_determinism,
                  "Run it in two processes and compare the traces");
  replay.add_option("--log", flags.log_file, "Write every landmark, with virtual time, to a file")
      ->type_name("FILE");
  replay.add_flag("--json", flags.json, "Print the result as JSON and nothing else");
}

void add_shrink(CLI::App& app, ShrinkFlags& flags) {
  CLI::App& shrink = *app.add_subcommand(
      "shrink",
      "Make a failing case smaller: leave out faults, leave nothing to chance but a few draws "
      "that\n"
      "are then listed as choices, take away input down to single lines, then nodes, subtasks and\n"
      "time, and simplify faults, as long as the run fails in the same way (the same verdict, by\n"
      "the same judge). A few hundred runs are usual, of some milliseconds each; a failure that\n"
      "needs chance may take thousands. Writes NAME.min.toml beside the case, with its comments; "
      "a\n"
      "case of that name is replaced. Ctrl-C ends the search and keeps what it has; shrinking\n"
      "NAME.min.toml goes on from there, in place. A case that holds is not shrunk: exit code 6.");
  shrink.add_option("CASE", flags.file, "The case file")->required();
  shrink.add_option("--runs", flags.most_runs, "Try at most so many cases")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  shrink.add_option("--output", flags.output, "Where the smaller case goes")->type_name("FILE");
  shrink.add_flag("--json", flags.json, "Print the result as JSON and nothing else");
}

void add_init(CLI::App& app, InitFlags& flags) {
  CLI::App& init = *app.add_subcommand(
      "init",
      "Write a job file to begin with: complete, with a comment on every key. It says where\n"
      "its input is expected. A file that is there already is never overwritten.");
  init.add_option("FILE", flags.file, "The job file to write")->capture_default_str();
}

void add_doctor(CLI::App& app, DoctorFlags& flags) {
  CLI::App& doctor = *app.add_subcommand(
      "doctor",
      "Say whether a job can be run here, and whether what `run` promises would hold: the state\n"
      "directory and its file system, room, locks, the state itself, input, databases, tables.\n"
      "Reads no record and changes nothing; what it tries, it tries on files of its own.\n"
      "Exit code 7 if something is to be repaired.");
  doctor.add_option("JOB", flags.job, job_argument)->required();
  add_settings(doctor, flags.settings);
}

void add_status(CLI::App& app, StatusFlags& flags) {
  CLI::App& status = *app.add_subcommand(
      "status",
      "Say how far a job has come, by its newest checkpoint, and who runs it. Changes nothing,\n"
      "and does not disturb who does.");
  status.add_option("JOB", flags.job, job_argument)->required();
  status.add_flag("--json", flags.json, "Print the same as JSON and nothing else");
  add_settings(status, flags.settings);
}

void add_inspect(CLI::App& app, InspectFlags& flags) {
  CLI::App& inspect = *app.add_subcommand(
      "inspect",
      "List all that a checkpoint is made of: positions, watermarks, state and staged rows\n"
      "object by object, and what the job must still be to go on from it. Changes nothing.");
  inspect.add_option("JOB", flags.job, job_argument)->required();
  inspect.add_option("CHECKPOINT", flags.checkpoint, "Its id, such as 3.17; the newest by default");
  inspect.add_flag("--json", flags.json, "Print the same as JSON and nothing else");
  add_settings(inspect, flags.settings);
}

}  // namespace

std::variant<Flags, int> parse_flags(int argc, char** argv) {
  CLI::App app(about, "millrace");
  app.footer(exit_codes);  // Of the commands, too, which take it over as they are added.
  app.set_version_flag("--version", fmt::format("millrace {} (build {})", version, build_id));
  app.require_subcommand(1);
  RunFlags run;
  TestFlags test;
  ReplayFlags replay;
  ShrinkFlags shrink;
  CheckFlags check;
  InitFlags init;
  DoctorFlags doctor;
  StatusFlags status;
  InspectFlags inspect;
  add_run(app, run);
  add_test(app, test);
  add_replay(app, replay);
  add_shrink(app, shrink);
  CLI::App& check_command = *app.add_subcommand(
      "check", "Read a job file, and say what it means: its tasks, its input, its guarantee.");
  check_command.add_option("JOB", check.job, job_argument)->required();
  check_command
      .add_option("--svg", check.svg_file,
                  "Draw the plan into a file, for people: tasks, and how rows go")
      ->type_name("FILE");
  add_settings(check_command, check.settings);
  add_init(app, init);
  add_doctor(app, doctor);
  add_status(app, status);
  add_inspect(app, inspect);
  app.add_subcommand(
      "landmarks",
      "List the named moments of a run: where faults can be anchored, what logs show.");
  app.add_subcommand("jobs", "List the jobs in C++ that this program brings.");
  app.footer(std::string(examples) + exit_codes);
  if (argc == 1) {
    fmt::print("{}", app.help());
    return usage_error;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (app.got_subcommand("run")) return Flags(run);
  if (app.got_subcommand("test")) return Flags(test);
  if (app.got_subcommand("replay")) return Flags(replay);
  if (app.got_subcommand("shrink")) return Flags(shrink);
  if (app.got_subcommand("init")) return Flags(init);
  if (app.got_subcommand("check")) return Flags(check);
  if (app.got_subcommand("doctor")) return Flags(doctor);
  if (app.got_subcommand("status")) return Flags(status);
  if (app.got_subcommand("inspect")) return Flags(inspect);
  if (app.got_subcommand("jobs")) return Flags(JobsFlags{});
  return Flags(LandmarksFlags{});
}

}  // namespace millrace::tool
