// import: known modules, and scripts beside the importing one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "lang/heap_account.h"
#include "lang/parser.h"
#include "lang/render.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/script_path.h"

namespace gasell {
namespace {

namespace fs = std::filesystem;

/// A script as a module: its members are its global variables.
class ScriptModule final : public Module {
 public:
  ScriptModule(std::string name, std::string path, GlobalScope& scope) : Module(std::move(name)), path_(std::move(path)), scope_(scope) {}
  std::string repr(Interpreter&) override { return "<module '" + name + "' from '" + path_ + "'>"; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view attribute) override {
    if (const Value* v = scope_.find(attribute)) return *v;
    return Module::get_attribute(in, attribute);
  }
  void set_attribute(Interpreter&, std::string_view attribute, const Value& value) override { scope_.slot(std::string(attribute)) = value; }
  std::vector<std::string> attribute_names(Interpreter&) override { return scope_.names(); }

  bool running = true;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  GlobalScope& scope_;
};

/// The folders that a script has put into sys.path, which none has that did not import sys.
std::vector<std::string> search_path(const Session& session) {
  std::vector<std::string> folders;
  const auto sys = session.loaded.find("sys");
  if (sys == session.loaded.end()) return folders;
  const auto& members = sys->second.as<Module>()->members;
  const auto path = members.find("path");
  const auto* list = path == members.end() ? nullptr : path->second.as<List>();
  if (!list) return folders;
  for (const Value& folder : list->items)
    if (const auto* text = folder.as<Str>()) folders.push_back(text->value);
  return folders;
}

/// A script that a name stands for, or a folder of them where the ending is empty.
std::optional<fs::path> find_script(const Session& session, const std::string& name, const SourceRef& importer,
                                    const char* ending = ".gsl") {
  return find_script_path(name, ending, importer, search_path(session));
}

/// Runs a text as the module `name`, which is kept under `key` from the moment it begins: circular imports find it.
Value run_text(Session& session, const std::string& key, const std::string& name, const std::string& path, std::string text, bool library) {
  ast::ModuleRef tree = parse_module(std::make_shared<Source>(path, std::move(text)));
  session.scopes.push_back(std::make_unique<GlobalScope>());
  GlobalScope& scope = *session.scopes.back();
  scope.library = library;
  scope.slot("__name__") = make_str(name);
  scope.slot("__file__") = make_str(path);
  Value module = Value::make<ScriptModule>(name, path, scope);
  session.loaded.emplace(key, module);
  std::shared_ptr<FunctionCode> code = lower_module(session, tree, scope, "<module " + name + ">", false);
  try {
    run_module(session, *code);
  } catch (...) {
    session.loaded.erase(key);
    throw;
  }
  static_cast<ScriptModule*>(module.object())->running = false;
  return module;
}

Value run_script(Session& session, const std::string& name, const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  std::string key = error ? path.string() : canonical.string();
  if (auto found = session.loaded.find(key); found != session.loaded.end()) return found->second;
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) raise("ImportError", fmt::format("cannot read {}", path.string()));
  return run_text(session, key, name, path.string(), text.str(), false);
}

/// A module of the table, or null. For a name like "dask" of which only "dask.array" is there: a module that holds those.
std::optional<Value> known_module(Session& session, const std::string& name) {
  if (auto found = session.loaded.find(name); found != session.loaded.end()) return found->second;
  const ModuleDefinition* definition = nullptr;
  bool parent = false;
  for (const ModuleDefinition& m : session.modules.modules) {
    if (m.name == name) definition = &m;
    parent = parent || m.name.starts_with(name + ".");
  }
  if (!definition && !parent) return {};
  const Uncounted uncounted;  // the library is not the script's
  Value module = definition ? definition->make(session.in) : Value::make<Module>(name);
  return session.loaded.emplace(name, module).first->second;
}

/// What serves in place of a module that is not there.
std::string_view in_place_of_module(std::string_view name) {
  struct Known {
    std::string_view name, remark;
  };
  static constexpr Known kModules[] = {
      {"multiprocessing", "concurrent.futures, dask.delayed and joblib.Parallel run functions side by side"},
      {"asyncio", "concurrent.futures, dask.delayed and joblib.Parallel run functions side by side"},
      {"pickle", "what it reads may run any code; json and np.save write values that are read without that"},
      {"marshal", "json and np.save write values"},
      {"shelve", "json and pd.DataFrame.to_parquet write values"},
      {"subprocess", "scripts start no other programs"},
      {"socket", "pd.read_csv and pd.read_json read addresses of the web"},
      {"urllib", "pd.read_csv and pd.read_json read addresses of the web"},
      {"sqlite3", "pd.read_csv and pd.read_parquet read tables"},
  };
  const auto found = std::ranges::find(kModules, name, &Known::name);
  return found == std::end(kModules) ? "" : found->remark;
}

struct ImportStatement final : StatementNode {
  struct Name {
    std::string module;
    bool whole;  // bound is the module itself, not the first part of its dotted name
    TargetPtr target;
    Span span;
  };
  Flow run(Frame& f) const override {
    for (const Name& name : names) {
      f.at = name.span;
      Value module = f.in.import_module(name.module, f.code.source);
      if (!name.whole) module = f.in.import_module(name.module.substr(0, name.module.find('.')), f.code.source);
      name.target->assign(f, std::move(module));
    }
    return Flow::next;
  }
  std::vector<Name> names;
};

struct ImportFromStatement final : StatementNode {
  struct Name {
    std::string name;
    TargetPtr target;
    Span span;
  };
  Flow run(Frame& f) const override {
    f.at = span;
    Value from = f.in.import_module(module, f.code.source);
    for (const Name& name : names) {
      f.at = name.span;
      name.target->assign(f, member(f, from, name.name));
    }
    return Flow::next;
  }

  Value member(Frame& f, const Value& from, const std::string& name) const {
    if (std::optional<Value> v = from.object()->get_attribute(f.in, name)) return *v;
    std::string full = module + "." + name;
    if (std::optional<Value> child = known_module(f.session, full)) return *child;
    if (find_script(f.session, full, f.code.source)) return f.in.import_module(full, f.code.source);
    if (f.session.modules.peers.has("import", full)) refuse_name("ImportError", fmt::format("the module '{}' is not in Gasell", full));
    refuse_attribute(f.in, from, name, "ImportError");
    const std::string hint = near_hint(name, from.object()->attribute_names(f.in));
    if (auto* script = from.as<ScriptModule>()) {
      if (script->running) {
        raise("ImportError",
              fmt::format("cannot import name '{}' from partially initialized module '{}' (most likely due to a circular import) ({})",
                          name, module, script->path()));
      }
      raise("ImportError", fmt::format("cannot import name '{}' from '{}' ({})", name, module, script->path()), hint);
    }
    raise("ImportError", fmt::format("cannot import name '{}' from '{}'", name, module), hint);
  }

  std::string module;
  std::vector<Name> names;
};

/// `import numpy.linalg`: a module that a known module holds.
std::optional<Value> member_module(Session& session, const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos) return {};
  const std::string owner = name.substr(0, dot);
  std::optional<Value> parent = known_module(session, owner);
  if (!parent) parent = member_module(session, owner);
  if (!parent) return {};
  std::optional<Value> member = parent->object()->get_attribute(session.in, name.substr(dot + 1));
  return member && member->as<Module>() ? member : std::nullopt;
}

[[noreturn]] void raise_no_module(Session& session, const std::string& name) {
  const PeerNames& peers = session.modules.peers;
  const std::string top = name.substr(0, name.find('.'));
  const bool top_is_known = known_module(session, top).has_value();
  if (peers.has("import", name) || (!top_is_known && peers.has("import", top)))
    refuse_name("ModuleNotFoundError", fmt::format("the module '{}' is not in Gasell", name), std::string(in_place_of_module(name)));
  const auto parts = [&](const std::string& prefix) {
    return std::ranges::any_of(session.modules.modules, [&](const ModuleDefinition& m) { return m.name.starts_with(prefix); });
  };
  if (top != name && top_is_known && !parts(top + ".") && !peers.has_parts(top))
    raise("ModuleNotFoundError", fmt::format("No module named '{}'; '{}' is not a package", name, top));
  std::vector<std::string> candidates;
  for (const ModuleDefinition& m : session.modules.modules) candidates.push_back(m.name);
  raise("ModuleNotFoundError", fmt::format("No module named '{}'", top_is_known ? name : top), near_hint(name, candidates));
}

}  // namespace

Value Interpreter::import_module(const std::string& name, const SourceRef& importer) {
  Session& session = Evaluator::session(*this);
  Value module;
  if (std::optional<Value> known = known_module(session, name)) {
    module = *std::move(known);
  } else if (std::optional<Value> member = member_module(session, name)) {
    module = *std::move(member);
  } else if (std::optional<fs::path> script = find_script(session, name, importer)) {
    module = run_script(session, name, *script);
  } else if (std::optional<fs::path> directory = find_script(session, name, importer, "")) {  // holds scripts
    auto [place, inserted] = session.loaded.try_emplace(fs::absolute(*directory).string());
    if (inserted) place->second = Value::make<Module>(name);
    module = place->second;
  } else {
    raise_no_module(session, name);
  }
  if (size_t dot = name.rfind('.'); dot != name.npos) {  // the parent holds the child
    Value parent = import_module(name.substr(0, dot), importer);
    std::string child = name.substr(dot + 1);
    if (parent.as<Module>() && !parent.object()->get_attribute(*this, child)) parent.object()->set_attribute(*this, child, module);
  }
  return module;
}

Value Interpreter::library_module(const std::string& name, std::string_view text) {
  Session& session = Evaluator::session(*this);
  const std::string key = "<" + name + ">";
  if (auto found = session.loaded.find(key); found != session.loaded.end()) return found->second;
  const Uncounted uncounted;  // the library is not the script's
  return run_text(session, key, name, key, std::string(text), true);
}

StatementPtr lower_import(Lowering& l, const ast::Stmt& s) {
  if (const auto* import = std::get_if<ast::Import>(&s.node)) {
    auto node = std::make_unique<ImportStatement>();
    for (const ast::ImportName& name : import->names) {
      std::string bound = name.as.empty() ? name.name.substr(0, name.name.find('.')) : name.as;
      node->names.push_back(
          {name.name, !name.as.empty() || bound == name.name, lower_name_target(l, bound, name.binding, name.span), name.span});
    }
    return node;
  }
  const auto& from = std::get<ast::ImportFrom>(s.node);
  auto node = std::make_unique<ImportFromStatement>();
  node->module = from.module;
  for (const ast::ImportName& name : from.names) {
    node->names.push_back({name.name, lower_name_target(l, name.as.empty() ? name.name : name.as, name.binding, name.span), name.span});
  }
  return node;
}

}  // namespace gasell
