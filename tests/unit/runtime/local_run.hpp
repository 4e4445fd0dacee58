#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/time/valve.hpp"

#include "fake_world.hpp"

namespace millrace {

/// A sink that keeps its rows where a test finds them.
template <class T>
struct Kept {
  std::shared_ptr<std::vector<Record<T>>> rows = std::make_shared<std::vector<Record<T>>>();

  Sink<T> sink() const {
    class Keeping final : public Consumer<T> {
     public:
      explicit Keeping(std::shared_ptr<std::vector<Record<T>>> kept) : kept_(std::move(kept)) {}
      void take(Batch<T>& batch) override {
        for (Record<T>& row : batch) kept_->push_back(std::move(row));
      }
      void watermark(EventTime) override {}
      void set_idle(bool) override {}
      void flush() override {}
      void link(Way, Stage&) override {}

     private:
      std::shared_ptr<std::vector<Record<T>>> kept_;
    };
    Sink<T> sink;
    sink.kind = "kept";
    sink.open = [rows = rows](const StageContext&, const std::string&) {
      return std::make_unique<Keeping>(rows);
    };
    return sink;
  }
  std::vector<T> values() const {
    std::vector<T> list;
    for (const Record<T>& row : *rows) list.push_back(row.value);
    return list;
  }
};

/// Runs a job to the end of its input in one subtask and one task: sources take turns, `piece` rows
/// a turn, and every lane is a call. No checkpoints, no failures.
class LocalRun {
 public:
  LocalRun(FakeWorld& world, const Job& job, std::size_t piece = 1'000) {
    for (const Node* const node : job.nodes()) {
      stages_.push_back(node->make({world.env(node->name), {0, 1}, {}}));
      by_node_[node] = stages_.back().get();
      link(*node);
      if (node->role == Node::Role::source) start(world, *node);
    }
    bool goes_on = true;
    while (std::exchange(goes_on, false)) {
      for (SourceStage* const source : sources_) {
        goes_on |= source->step(piece) == SourceStage::Step::read;
        source->advance();
        source->flush();
      }
    }
  }

 private:
  /// Leads from one input into a stage that has several.
  class Port final : public LaneOut {
   public:
    Port(Stage& to, int port, std::shared_ptr<Valve> valve, int input)
        : to_(to), port_(port), valve_(std::move(valve)), input_(input) {}
    void put(Message message) override {
      if (message.kind == Message::Kind::rows) to_.deliver(port_, *message.rows);
      if (message.kind != Message::Kind::watermark) return;
      const auto action = valve_->advance(input_, message.watermark);
      if (action.watermark) to_.watermark(*action.watermark);
    }
    void flush() override {}

   private:
    Stage& to_;
    int port_;
    std::shared_ptr<Valve> valve_;
    int input_;
  };

  void link(const Node& node) {
    Stage& stage = *by_node_.at(&node);
    const auto valve = std::make_shared<Valve>(std::max(1, static_cast<int>(node.inputs.size())));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Node::Input& input = node.inputs[i];
      Stage* next = &stage;
      if (node.inputs.size() > 1) {
        ports_.push_back(std::make_unique<Port>(stage, input.port, valve, static_cast<int>(i)));
        const auto output = static_cast<std::size_t>(input.output);
        stages_.push_back(input.from->outputs[output]->make_lane(*ports_.back()));
        next = stages_.back().get();
      }
      by_node_.at(input.from.get())->link({input.output}, *next);
    }
  }
  void start(FakeWorld& world, const Node& node) {
    Env env = world.env(node.name);
    Restored restored;
    const auto found =
        node.partitions ? node.partitions(env) : env.log.partitions(node.address, env.now());
    for (const PartitionFacts& facts : found) {
      PartitionProgress progress;
      progress.source = node.name;
      progress.name = facts.name;
      restored.partitions.push_back({progress, facts.end});
    }
    sources_.push_back(static_cast<SourceStage*>(by_node_.at(&node)));
    sources_.back()->restore(restored);
  }

  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::map<const Node*, Stage*> by_node_;
  std::vector<SourceStage*> sources_;
};

}  // namespace millrace
