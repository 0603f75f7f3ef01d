// The loop IR: the one form of everything that becomes machine code. Immutable and typed; prints and parses back (text.h); verified after
// every pass (verify.h). What is legal stands in the table of docs/loop_ir.md.
//
// A kernel is a list of parameters and a body. Arrays are named one-dimensional memories of one element type, indexed in elements by i64.
// The outermost statement of a kernel's body that has kind `unit` is what the runtime splits over cores (and, mapped to a grid, over a
// GPU's blocks):
//
//   kernel add_one(in x: f64, out y: f64, n: i64) {
//     for u in 0 .. (n + 1023) / 1024 unit {
//       let first: i64 = u * 1024
//       let last: i64 = min(first + 1024, n)
//       for i in first .. last simd {
//         y[i] = x[i] + 1.0
//       }
//     }
//   }
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/scalar_op.h"
#include "lang/diagnostic.h"

namespace gasell::ir {

/// An operation that is not there for a dtype was made.
class Undefined : public Error {
 public:
  Undefined(ScalarOp op, DType type)
      : Error("SystemError", std::string(info(op).name) + " is not defined for " + std::string(name_of(type)), "", Blame::internal) {}
};

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

enum class ExprKind : uint8_t {
  constant,  // value
  variable,  // name: a scalar parameter, a loop variable, a let or a var
  load,      // name[args[0]]: a parameter array or a local array; args[0] is i64
  op,        // op(args...)
  bitcast,   // args[0]'s bits as type, of the same size; not for booleans and complex
  cast,      // args[0] to type, with Scalar::cast's rules (float to integer saturates nowhere: out of range is unspecified, never a trap)
  address,   // the address of the first element of array `name`, as an i64: only as an argument of a call, and where it is stored
};

struct Expr {
  ExprKind kind;
  DType type;
  Scalar value;
  std::string name;
  ScalarOp op = ScalarOp::add;
  std::vector<ExprRef> args;
};

ExprRef constant(Scalar value);
ExprRef constant_i64(int64_t value);
ExprRef variable(std::string name, DType type);
ExprRef load(std::string array, DType type, ExprRef index);
/// Checks arity and operand types; folds constants, and x+0, x*1, x*0 of integers.
ExprRef op(ScalarOp op, std::vector<ExprRef> args);
ExprRef cast(ExprRef value, DType to);
ExprRef bitcast(ExprRef value, DType to);
ExprRef address(std::string array);

// i64 index arithmetic reads better with operators.
ExprRef operator+(ExprRef a, ExprRef b);
ExprRef operator-(ExprRef a, ExprRef b);
ExprRef operator*(ExprRef a, ExprRef b);
ExprRef operator/(ExprRef a, ExprRef b);  // floordiv
ExprRef operator%(ExprRef a, ExprRef b);  // mod

/// The site that `poll` notes.
inline constexpr int64_t kInterrupted = -1;

struct Stmt;
using StmtRef = std::shared_ptr<const Stmt>;
using Body = std::vector<StmtRef>;

enum class StmtKind : uint8_t {
  let,          // let name: type = value                 an immutable scalar, visible to the end of the enclosing body
  var,          // var name: type = value                 a mutable scalar
  assign,       // name = value                           of a var
  local_array,  // local name: type[size] space           memory of this body; uninitialised
  store,        // name[index] = value
  loop,         // for name in begin .. end kind { body }
  if_,          // if condition { body } else { orelse }
  while_,       // while condition { body }
  barrier,   // barrier space                          of a mapped kernel: what the block's (the warp's) threads wrote before, they all see
             // after
  prefetch,  // prefetch name[index]                   that element is read soon: it may lie outside of the array
  // Of compiled functions:
  scope,  // scope name { body }                    what `leave name` inside it goes behind
          // scope name catch { body }              and what `raise`, `check`, `allocate` and `poll` inside it go behind, with the error
          // noted
  leave,  // leave name
  raise,  // raise site(args)                       notes the site and up to 3 i64 in the kernel's error slot unless an error stands there,
          // and leaves the kernel
  check,  // check name = value of end else site    an index of an axis of extent `end`, counted from the end where it is negative, and a
          //                                        `raise site(value, end)` where it is outside
  allocate,  // allocate name: type[index]             memory from the kernel's context, an array like others; `raise site(bytes)` where
             // there is none
  pointer,   // pointer name: type = source            another name of an array, or of none (null), which `point` may set again
             // pointer name: type = at value          a name of the memory at an address, an i64
  point,     // point name = source                    now `name` is what `source` is now
  call,      // call [name: type =] source(args)       of a function outside (codegen/externals.h)
  poll,  // poll                                   leaves the kernel where someone asked for that: `raise kInterrupted()` when interrupt[0]
         // is not 0
  // Of kernels whose body is one thread's (Kernel::simt):
  atomic,  // atomic name: type = operation source[index](args)   changes an element at once; what stood there before
  simt,    // simt [name: type =] source(args) else size          what threads know and do together: simt.h has the table
};

enum class LoopKind : uint8_t {
  serial,
  simd,  // iterations are independent but for assignments `v = v op …` of reductions the pass has proved reassociable: none today
  unit,  // outermost only: work units, run in any order and in parallel
  team,  // iterations are independent, but more than vectors are worth: serial on the host, spread over warps or threads on a GPU
  // Of kernels mapped to a grid only (map_to_grid.h): the block's threads in groups of `width`.
  across,  // iterations are spread over the groups
  within,  // iterations are spread over the threads of a group
};

/// Whose memory a local array is.
enum class Space : uint8_t {
  automatic,  // of the thread that is there
  warp,       // 32 threads share one
  block,      // all threads of a block share it
};

struct Stmt {
  StmtKind kind;
  std::string name;
  DType type = DType::i64;  // let, var, local_array
  ExprRef value;            // let, var, assign, store; if_, while_: the condition
  ExprRef index;            // store
  ExprRef begin, end;       // loop
  LoopKind loop_kind = LoopKind::serial;
  ExprRef width;     // loop: of across and within, a power of two up to the kernel's threads
  int64_t size = 0;  // local_array: elements; raise, check, allocate, simt: the site, a number from 1 that the front end knows the place by
  std::string source;              // pointer, point, atomic: the array; call, simt: the function
  std::string operation;           // atomic
  std::vector<ExprRef> args;       // raise, call, atomic, simt
  Space space = Space::automatic;  // local_array; barrier: warp or block
  bool catches = false;            // scope
  Body body, orelse;
};

StmtRef let(std::string name, ExprRef value);
StmtRef var(std::string name, ExprRef value);
StmtRef assign(std::string name, ExprRef value);
StmtRef local_array(std::string name, DType type, int64_t size);
StmtRef store(std::string array, ExprRef index, ExprRef value);
StmtRef loop(std::string name, ExprRef begin, ExprRef end, LoopKind kind, Body body);
StmtRef if_(ExprRef condition, Body body, Body orelse = {});
StmtRef while_(ExprRef condition, Body body);
StmtRef barrier(Space space);
StmtRef prefetch(std::string array, ExprRef index);
StmtRef scope(std::string name, Body body, bool catches = false);
StmtRef leave(std::string scope);
StmtRef raise(int64_t site, std::vector<ExprRef> args);
StmtRef check(std::string name, ExprRef index, ExprRef extent, int64_t site);
StmtRef allocate(std::string name, DType type, ExprRef count, int64_t site);
StmtRef pointer(std::string name, DType type, std::string source);
StmtRef pointer_at(std::string name, DType type, ExprRef address);
StmtRef point(std::string name, std::string source);
/// `name` empty: the function gives nothing, or what it gives is not used.
StmtRef call(std::string name, DType type, std::string function, std::vector<ExprRef> args);
StmtRef poll();
StmtRef atomic(std::string name, std::string operation, std::string array, DType type, ExprRef index, std::vector<ExprRef> args);
StmtRef simt(std::string name, DType type, std::string function, std::vector<ExprRef> args, int64_t site = 0);

struct Parameter {
  enum class Kind : uint8_t {
    in,      // array, only read; never overlaps an `out`
    out,     // array, written, perhaps read; overlaps no other parameter
    scalar,  // one value
    any,     // array, read and written, which may overlap others of its kind: arguments of compiled functions that do, `context`, `error`
  } kind;
  std::string name;
  DType type;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> params;
  Body body;
  int threads = 0;  // of a block, when mapped to a grid: a multiple of 32
  /// A compiled function's: it may have the statements of such. Its array parameters `context: u8` (what `allocate` and `call`s to the
  /// runtime get), `error: i64` (four elements: site, and what raise notes) and `interrupt: u8` (one element, which others set) are of kind
  /// `any`.
  bool function = false;
  /// A function whose body is what one thread of a grid does. Local arrays of Space::block are the block's threads' together; one of size 0
  /// is what the launch adds to them. Its `error` has ten elements: those of a function, then the block's and the thread's three indices.
  bool simt = false;
  int registers = 0;       // the most that a thread on a GPU has; 0: as many as it takes
  bool fast_math = false;  // floats may be reassociated and contracted, no NaN or infinity is expected (LLVM's `fast`)
};

}  // namespace gasell::ir
