#include "runtime/session/carrier.h"

#include <algorithm>
#include <atomic>

#include "runtime/session/packing.h"
#include "runtime/session/unpacking.h"

namespace gasell {
namespace {

/// A session keeps so many parcels of functions, and what was made of so many; then they are forgotten.
constexpr size_t kMostKept = 512;

std::atomic<LibraryLoader> library_loader{nullptr};

const void* tree_of(const FunctionText& text) {
  return text.definition ? static_cast<const void*>(text.definition.get()) : text.lambda.get();
}

}  // namespace

std::string text_variable(GlobalScope& scope, std::string_view name) {
  const Value* v = scope.find(name);
  const auto* text = v ? v->as<Str>() : nullptr;
  return text ? text->value : "";
}

void set_library_loader(LibraryLoader loader) { library_loader = loader; }

/// A parcel of a function that may be sent again.
struct Carrier::Kept {
  Value function;
  std::shared_ptr<const Parcel> parcel;
  std::vector<Packing::Seen> seen;
};

Carrier::Carrier(Session& session) : session_(session) {
  static const bool once = [] {
    register_carried_members();
    return true;
  }();
  (void)once;
}
Carrier::~Carrier() = default;

Carrier& carrier_of(Session& session) {
  if (!session.carrier) session.carrier = std::make_unique<Carrier>(session);
  return *session.carrier;
}

const FunctionEffects& Carrier::effects_of(const FunctionCode& code) {
  const std::shared_ptr<const void> tree =
      code.definition ? std::shared_ptr<const void>(code.definition) : std::shared_ptr<const void>(code.lambda);
  const auto found = effects_.find(tree.get());
  if (found != effects_.end()) return found->second.second;
  FunctionEffects effects = code.definition ? gasell::effects_of(std::get<ast::FunctionDef>(code.definition->node))
                                            : gasell::effects_of(std::get<ast::Lambda>(code.lambda->node));
  return effects_.emplace(tree.get(), std::pair(tree, std::move(effects))).first->second.second;
}

void Carrier::keep(const std::shared_ptr<UnpackedCode>& made) {
  if (made_.size() >= kMostKept) made_.clear();
  made_.emplace(made->code.get(), made);
}

void Carrier::forget() {
  if (!shown_ || shown_->code->lasting) return;
  for (const auto& [place, own] : shown_->variables) *place = Value::absent();
  shown_.reset();
}

Parcel Carrier::pack(const Value& value, std::vector<std::shared_ptr<Task>>* tasks) {
  Parcel parcel;
  Packing packing(*this, parcel);
  packing.tasks = tasks;
  parcel.root = packing.pack(value);
  parcel.code = packing.packed_code();
  return parcel;
}

std::shared_ptr<const Parcel> Carrier::pack_callable(const Value& function) {
  const auto found = function.is_object() ? kept_.find(function.object()) : kept_.end();
  if (found != kept_.end()) {
    const bool same = std::ranges::all_of(found->second->seen, [](const Packing::Seen& s) { return s.place->same(s.value); });
    if (same) return found->second->parcel;
    kept_.erase(found);
  }
  auto parcel = std::make_shared<Parcel>();
  Packing packing(*this, *parcel);
  parcel->root = packing.pack(function);
  const bool lasting = function.is_object() && packing.lasting && !parcel->may_change;
  if (const auto& code = packing.packed_code()) code->lasting = lasting;
  parcel->code = packing.packed_code();
  if (lasting) {
    if (kept_.size() >= kMostKept) kept_.clear();
    auto kept = std::make_shared<Kept>();
    kept->function = function;
    kept->parcel = parcel;
    kept->seen = std::move(packing.seen);
    kept_.emplace(function.object(), std::move(kept));
  }
  return parcel;
}

Value Carrier::unpack(const Parcel& parcel) {
  Unpacking unpacking(*this, parcel.code);
  return unpacking.value(parcel.root);
}

Value Carrier::open(Parcel parcel) { return parcel.plain ? std::move(parcel.root) : unpack(parcel); }

GlobalScope& Carrier::scope_of(const CarriedCode::Scope& scope) {
  if (scope.path.empty()) return *session_.main;
  const auto find = [&]() -> GlobalScope* {
    for (const auto& known : session_.scopes)
      if (known->library == scope.library && text_variable(*known, "__file__") == scope.path) return known.get();
    return nullptr;
  };
  if (GlobalScope* known = find()) return *known;
  if (scope.library && library_loader) {
    library_loader(session_.in, scope.path);
    if (GlobalScope* known = find()) return *known;
  }
  session_.scopes.push_back(std::make_unique<GlobalScope>());
  GlobalScope& made = *session_.scopes.back();
  made.library = scope.library;
  made.slot("__name__") = make_str(scope.name);
  made.slot("__file__") = make_str(scope.path);
  return made;
}

std::shared_ptr<const FunctionCode> Carrier::code_of(const FunctionText& text, GlobalScope& scope) {
  std::shared_ptr<const FunctionCode>& code = codes_[{tree_of(text), &scope}];
  if (!code) code = lower_again(session_, text, scope);
  return code;
}

// ---- names of the library ----

const Carrier::LibraryName* Carrier::library_name(const Value& object) {
  const auto known = library_names_.find(object.object());
  if (known != library_names_.end()) return &known->second.second;
  for (const auto& scope : session_.scopes) {
    if (!scope->library) continue;
    for (const std::string& name : scope->names()) {
      if (!scope->find(name)->same(object)) continue;
      return &library_names_.emplace(object.object(), std::pair(object, LibraryName{text_variable(*scope, "__file__"), name}))
                  .first->second.second;
    }
  }
  return nullptr;
}

Value Carrier::library_object(const LibraryName& name) {
  const Value* found = scope_of({name.path, "", true}).find(name.name);
  if (!found) raise("RuntimeError", name.name + " is not in " + name.path);
  return *found;
}

}  // namespace gasell
