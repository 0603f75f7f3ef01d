// A function's statements and expressions as loop IR. Types are found on the way: a body whose variables turn out to need wider types where
// ways of the program meet is lowered again with those, until nothing changes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/functions/code.h"
#include "compiler/functions/function.h"
#include "compiler/functions/liveness.h"
#include "compiler/functions/terms.h"
#include "compiler/functions/value.h"

namespace gasell::functions {

/// A variable of the loop IR, or several, that hold a value of a type where ways meet.
struct Storage {
  Type type;
  std::vector<std::string> names;  // scalar: 1; array: memory, offset, extents, strides (Layout::any); optional: whether it is there
  std::vector<Storage> items;      // tuple; optional: the item
  Value constant;                  // what needs no variable: None, texts, functions
};

class Lowering;

/// An element, or elements, that an iteration of a parallel loop uses.
struct Access {
  std::string memory;
  int root;
  std::vector<ExprRef> index;  // by the root's axes; null: any; empty: any at all
  bool writes;
  Span span;
};

/// What a kernel's function and all those inlined into it share.
struct Program {
  Code code;
  Options options;
  bool overlapping = false;  // arrays that are arguments may overlap
  std::vector<Site> sites;
  std::vector<Outside> captured;
  std::vector<Value> captured_values;
  std::vector<ir::Parameter> captured_parameters;
  std::vector<std::pair<Span, std::string>> typed;
  std::vector<const void*> active;  // identities of the functions being lowered, outermost first
  int roots = 0;
  /// Types that loops and returns were found to need, kept from one attempt to the next.
  std::map<std::pair<const void*, std::string>, Type> found;
  int widened = 0;  // counts changes of `found`
  /// Functions defined inside compiled ones, with where.
  std::map<const Function*, Lowering*> nested;
  std::vector<std::shared_ptr<const Function>> kept;
  /// Memories that are stored to, and which memories a pointer may stand for.
  std::set<std::string> stored;
  std::multimap<std::string, std::string> points;
  /// While the body of a parallel loop is lowered: what it uses of memory from outside. Null: no such loop is around.
  std::vector<Access>* accesses = nullptr;
  std::vector<Compiled::Loop> loops;
  bool exact = false;  // what is being lowered runs where LazyArray::exact holds
};

/// The arguments of a call, lowered.
struct CallSite {
  Span span;
  std::string name;  // of the function, as the user knows it
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> keywords;
  const Value* keyword(std::string_view name) const;
  /// The argument by place or keyword; null: left out.
  const Value* argument(size_t place, std::string_view name) const;
};

Names target_names(const ast::ExprRef& target);

class Lowering {
 public:
  Lowering(Program& program, const Function& function, std::string instance);

  /// Lowers the body with these arguments; what the function returns.
  Value run(std::vector<Value> arguments);
  /// The whole program's function: `return` goes through `give`.
  void run_outermost(std::vector<Value> arguments, const std::function<void(const Value&)>& give);

  // ---- what the library's functions use (library_*.cpp) ----
  Program& program() { return program_; }
  Code& code() { return program_.code; }
  [[noreturn]] void fail(Span at, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail_as(std::string exception, Span at, std::string message, std::string hint = {}) const;
  [[noreturn]] void unsupported(Span at, std::string what, std::string hint = {}) const;
  int64_t site(std::string exception, std::string message, Span at);
  /// raise where `condition` holds.
  void raise_if(ExprRef condition, std::string exception, std::string message, Span at, std::vector<ExprRef> numbers = {});

  Value expression(const ast::ExprRef& e);
  ExprRef number(const Value& v, DType type);
  /// A number of the language: TypeError else.
  ExprRef scalar(const Value& v, const char* what);
  ExprRef index_number(const Value& v, const char* what);
  ExprRef truth(const Value& v);

  Value binary(ast::BinaryOp op, const Value& a, const Value& b, Span at);
  Value compare(ast::CompareOp op, const Value& a, const Value& b, Span at);
  Value unary(ast::UnaryOp op, const Value& v, Span at);
  /// One operation of numbers, with Numba's types and Python's errors.
  ExprRef binary_number(ast::BinaryOp op, ExprRef a, ExprRef b, Span at, bool checked);
  ExprRef compare_numbers(ast::CompareOp op, ExprRef a, ExprRef b);

  // arrays (arrays.cpp)
  /// A new array; of the extents' C order. `clear`: zeros.
  Value allocate(DType dtype, std::vector<ExprRef> extents, Span at, bool clear = false);
  /// In memory: computed where it is lazy.
  Value materialise(const Value& v, Span at);
  ExprRef element(const Value& array, const std::vector<ExprRef>& index);
  /// The place in the text of what is being lowered, for messages about accesses.
  Span here_;
  void store_element(const ArrayValue& array, DType dtype, const std::vector<ExprRef>& index, ExprRef value);
  /// The element at an index of the shape that `v` is broadcast to; numbers are the same everywhere.
  using ElementFunction = std::function<ExprRef(const std::vector<ExprRef>& parts)>;
  /// f of corresponding elements, broadcast; a number where all are numbers.
  Value elementwise(const std::vector<Value>& operands, DType result, const ElementFunction& f, Span at);
  /// target[...] = source, broadcast and converted.
  void assign_elements(const Value& target, const Value& source, Span at);
  /// Emits `loops` twice where `exact` is a condition: for arrays whose axes are not stretched, and for others.
  void versions(const ExprRef& exact, const std::function<void()>& loops);
  /// Loops over all indices of the extents; the innermost are vectors where `simd`.
  void for_each(const std::vector<ExprRef>& extents, bool simd, const std::function<void(const std::vector<ExprRef>&)>& body);
  ExprRef count_of(const std::vector<ExprRef>& extents);
  ExprRef stretched(const ExprRef& index, const ExprRef& factor) const;
  /// Notes what a parallel loop's iteration uses.
  void note_access(const ArrayValue& array, const std::vector<ExprRef>& index, bool writes, Span at);
  static bool may_overlap(const ArrayValue& a, const ArrayValue& b);

  // indexing (indexing.cpp)
  Value subscript(const Value& base, const ast::ExprRef& index, Span at);
  Value view(const Value& array, const std::vector<Value>& indices, Span at);
  /// array[mask].
  Value masked(const Value& array, const Value& mask, Span at) { return fancy(array, {mask}, at); }
  void store_subscript(const Value& base, const ast::ExprRef& index, const Value& value, Span at);
  ExprRef checked_index(ExprRef index, ExprRef extent, Span at, int axis);

  // calls (calls.cpp)
  Value call(const ast::Expr& e);
  Value call_value(const Value& callee, CallSite& site);
  Value call_function(const Function& function, CallSite& site);
  Value attribute(const Value& base, const std::string& name, Span at);
  Value from_outside(const Outside& outside, const std::string& name, Span at);

  // variables (joins.cpp)
  Storage declare(const Type& type, std::string_view stem);
  /// All at once: a value may be what another of the storages holds until now.
  void write(const std::vector<std::pair<const Storage*, Value>>& values);
  Value read(const Storage& storage, std::string_view stem);
  /// The value as one of `type`, which unify() gave.
  Value convert(const Value& value, const Type& type);
  void bind_name(const std::string& name, Value value, Span at);

  const Function& function() const { return function_; }

 private:
  /// A name is read whose type this attempt does not know yet: its statement is left out, and the loop lowered again.
  struct Untyped {};
  /// What comes in this body from here on is never reached.
  struct Unreachable {};
  struct Binding {
    Value value;
    ExprRef defined;  // null: it is; else whether it is
  };
  using Environment = std::map<std::string, Binding>;

  /// The variables that carry names to a place which several ways lead to: a loop's head and its end.
  struct Carried {
    std::optional<Storage> storage;  // none: the type is not known yet
    std::string defined;             // a boolean variable, where the name may be undefined; else empty
  };
  struct Join {
    const void* key;
    std::map<std::string, Carried> names;
  };
  /// A scope of the loop IR; made where something leaves it.
  struct Exit {
    std::string scope;
    size_t depth;  // of the body that it stands in
    bool used = false;
  };
  struct Loop {
    Join* join;
    Exit *after, *next;
  };

  void statements(const ast::Body& body);
  void statement(const ast::StmtRef& s);
  void assign(const ast::ExprRef& target, const Value& value);
  void augmented(const ast::AugAssign& s, Span at);
  void nested_function(const ast::FunctionDef& s, const ast::StmtRef& definition);
  void unpack(const std::vector<ast::ExprRef>& targets, const Value& value, Span at);
  void if_statement(const ast::If& s, const ast::Stmt* key);
  void while_loop(const ast::While& s, const ast::Stmt* key);
  void for_loop(const ast::For& s, const ast::Stmt* key);
  void for_range(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step);
  void refuse_leaving(const ast::Body& body, bool inner);
  void for_parallel(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step);
  /// Refuses accesses of which two iterations might use the same element; what is only known when it runs is a condition: where it does not
  /// hold, the loop is not parallel. `variable` counts; names numbered above `outside` are the iteration's own.
  ExprRef independent(const std::vector<Access>& accesses, const ExprRef& variable, const ExprRef& first, const ExprRef& last, int outside,
                      int roots, Span at);
  /// `how`: "enumerate", "zip", or nothing for the items of one thing.
  void for_items(const ast::For& s, const ast::Stmt* key, const std::string& how, std::vector<Value> items);
  void return_statement(const ast::Return& s, Span at);
  void return_value(Value value, Span at);
  Value run_straight(const ast::Body& body);
  void raise_statement(const ast::Raise& s, Span at);
  void assert_statement(const ast::Assert& s, Span at);

  struct Iteration {
    std::function<void()> enter;  // where an iteration begins: the names have the values that were carried here
    std::function<void()> body;
  };
  /// Lowers a loop until the types of what it carries stand. `make` emits the loop; in its body it calls enter, binds the target and calls
  /// body.
  void loop(const ast::Stmt* key, const ast::Body& body, const ast::Body& orelse, const Names& targets,
            const std::function<void(const Iteration& iteration, Exit& done)>& make);
  /// Writes the names' values here into their variables.
  void carry(const Join& join);
  void enter(const Join& join);
  void leave(Exit& exit);
  /// The body of the innermost open block, inside a scope where something leaves it.
  void close_exit(const Exit& exit);
  struct Branch {
    Code::Block block;
    Environment environment;
  };
  /// Emits an `if` of two lowered branches; what `names` stand for in either is one value after it.
  void merge_branches(const ExprRef& condition, const Names& names, Branch yes, Branch no);
  bool widen(const void* key, const std::string& name, const Type& type, Span at);

  Value name(const ast::Name& n, Span at);
  /// Whether the function takes this name from the one around it.
  bool is_taken(const std::string& name) const;
  Value nested_lambda(const ast::Lambda& n, const ast::ExprRef& e);
  /// A list that is not changed: as a tuple.
  Value list_display(const ast::List& n);
  Value bool_chain(const ast::BoolChain& e, Span at);
  Value comparison(const ast::Compare& e, Span at);
  Value conditional(const ast::Conditional& e, Span at);
  /// What two ways give, chosen by a condition; each lowered only where it runs.
  Value choose(ExprRef condition, const std::function<Value()>& yes, const std::function<Value()>& no, Span at);
  std::vector<Value> index_items(const ast::ExprRef& index);
  static bool is_fancy(const std::vector<Value>& indices);
  /// What `array[indices] = …` writes to: a view, of rank 0 for one element.
  Value place_of(const Value& array, const std::vector<Value>& indices, Span at);
  Value tuple_item(const Value& tuple, const ExprRef& index, Span at);
  /// array[k], where k is known to be inside.
  Value item_of(const Value& array, const ExprRef& k, Span at);
  void check_mask(const Value& array, const Value& mask, Span at);
  /// int64[:, ::1] and the like: types, in places where they are values.
  Value typed_subscript(const Value& base, const ast::ExprRef& index, Span at);
  Value fancy(const Value& array, const std::vector<Value>& indices, Span at);
  void store_fancy(const Value& array, const std::vector<Value>& indices, const Value& value, Span at);

  Program& program_;
  const Function& function_;
  const std::string instance_;  // tells this inlining from others: the key of types found
  const ast::Body* body_ = nullptr;
  Liveness liveness_;
  Environment env_;
  std::vector<Loop> loops_;
  bool again_ = false;             // a type was widened: lower again
  Names untyped_;                  // carried by loops, of types not found yet
  bool giving_up_ = false;         // they will not be found: reading them is an error
  Lowering* enclosing_ = nullptr;  // of a function inside a compiled one
  // return: straight, where it is the last statement alone; by `give` in the outermost function; else through a variable
  const std::function<void(const Value&)>* give_ = nullptr;
  std::optional<Storage> returned_;
  Exit* return_exit_ = nullptr;
  bool return_again_ = false;
};

/// A function of the library by its path ("numpy.sqrt", "len"); nullptr: not known in compiled functions.
using LibraryFunction = Value (*)(Lowering&, const CallSite&);
LibraryFunction library_function(const std::string& path);
/// A method of arrays and numbers by name.
LibraryFunction library_method(const std::string& name);
/// math.pi, np.inf and the like.
std::optional<Scalar> library_constant(const std::string& path);
/// "numpy.float64", "int" → dtype.
std::optional<DType> dtype_of_path(const std::string& path);
std::optional<DType> dtype_argument(const Value& v);

}  // namespace gasell::functions
