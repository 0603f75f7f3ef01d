// A piece of a kernel as a function of what it uses from around it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::ir {

struct Part {
  struct Name {
    std::string name;
    DType type;
    bool array;
  };
  std::vector<Name> free;  // in the order in which they are used
  std::string text;        // parts whose texts and types of free names are the same differ in names alone
};

/// The statements as a part, where they are loops of vectors, perhaps within others, that change nothing around them but elements of
/// arrays; else none.
std::optional<Part> part_of(std::span<const StmtRef> statements);

/// Whether a statement reads the variable.
bool reads(const Stmt& s, const std::string& variable);

}  // namespace gasell::ir
