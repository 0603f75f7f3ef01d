// A function's statements and expressions as loop IR. Types are found on the way: a body whose variables turn out to need wider types where
// ways of the program meet is lowered again with those, until nothing changes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/functions/code.h"
#include "compiler/functions/function.h"
#include "compiler/functions/grids.h"
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

/// Thrown where a type is found to be another than was taken for granted: everything is lowered again, with what Program::found says now.
struct Restart {};

/// A function that calls itself, for one set of argument types: a kernel of its own (instances.h).
struct Instance {
  std::string key;
  Type result;  // once it is finished
  bool finished = false;
  ir::Kernel kernel;                // until it is finished: its first parameters
  std::vector<std::string> arrays;  // the memories among those
};

/// A statement that was left out because a type in it is not known yet.
struct Skipped {
  Span at;
  SourceRef source;
  std::string why;
};

/// What outlives a Restart.
struct Lasting {
  std::set<const void*> recursive;  // identities of functions that call themselves
  /// Parallel loops took arrays that lists and dicts hold to lie apart from those that they write, and yet one of these was put into a
  /// list.
  bool held_anywhere = false;
  /// The loops that comprehensions stand for.
  std::map<const ast::Expr*, ast::StmtRef> comprehensions;
};

/// An element, or elements, that an iteration of a parallel loop uses.
struct Access {
  std::string memory;
  int root;
  std::vector<ExprRef> index;  // by the root's axes; null: any; empty: any at all
  bool writes;
  Span span;
};

/// A setting for as long as this lives, whatever is thrown meanwhile; then what it was before.
template <class T>
class Meanwhile {
 public:
  Meanwhile(T& setting, T value) : setting_(setting), before_(std::exchange(setting, std::move(value))) {}
  ~Meanwhile() { setting_ = std::move(before_); }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  T& setting_;
  T before_;
};

/// What a kernel's function and all those inlined into it share.
struct Program {
  Code code;
  Options options;
  bool overlapping = false;  // arrays that are arguments may overlap
  std::vector<Site> sites;
  std::set<std::string> positive;  // variables that are known to be greater than 0
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
  std::map<std::string, Instance> instances;
  int finished = 0;          // counts instances
  bool in_instance = false;  // an instance is being lowered
  std::vector<Skipped> skipped;
  std::vector<std::string> texts;  // constants that the code prints
  Lasting* lasting = nullptr;
  ParallelLoops parallel;
  bool in_region = false;   // what is being lowered is part of a parallel loop
  bool seldom = false;      // what is being lowered seldom runs: it should be small, above all
  bool exact = false;       // what is being lowered runs where LazyArray::exact holds
  std::set<DType> trusted;  // no list and no dict is taken to hold arrays that the function has by other names
};

/// The arguments of a call, lowered.
struct CallSite {
  Span span;
  std::string name;  // of the function, as the user knows it
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> keywords;
  const void* key = nullptr;  // of the call in the text: what is made there and whose type follows from its use
  /// The keywords that somebody asked for; of calls that hand theirs on, one for all. What nobody asks for is refused.
  std::shared_ptr<std::set<std::string, std::less<>>> asked = std::make_shared<std::set<std::string, std::less<>>>();
  const Value* keyword(std::string_view name) const;
  /// The argument by place or keyword; null: left out.
  const Value* argument(size_t place, std::string_view name) const;
};

Names target_names(const ast::ExprRef& target);
const std::vector<ast::Parameter>& parameters_of(const Function& function);
/// zip(…), reversed(…), …; enumerate has what it counts and where it begins.
Value iterator_value(Lowering& lowering, const std::string& how, std::vector<Value> items, Span at);
/// TypingError where what a function returns cannot leave it: for one that called it, or for the script.
void need_returnable(const Lowering& lowering, const Type& returned, Span at, bool to_script);
/// Whether items are those of a list or a table, whose number may change.
bool walks_list(const Value& v);
/// range(…), and how many numbers there are in one.
Value range_value(Lowering& lowering, const std::vector<Value>& arguments, Span at);
ExprRef range_count(Lowering& lowering, const Value& range, Span at);
/// The elements of a slice of an axis: first, count, step.
std::tuple<ExprRef, ExprRef, ExprRef> slice_range(Lowering& lowering, const Value& slice, const ExprRef& extent, Span at);
/// Stands in Program::points for all arrays of a dtype whose addresses were noted in memory.
inline std::string noted_arrays(DType dtype) { return "(noted " + std::string(name_of(dtype)) + ")"; }

class Lowering {
 public:
  Lowering(Program& program, const Function& function, std::string instance);

  /// Lowers the body with these arguments; what the function returns.
  Value run(std::vector<Value> arguments);
  /// What `lower` gives; TypingError where that takes an operation of the loop IR that is not there for a dtype.
  template <class F>
  Value defined(const F& lower) const {
    try {
      return lower();
    } catch (const ir::Undefined& e) {
      fail(here_, e.diagnostic().message);
    }
  }
  /// The whole program's function: `return` goes through `give`.
  void run_outermost(std::vector<Value> arguments, const std::function<void(const Value&)>& give);

  /// The function whose text the user wrote that is being lowered, and the place in it.
  std::pair<const Function*, Span> users_place(Span at) const;

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
  /// What may be None, where it is used as what else it may be: TypeError where it is None. Other values are themselves.
  Value there(const Value& v, Span at);

  Value binary(ast::BinaryOp op, const Value& a, const Value& b, Span at);
  /// NumPy's function of an operator: of numbers, too, it has the dtypes of arrays, and division by zero raises nothing.
  Value ufunc(ast::BinaryOp op, const Value& a, const Value& b, Span at);
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
  /// Emits `loops` twice where `exact` is a condition: for arrays whose axes are not stretched, and for others. `in_memory`: what they do
  /// is seen in memory alone.
  void versions(const ExprRef& exact, const std::function<void()>& loops, bool in_memory = true);
  /// Loops over all indices of the extents; the innermost are vectors where `simd`.
  void for_each(const std::vector<ExprRef>& extents, bool simd, const std::function<void(const std::vector<ExprRef>&)>& body);
  /// The same for elements that have nothing to do with each other: many of them are shared out in functions with parallel=True.
  void for_each_apart(const std::vector<ExprRef>& extents, const std::function<void(const std::vector<ExprRef>&)>& body);
  /// Whether loops over many elements are shared out here.
  bool shares_loops() const { return program_.options.parallel && !program_.in_region && !program_.in_instance; }
  /// Iterations that have nothing to do with each other, `elements` altogether, shared out where they are many.
  struct Apart {
    ExprRef count;
    std::vector<ExprRef> elements;  // extents
    ir::LoopKind kind = ir::LoopKind::serial;
    bool on_host = false;  // they are too few, or too long, for threads of a GPU
  };
  void for_apart(const Apart& loop, const std::function<void(const ExprRef&)>& body);
  /// As many pieces of iterations as there are at most on the host. A function of nothing else, so that sums have the same bits on any
  /// number of threads.
  static constexpr int64_t kPieces = 1024;
  /// Elements from which on loops over them are shared out.
  static constexpr int64_t kWorthSharing = 1 << 15;
  /// Iterations in pieces of `piece`, of which there are `units`.
  struct Pieces {
    ExprRef piece, units;
  };
  Pieces pieces_of(const ExprRef& count, int64_t most, bool reduces);
  /// Memory for what pieces leave.
  void allocate_parts(const std::string& memory, DType type, const ExprRef& count, Span at);
  /// A reduction's parts, one a piece, and what two of them become.
  struct Parts {
    std::string memory;
    DType type;
    std::function<ExprRef(const ExprRef&, const ExprRef&)> combine;
  };
  ExprRef combine_parts(const Parts& parts, const ExprRef& units, const ExprRef& initial, std::string_view name);
  ExprRef count_of(const std::vector<ExprRef>& extents);
  /// Whether an array with these extents, none of them negative, would have more bytes than int64 holds: then their product means nothing.
  ExprRef too_big(const std::vector<ExprRef>& extents, DType dtype);
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
  /// One argument a parameter, in their order, as Python binds them.
  std::vector<Value> bind_arguments(const Function& function, const CallSite& site);
  /// A named tuple of a class.
  Value make_named(const Outside& made, const CallSite& site);
  /// A function of the library; refuses keywords that it does not know.
  Value call_library(const std::function<Value(Lowering&, const CallSite&)>& function, const CallSite& site);
  Value attribute(const Value& base, const std::string& name, Span at);
  Value from_outside(const Outside& outside, const std::string& name, Span at);

  /// Calls a function that calls itself (instances.cpp).
  Value call_instance(const Function& function, std::vector<Value> arguments, Span at);

  // iteration (iteration.cpp)
  /// How many items something has that can be iterated over, and the item at a place that is known to be inside.
  ExprRef count_of_items(const Value& v, Span at);
  Value item_at(const Value& v, const ExprRef& k, Span at);

  // lists (lists.cpp)
  Value new_list(const Type& type, Span at);
  /// A list that is made at a place of the text, whose items' type follows from what is added to it.
  Value list_of_display(const void* key, const std::vector<Value>& items, Span at);
  ExprRef list_length(const Value& list);
  /// An index that is checked.
  ExprRef list_place(const Value& list, const ExprRef& index, Span at);
  /// The item at a place that is known to be inside.
  Value list_item(const Value& list, const ExprRef& k, Span at);
  Value list_slice(const Value& list, const Value& slice, Span at);
  /// Room for so many items in all; MemoryError where there is no memory for them.
  void list_reserve(const Value& list, const ExprRef& items, Span at);
  void list_append(const Value& list, const Value& item, Span at);
  void list_set(const Value& list, const ExprRef& k, const Value& item, Span at);
  Value list_take_last(const Value& list, Span at);
  Value array_of_list(const Value& list, std::optional<DType> dtype, Span at);
  /// The type of a list's items; where nothing says it yet, the statement is left out until something does.
  Type item_type(const Value& list, Span at);

  // dicts and sets (tables.cpp)
  /// An empty one; of a type without entries, whose display `key` stands for (list_of_display).
  Value new_table(const Type& type, Span at);
  Value empty_table(const void* key, std::string text, Span at);
  ExprRef table_length(const Value& table);
  /// The place of a key's entry, or -1.
  ExprRef table_find(const Value& table, const Value& key, Span at);
  /// The same; KeyError where there is none.
  ExprRef table_place(const Value& table, const Value& key, Span at);
  /// The entry at a place; `part`: its key (0) or its value (1).
  Value table_part(const Value& table, const ExprRef& place, size_t part, Span at);
  /// `entry`: a key and a value, or a key.
  void table_put(const Value& table, std::vector<Value> entry, Span at);
  /// Removes an entry; its value, of a dict.
  Value table_take(const Value& table, const ExprRef& place, Span at);
  /// What a loop over a table walks along: its entries stay in their places as long as no key comes or goes.
  Value begin_walk(Value items, Span at);
  ExprRef count_of_entries(const Value& walk, Span at);

  // slots (slots.cpp)
  /// The value whose leaves stand in memory[first …].
  Value load_slots(const Type& type, const std::string& memory, const ExprRef& first);
  /// Where memory holds addresses of a value's arrays, they may be written through it.
  void note_addresses(const Value& v);

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
  /// An expression has no type that could be found so far: its statement is left out, until something else says the type.
  struct Unknown {
    Span at;
    std::string why;
  };
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

  Value run_body(std::vector<Value> arguments);
  void statements(const ast::Body& body);
  void statement(const ast::StmtRef& s);
  void assign(const ast::ExprRef& target, const Value& value);
  void augmented(const ast::AugAssign& s, Span at);
  /// What `x op= y` does to an array, a list or a set itself, which all its names see; false where it makes a new value.
  bool augmented_in_place(ast::BinaryOp op, const Value& old, const Value& operand, Span at);
  void need_jit(const ast::ExprRef& decorator);
  void nested_function(const ast::FunctionDef& s, const ast::StmtRef& definition);
  void unpack(const std::vector<ast::ExprRef>& targets, const Value& value, Span at);
  void if_statement(const ast::If& s, const ast::Stmt* key);
  void while_loop(const ast::While& s, const ast::Stmt* key);
  void for_loop(const ast::For& s, const ast::Stmt* key);
  void for_range(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step);
  void refuse_leaving(const ast::Body& body, bool inner);
  void for_parallel(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step);
  /// Iterations of a loop that may or may not depend on each other.
  struct Iterations {
    ExprRef variable;           // counts
    std::vector<ExprRef> ends;  // the variable's values that no other ones lie beyond
    int outside, roots;         // names and memories numbered above are the iteration's own
    bool asking = false;        // dependent iterations are no error
  };
  /// Refuses accesses of which two iterations might use the same element; what is only known when it runs is a condition: where it does not
  /// hold, the loop is not parallel. Of who only asks, false where they might.
  ExprRef independent(std::span<const Access> accesses, const Iterations& of, Span at);
  bool lies_apart(std::span<const Access> accesses, const std::set<std::string>& memories, const std::set<std::string>& written, int roots,
                  int outside);
  void for_items(const ast::For& s, const ast::Stmt* key, Value items);
  /// A loop over a tuple of several types: its body once an item.
  void for_unrolled(const ast::For& s, const Value& items);
  void return_statement(const ast::Return& s, Span at);
  void return_value(Value value, Span at);
  Value run_straight(const ast::Body& body);
  void raise_statement(const ast::Raise& s, Span at);
  void assert_statement(const ast::Assert& s, Span at);
  std::string message_of(const ast::ExprRef& e, std::vector<ExprRef>& numbers);
  void try_statement(const ast::Try& s, const ast::Stmt* key, Span at);
  void note_binding(const std::string& name);

  struct Iteration {
    std::function<void()> enter;  // where an iteration begins: the names have the values that were carried here
    std::function<void()> body;
    std::function<void()> carry;  // where the loop ends with names that were bound since `enter`
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
  /// What an attempt notes, to be forgotten where it is made again.
  struct Mark {
    size_t sites, typed, skipped;
    int finished;
  };
  Mark mark() const { return {program_.sites.size(), program_.typed.size(), program_.skipped.size(), program_.finished}; }
  void forget_since(const Mark& mark) {
    // Instances that were finished meanwhile stay, and their sites with them.
    if (program_.finished == mark.finished) program_.sites.resize(mark.sites);
    program_.typed.resize(mark.typed);
    program_.skipped.resize(mark.skipped);
  }
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
  Value list_display(const ast::List& n, const ast::ExprRef& e);
  /// `[…]` as the argument of a function that only reads it.
  Value display_as_tuple(const ast::List& n);
  Value comprehension(const ast::Comprehension& n, const ast::ExprRef& e);
  Value dict_display(const ast::Dict& n, const ast::ExprRef& e);
  Value set_display(const ast::Set& n, const ast::ExprRef& e);
  void need_items(const Value& list, const Type& item, Span at);
  /// The same for an item that is added, which becomes one of the container's where that says its type.
  void take_item(const Value& container, const Type& given, Span at);
  std::string list_data(const Value& list);
  void lower_instance(Instance& instance, const Function& function, const std::vector<Value>& arguments, Span at);
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
  void check_mask(const Value& array, const Value& mask, size_t first_axis, Span at);
  /// What indices with arrays among them choose of an array: the shape of the result, and where in `rest`, which has the slices applied, an
  /// element of it comes from. `index` emits the checks.
  struct Places {
    Value rest;
    std::vector<ExprRef> extents;
    std::function<std::vector<ExprRef>(const std::vector<ExprRef>&)> index;
  };
  Places places_of(const Value& array, const std::vector<Value>& indices, Span at);
  /// int64[:, ::1] and the like: types, in places where they are values.
  Value typed_subscript(const Value& base, const ast::ExprRef& index, Span at);
  Value fancy(const Value& array, const std::vector<Value>& indices, Span at);
  void store_fancy(const Value& array, const std::vector<Value>& indices, const Value& value, Span at);

  Program& program_;
  const Function& function_;
  const std::string own_instance_;
  std::string instance_;  // that, and the item of a loop that is written out: tells this inlining from others: the key of types found
  const ast::Body* body_ = nullptr;
  Liveness liveness_;
  Environment env_;
  std::vector<Loop> loops_;
  bool again_ = false;      // a type was widened: lower again
  Names untyped_;           // carried by loops, of types not found yet
  bool giving_up_ = false;  // they will not be found: reading them is an error
  Names unknown_;           // bound by statements that were left out
  bool is_instance_ = false;
  std::vector<const Join*> catches_;  // of the try statements around
  const Lowering* caller_ = nullptr;  // and where it calls this: told of errors in the library's own texts
  Span called_at_;
  Lowering* enclosing_ = nullptr;  // of a function inside a compiled one
  // return: straight, where it is the last statement alone; by `give` in the outermost function; else through a variable
  const std::function<void(const Value&)>* give_ = nullptr;
  std::optional<Storage> returned_;
  Exit* return_exit_ = nullptr;
  bool return_again_ = false;
};

/// A function of the library by its path ("numpy.sqrt", "len"); nullptr: not known in compiled functions.
using LibraryFunction = std::function<Value(Lowering&, const CallSite&)>;
LibraryFunction library_function(const std::string& path);
/// A method of arrays and numbers by name.
LibraryFunction library_method(const std::string& name);
/// math.pi, np.inf and the like.
std::optional<Scalar> library_constant(const std::string& path);
/// "numpy.float64", "int" → dtype.
std::optional<DType> dtype_of_path(const std::string& path);
std::optional<DType> dtype_argument(const Value& v);

}  // namespace gasell::functions
