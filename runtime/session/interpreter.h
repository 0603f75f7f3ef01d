// Runs syntax trees: the session's top level and undecorated functions. Array expressions met here are recorded, not computed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/ast.h"
#include "runtime/engine.h"
#include "runtime/session/call_profile.h"
#include "runtime/session/objects.h"
#include "runtime/session/peer_names.h"
#include "runtime/session/value.h"

namespace gasell {

class Sandbox;

/// A module that `import` and the namespaces without import know. `make` runs on first use.
struct ModuleDefinition {
  std::string name;                  // "numpy"
  std::vector<std::string> aliases;  // bound without import: "np"
  std::function<Value(Interpreter&)> make;
  std::vector<std::string> members = {};  // members that are bound without import, too: "jit"
};
/// The known modules (stdlib registers numpy, dask.array, math, time, … in one table), and what the peers have beside them.
struct ModuleTable {
  std::vector<ModuleDefinition> modules;
  PeerNames peers = {};
};

class Interpreter {
 public:
  Interpreter(Engine& engine, ModuleTable modules);
  ~Interpreter();

  Engine& engine();
  /// Where print and input go; the defaults are stdout and stdin.
  std::function<void(std::string_view)> write_out;
  std::function<std::optional<std::string>(const std::string& prompt)> read_line;
  /// The address of a page that shows what runs, which is made at the first call; none where the program has no such page.
  std::function<std::string()> dashboard_link;

  /// Runs a module's statements in the global scope. Script errors arrive as Error with the place and, as secondary labels, the calls that
  /// led there; SystemExit as Exit; Interrupted passes through. The session is usable after each of them.
  void run(const ast::ModuleRef& module);
  /// As run, and the value of the last statement when that is an expression (the REPL's Out, evaluate of the C API).
  Value evaluate(const ast::ModuleRef& module);

  /// Calls a value of the session from outside of any script; errors arrive as those of run().
  Value call(const Value& callee, std::vector<Value> arguments);

  /// evaluate() `times` times, without the work of beginning each time; `each` gets the values.
  void repeat(const ast::ModuleRef& module, int64_t times, const std::function<void(const Value&)>& each);

  /// What scripts of this session may reach and take from now on (runtime/device/sandbox.h). Null: all that the process may.
  void confine(std::shared_ptr<Sandbox> sandbox);
  const std::shared_ptr<Sandbox>& sandbox() const;
  /// Calls of script functions within each other that are allowed; RecursionError beyond. CPython's 1000 at first.
  void set_recursion_limit(int calls);

  /// The process is the interpreter's alone: all memory of it counts towards the engine's limit (memory_watch.h).
  void own_process();

  Value* global(std::string_view name);  // null when not defined
  void set_global(const std::string& name, Value value);
  std::vector<std::string> global_names();

  /// `import name`: a known module, or NAME.gsl beside the importing source, the working directory or GASELL_PATH.
  Value import_module(const std::string& name, const SourceRef& importer);
  /// A module made of a text of the standard library: run once a session, then kept under `name`. What goes wrong in its functions is told
  /// at the line that called them.
  Value library_module(const std::string& name, std::string_view text);

  /// From now on an exception keeps the variables of the frames it leaves, and the last one that nobody caught is kept.
  void keep_variables();
  /// That exception; None where there was none. forget_exception() lets go of it.
  const Value& uncaught() const;
  void forget_exception();

  /// Runs `work`, and tells what its calls of script functions took. What it throws passes through.
  CallProfile profile(const std::function<void()>& work);

  struct Exit {
    int code;
  };

  /// The line of the script that runs, or null and 0. Takes no memory and no lock: for the handler of a signal.
  struct Place {
    const char* source;
    int line;
  };
  Place place() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct Evaluator;
};

}  // namespace gasell
