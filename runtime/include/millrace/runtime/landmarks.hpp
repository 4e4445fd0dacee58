#pragma once

#include <span>

#include "millrace/env/landmark.hpp"

namespace millrace::landmarks {

// The moments of a job, in about the order of a checkpoint's life. `term=` and `n=` of an anchor
// are those of the checkpoint a moment is about; where it is about none, `term=` is that of the
// speaker.

using enum Landmark::Kind;

// The owner of the job.
inline constexpr Landmark genesis_stored{
    "genesis_stored", "the manifest of a new job is durable, and nobody owns the job yet"};
inline constexpr Landmark head_swap_begun{
    "head_swap_begun", "a compare-and-swap of the head is about to be sent; retry= counts repeats"};
inline constexpr Landmark head_outcome_unknown{
    "head_outcome_unknown", "the answer to a swap of the head was lost; it will be repeated"};
inline constexpr Landmark head_swapped{
    "head_swapped",
    "the head names the checkpoint: it is decided (n=0: a takeover, term= the new one)"};
inline constexpr Landmark ownership_lost{
    "ownership_lost", "a swap of the head was refused: somebody else owns the job now"};
inline constexpr Landmark took_over{"took_over", "a coordinator owns the job under a new term"};
inline constexpr Landmark sinks_recovered{
    "sinks_recovered", "every sink is fenced, checked, and shows what the restored manifest lists"};
inline constexpr Landmark swept{"swept",
                                "objects that no manifest reaches were discarded; count= how many"};
inline constexpr Landmark tasks_running{
    "tasks_running", "every task has restored its state and runs; checkpoints may be triggered"};
inline constexpr Landmark restarting{
    "restarting", "something failed: the coordinator gives up this term and takes over again"};
inline constexpr Landmark job_finished{
    "job_finished", "all input is read, its rows are published, and the head says finished"};

// A checkpoint.
inline constexpr Landmark checkpoint_triggered{
    "checkpoint_triggered", "the coordinator has asked every source for a barrier"};
inline constexpr Landmark barrier_injected{
    "barrier_injected", "a source has fixed its positions and put the barrier behind its records"};
inline constexpr Landmark alignment_begun{
    "alignment_begun", "the first barrier of a checkpoint reached a task, and its lane is held"};
inline constexpr Landmark aligned{"aligned", "the barrier has come on every lane of a task"};
inline constexpr Landmark snapshot_taken{"snapshot_taken",
                                         "a task's state is frozen, and its lanes are open again"};
inline constexpr Landmark upload_begun{
    "upload_begun", "a task's state is about to be written to the checkpoint store"};
inline constexpr Landmark uploaded{"uploaded", "a task's state is durable in the checkpoint store"};
inline constexpr Landmark acknowledged{
    "acknowledged", "a task has told that all it did before the barrier is durable"};
inline constexpr Landmark manifest_begun{
    "manifest_begun", "every acknowledgement is in, and the manifest is about to be written"};
inline constexpr Landmark manifest_written{
    "manifest_written", "the manifest is durable and decides nothing yet; evidence: the manifest"};
inline constexpr Landmark checkpoint_aborted{
    "checkpoint_aborted", "a checkpoint was given up; what was staged rides with the next"};

// A sink: the moments at which exactly-once is won or lost.
inline constexpr Landmark sink_started{"sink_started", "a writer of a sink is ready for rows"};
inline constexpr Landmark sink_checkpoint_begun{
    "sink_checkpoint_begun", "the barrier has reached a writer; its rows are still in memory"};
inline constexpr Landmark sink_flushed{
    "sink_flushed", "a writer's rows of the interval are frozen and have a name"};
inline constexpr Landmark stage_begun{
    "stage_begun", "staged rows are about to be written to the checkpoint store"};
inline constexpr Landmark sink_staged{"sink_staged",
                                      "pre-commit: the rows are durable, and visible to nobody"};
inline constexpr Landmark sink_acknowledged{"sink_acknowledged",
                                            "a writer has told that its rows are staged"};
inline constexpr Landmark publish_begun{
    "publish_begun", "the committer was told that a checkpoint is decided; retry= counts repeats"};
inline constexpr Landmark publish_loaded{
    "publish_loaded", "the staged rows were found, and their first bytes are verified"};
inline constexpr Landmark publish_sent{
    "publish_sent", "the rows are on their way into one transaction with the marker"};
inline constexpr Landmark publish_unknown{"publish_unknown",
                                          "the answer to a publish was lost; it will be repeated"};
inline constexpr Landmark published{
    "published", "commit: the rows are visible; the committer has told nobody yet"};
inline constexpr Landmark publish_reported{
    "publish_reported", "the committer has told the coordinator that the rows are visible"};

// Between barriers, at a sink that is not staged.
inline constexpr Landmark write_begun{
    "write_begun", "rows of an upsert or insert sink are on their way; count= how many"};
inline constexpr Landmark rows_written{
    "rows_written", "they are visible, before any checkpoint is decided; count= how many"};

// A recovery.
inline constexpr Landmark sink_fenced{
    "sink_fenced", "nobody of an older term can write to the sink, and its marker is read"};
inline constexpr Landmark republished{"republished",
                                      "all that was decided before the takeover is visible"};
inline constexpr Landmark fenced_out{"fenced_out",
                                     "a committer of an older term was turned away by the sink"};
inline constexpr Landmark task_restored{"task_restored",
                                        "a task has its state back and is about to take input"};

// The data.
inline constexpr Landmark batch_read{"batch_read",
                                     "a source has handed on records; count= how many", data};
inline constexpr Landmark window_fired{"window_fired", "a window has ended; count= its keys", data};
inline constexpr Landmark rows_late{
    "rows_late", "rows came too late for their window or their join; count= how many", data};

inline constexpr const Landmark* all[] = {
    &genesis_stored,     &head_swap_begun, &head_outcome_unknown,
    &head_swapped,       &ownership_lost,  &took_over,
    &sinks_recovered,    &swept,           &tasks_running,
    &restarting,         &job_finished,    &checkpoint_triggered,
    &barrier_injected,   &alignment_begun, &aligned,
    &snapshot_taken,     &upload_begun,    &uploaded,
    &acknowledged,       &manifest_begun,  &manifest_written,
    &checkpoint_aborted, &sink_started,    &sink_checkpoint_begun,
    &sink_flushed,       &stage_begun,     &sink_staged,
    &sink_acknowledged,  &publish_begun,   &publish_loaded,
    &publish_sent,       &publish_unknown, &published,
    &publish_reported,   &write_begun,     &rows_written,
    &sink_fenced,        &republished,     &fenced_out,
    &task_restored,      &batch_read,      &window_fired,
    &rows_late,
};

/// The landmark of this name, or null.
constexpr const Landmark* find(std::string_view name) {
  for (const Landmark* const landmark : all) {
    if (landmark->name == name) return landmark;
  }
  return nullptr;
}

}  // namespace millrace::landmarks
