// Compiled functions: a definition and the types of its arguments become a kernel of loop IR.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/functions/type.h"
#include "compiler/ir/ir.h"
#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell::functions {

struct Function;
struct Compiled;

/// A class that collections.namedtuple made.
struct NamedClass {
  std::string name;
  std::vector<std::string> fields;
};

/// What a name that a function takes from outside stands for when it is compiled. Values are frozen: they become constants of the code.
struct Outside {
  enum class Kind : uint8_t {
    unknown,  // there is no such name
    number,   // value: bool, int, float, complex or a NumPy scalar
    text,     // text
    none,
    tuple,     // items; of a named one `named`, too
    array,     // `type` and `array`: frozen too, as in Numba: handed to the code at each call
    named,     // `named`: a class of named tuples; items: the defaults of its last fields
    module,    // text: its name; member: what stands in it, frozen likewise
    path,      // text: the library's name of a module, function or type: "numpy", "numpy.float64", "math.sqrt", "range", "numba.prange"
    function,  // function: another function of the language (compiled with this one)
    other,     // text: what it is, for messages ("a dict")
  } kind = Kind::unknown;
  Scalar value;
  std::string text;
  std::vector<Outside> items;
  Type type;
  const void* array = nullptr;  // the session's array object; it compares equal to itself alone
  std::shared_ptr<const Function> function;
  std::shared_ptr<const NamedClass> named = {};
  std::function<Outside(const std::string& name)> member = {};  // unknown: there is none
};

struct Options {
  bool parallel = false, fast_math = false, bounds_check = true;
  bool unchecked_parallel = false;  // parallel="unsafe": iterations of prange are taken to be independent
  bool python_errors = true;        // error_model="python": division by zero raises; else NumPy's inf and nan
  bool cuda = false;                // a kernel: the function is what one thread of a grid does, and numba.cuda is there
  int registers = 0;                // of a kernel: the most that a thread has on a GPU; 0: as many as it takes
  bool lines = false;               // of a kernel: threads tell which line they come to
  /// Names whose numbers always are of a dtype.
  std::map<std::string, DType> locals = {};
  bool operator==(const Options&) const = default;
};

/// A function as the script has it.
struct Function {
  std::shared_ptr<const ast::Stmt> definition;  // a FunctionDef; null: `lambda`
  std::shared_ptr<const ast::Expr> lambda;      // an ast::Lambda
  SourceRef source;
  std::string name;
  Options options;
  std::function<Outside(const std::string& name)> outside;  // globals, built-ins and closed-over variables
  std::vector<Outside> defaults;                            // one a parameter; unknown: none
  bool internal = false;                                    // of the library: errors in it are told of where it is called
  /// Where the function is another one for each set of argument types (a stencil's): that; what stands above is not used. `out`: the last
  /// argument is the array for the result. With a definition, its parameters say how arguments are bound.
  std::function<std::shared_ptr<const Function>(const std::vector<Type>& arguments, bool out)> for_types;
  /// Where the function is written in another language (a CuPy kernel's C): makes its kernel; of what stands above, name and options count.
  std::function<Compiled(const std::vector<Type>& arguments, bool overlapping, const Options& options)> make;
  const void* identity = nullptr;  // equal for equal functions: recursion is noticed by it
};

/// A place that may raise when the code runs: error[0] of a call says which (from 1), error[1..3] the numbers of its message.
/// Without an exception: a place that is only named (where threads wait for each other, and lines).
struct Site {
  std::string exception;  // "IndexError"
  std::string message;    // with {0}, {1}, {2} for the noted i64 numbers; {0:f}: the bits of an f64, {0:b}: a truth value
  Span span;
  SourceRef source;
  std::string function;  // whose text that is
  /// The exception's arguments behind the message: a text behind a quote ("'text"), or a number as in messages ("{0:f}").
  std::vector<std::string> more = {};
};

/// A kernel for arguments of given types, and how it is called.
///
/// Its parameters, in order: for every leaf of the arguments (tuples flattened; None, texts and functions have no leaf; of an optional one
/// whether it is there comes first) a scalar, or, of an
/// array, its memory, then as scalars (i64) its extents and, for Layout::any, its strides in elements. Then the arrays of `captured`
/// likewise, then `context: u8`, `error: i64[4]`, `interrupt: u8`, `results: i64[result_slots]`.
///
/// A kernel of threads (Options::cuda) has after the captured arrays only `error: i64[10]` (simt.h), and returns nothing.
///
/// results: the leaves of the result in slots (slots.h).
///
/// A list among the arguments has the memory of its header (runtime/functions/lists.h), and is changed in place; a generator that of its
/// state (runtime/functions/generator.h).
///
/// `regions` are what runs in parallel: kernels with a unit loop. The kernel calls gasell_parallel(context, region, units, arrays,
/// scalars, x, y, z), of which `arrays` and `scalars` are as a HostKernelFunction takes them (codegen/jit.h), and looks at `error` when it
/// comes back; for code that seldom runs, a region of one unit without a grid, gasell_alone(context, region, arrays, scalars). Before other
/// code uses memory that grids use, it calls gasell_host(context, memory, whether it writes). With bounds checked the ends of their
/// memories are not known: they are 0 and the highest address.
struct Compiled {
  ir::Kernel kernel;
  std::vector<ir::Kernel> regions;
  /// Functions that call themselves, for the types they are called with. gasell_call(context, instance, arrays, scalars), the last two as a
  /// HostKernelFunction takes them, runs one: 0, 1 where it has noted an error, 2 where the stack has no room for it.
  std::vector<ir::Kernel> instances;
  /// The same for GPUs, one a region: a kernel of threads (of no name where there is none) whose parameters are the region's but context
  /// and interrupt. The call of gasell_parallel ends with the iterations along x, y and z; 0 for axes it does not have, and all 0 where
  /// units are reduced: then there is a thread for each unit.
  std::vector<ir::Kernel> grids;
  /// What became of each loop that was asked to be parallel (parallel_diagnostics), in the order of the text.
  struct Loop {
    Span span;
    SourceRef source;
    std::string fate;  // "runs in parallel; reductions: total (+)"
    std::string unit;  // the variable of its unit loop
  };
  std::vector<Loop> loops;
  std::vector<Type> arguments;
  Type result;
  int result_slots = 0;
  std::vector<Site> sites;         // site n is sites[n - 1]
  std::vector<Outside> captured;   // arrays from outside
  std::vector<std::string> texts;  // what gasell_print_text(context, k) prints
  std::vector<bool> writes;        // one an array leaf of the arguments: whether the function may write it
  std::vector<bool> writes_held;   // by dtype: whether it may write arrays that objects among the arguments hold
  /// The types of names line by line (inspect_types).
  std::vector<std::pair<Span, std::string>> typed;
};

/// `overlapping`: some array arguments that are written overlap others, so none may be taken to lie apart.
/// Throws Error: TypeError (Numba's TypingError is one) with the place, for what cannot be typed; "limitation" for what is not built.
Compiled compile(const Function& function, const std::vector<Type>& arguments, bool overlapping);

}  // namespace gasell::functions
