// The kernel of a function under construction: nested bodies, fresh names, and what is freed where.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/functions/value.h"

namespace gasell::functions {

/// Memory allocated in a body is counted as that body's and released where the body ends, by falling through or by `leave`; what outlives
/// it (joins.h) holds a count of its own. The outermost body releases nothing: the call's context does, after results were taken from it.
class Code {
 public:
  struct Block {
    ir::Body body;
    std::vector<std::string> owned;
    bool dead = false;
  };
  Code() { open(); }
  std::string fresh(std::string_view stem) { return std::string(stem) + "_" + std::to_string(++names_); }
  void emit(ir::StmtRef s) {
    if (!dead()) blocks_.back().body.push_back(std::move(s));
  }
  /// The value under a name that does not change; constants and names stay as they are.
  ExprRef bind(const ExprRef& e, std::string_view stem = "t");

  /// A variable's value now, under a name that does not change.
  ExprRef snapshot(const std::string& variable, DType type, std::string_view stem);

  /// What a name that bind() gave stands for, and an index that was checked; null: something else.
  ExprRef definition(const std::string& name) const {
    const auto found = definitions_.find(name);
    return found == definitions_.end() ? nullptr : found->second;
  }
  void define(const std::string& name, ExprRef value) { definitions_[name] = std::move(value); }
  /// Names made from now on have higher numbers.
  int last_name() const { return names_; }

  void open() { blocks_.push_back({}); }
  /// Ends a body; releases what it owns.
  ir::Body close();
  /// Ends a body that becomes a part of the one around it, as does what it owns.
  void splice();
  /// Takes the innermost body aside, to be put back.
  Block take() {
    Block block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }
  void put(Block block) { blocks_.push_back(std::move(block)); }
  /// Other bodies from now on: those of another kernel.
  std::vector<Block> exchange(std::vector<Block> blocks) { return std::exchange(blocks_, std::move(blocks)); }
  /// Drops a body.
  void discard() { blocks_.pop_back(); }
  size_t depth() const { return blocks_.size(); }
  void own(std::string memory) { blocks_.back().owned.push_back(std::move(memory)); }
  /// Nothing counts references from now on: kernels of threads allocate nothing.
  void count_nothing() { counts_ = false; }
  void retain(const std::string& memory);
  void release(const std::string& memory);
  /// Of the bodies deeper than `depth`, as they are left.
  void release_down_to(size_t depth);

  /// Nothing runs here: after leave and raise. Comes after the leaving statement was emitted.
  bool dead() const { return blocks_.back().dead; }
  void kill() { blocks_.back().dead = true; }
  bool is_empty() const { return blocks_.back().body.empty(); }

 private:
  std::vector<Block> blocks_;
  int names_ = 0;
  std::unordered_map<std::string, ExprRef> definitions_;
  bool counts_ = true;
};

}  // namespace gasell::functions
