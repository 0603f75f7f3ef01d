// One request's pass over the rows: states of groups, and the column that they become.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/frame/aggregate.h"
#include "runtime/frame/filling.h"

namespace gasell::frame {

/// What one request accumulates.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Of one group.
  virtual int64_t state_bytes() const = 0;
  virtual void start(Engine& engine, int64_t parts, int64_t groups) = 0;
  virtual void add(int64_t part, int64_t begin, int64_t count, const int32_t* ids) = 0;
  virtual void add(int64_t part, const uint32_t* rows, int64_t count, const int32_t* ids) = 0;
  virtual void combine(int64_t first_group, int64_t last_group) = 0;
  virtual Column finish(Engine& engine) = 0;
};

/// Op: State, init(), step(State&, row), merge(State&, later State), and finish of the whole.
template <class Op>
class PassOf final : public Pass {
 public:
  using State = typename Op::State;
  using Finish = std::function<Column(Engine&, const Op&, const State*, int64_t)>;
  PassOf(Op op, Finish finish) : op_(std::move(op)), finish_(std::move(finish)) {}

  int64_t state_bytes() const override { return sizeof(State); }
  void start(Engine& engine, int64_t parts, int64_t groups) override {
    groups_ = groups;
    parts_ = parts;
    states_ = Scratch<State>(engine, parts * groups);
    fill(engine, states_, op_.init());
  }
  void add(int64_t part, int64_t begin, int64_t count, const int32_t* ids) override {
    State* const states = states_.data() + part * groups_;
    const Op op = op_;
    for (int64_t row = begin; row < begin + count; ++row) op.step(states[ids[row]], row);
  }
  void add(int64_t part, const uint32_t* rows, int64_t count, const int32_t* ids) override {
    State* const states = states_.data() + part * groups_;
    const Op op = op_;
    for (int64_t i = 0; i < count; ++i) op.step(states[ids[rows[i]]], rows[i]);
  }
  void combine(int64_t first_group, int64_t last_group) override {
    for (int64_t part = 1; part < parts_; ++part)
      for (int64_t g = first_group; g < last_group; ++g) op_.merge(states_[g], states_[part * groups_ + g]);
  }
  Column finish(Engine& engine) override { return finish_(engine, op_, states_.data(), groups_); }

 private:
  Op op_;
  Finish finish_;
  Scratch<State> states_;
  int64_t groups_ = 0, parts_ = 1;
};

template <class Op, class Finish>
std::unique_ptr<Pass> pass(Op op, Finish finish) {
  return std::make_unique<PassOf<Op>>(std::move(op), std::move(finish));
}

/// A pass whose results are one value a group: f(state, result) is false where it is missing.
template <class Out, class Op, class F>
std::unique_ptr<Pass> pass_to(Op op, ColumnType type, F f) {
  return pass(std::move(op), [type = std::move(type), f](Engine& engine, const Op& done, const typename Op::State* states, int64_t groups) {
    return filled<Out>(engine, type, groups, [&](int64_t g, Out& value) { return f(done, states[g], value); });
  });
}

/// Null where the request is not for one pass over the rows. Reads `data`, the request's column. Throws TypeError where pandas does.
std::unique_ptr<Pass> pass_for(Engine& engine, const AggregateRequest& request, const ColumnData& data);

[[noreturn]] void refuse_aggregate(const Column& column, Aggregate how);

}  // namespace gasell::frame
