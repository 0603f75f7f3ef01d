// Where ways of a program meet: variables that carry what differs between them.
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

/// Whether two values need no variable to become one.
bool same_value(const Value& a, const Value& b) {
  if (a.type != b.type) return false;
  switch (a.type.kind) {
    case Kind::scalar: return same(a.scalar, b.scalar);
    case Kind::array:
      return a.array && b.array && a.array->memory == b.array->memory && same(a.array->offset, b.array->offset) &&
             same(a.array->extents, b.array->extents) && same(a.array->strides, b.array->strides);
    case Kind::tuple:
    case Kind::range:
    case Kind::iterator:
    case Kind::slice:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                        [](const Value& x, const Value& y) { return same_value(x, y); });
    case Kind::list:
    case Kind::table:
    case Kind::generator: return a.array->memory == b.array->memory;
    case Kind::optional: return same(a.present, b.present) && same_value(a.items[0], b.items[0]);
    default: return true;
  }
}

}  // namespace

// ---- variables ----
Storage Lowering::declare(const Type& type, std::string_view stem) {
  Storage s{.type = type};
  auto variable = [&](ExprRef initial) {
    s.names.push_back(code().fresh(stem));
    code().emit(ir::var(s.names.back(), std::move(initial)));
  };
  switch (type.kind) {
    case Kind::scalar: variable(number_of(0, type.dtype)); break;
    case Kind::array:
      s.names.push_back(code().fresh(stem));
      code().emit(ir::pointer(s.names[0], type.dtype, ""));
      code().own(s.names[0]);
      for (int k = 0; k < 1 + type.rank * (type.layout == Layout::c ? 1 : 2); ++k) variable(constant_i64(0));
      break;
    case Kind::list:
    case Kind::table:
    case Kind::generator:
      s.names.push_back(code().fresh(stem));
      code().emit(ir::pointer(s.names[0], DType::i64, ""));
      code().own(s.names[0]);
      break;
    case Kind::tuple:
    case Kind::range:
    case Kind::iterator:
    case Kind::slice:
      for (const Type& item : type.items) s.items.push_back(declare(item, stem));
      break;
    case Kind::optional:
      variable(boolean(false));
      s.items.push_back(declare(type.items[0], stem));
      break;
    default: break;
  }
  return s;
}

namespace {

/// Calls f(pointer variable, memory) for every array in a value.
template <class F>
void each_array(const Storage& s, const Value& v, F&& f) {
  if (s.type.is_memory()) f(s, v);
  for (size_t k = 0; k < s.items.size() && k < v.items.size(); ++k) each_array(s.items[k], v.items[k], f);
}

}  // namespace

void Lowering::write(const std::vector<std::pair<const Storage*, Value>>& values) {
  for (const auto& [storage, value] : values)
    each_array(*storage, value, [&](const Storage&, const Value& v) { code().retain(v.array->memory); });
  for (const auto& [storage, value] : values)
    each_array(*storage, value, [&](const Storage& s, const Value&) { code().release(s.names[0]); });
  std::function<void(const Storage&, const Value&)> put = [&](const Storage& s, const Value& v) {
    switch (s.type.kind) {
      case Kind::scalar: code().emit(ir::assign(s.names[0], v.scalar)); break;
      case Kind::array: {
        const ArrayValue& a = *v.array;
        code().emit(ir::point(s.names[0], a.memory));
        program_.points.emplace(s.names[0], a.memory);
        size_t at = 1;
        code().emit(ir::assign(s.names[at++], a.offset));
        for (const ExprRef& e : a.extents) code().emit(ir::assign(s.names[at++], e));
        if (s.type.layout == Layout::any)
          for (const ExprRef& e : a.strides) code().emit(ir::assign(s.names[at++], e));
        break;
      }
      case Kind::list:
      case Kind::table:
      case Kind::generator:
        code().emit(ir::point(s.names[0], v.array->memory));
        program_.points.emplace(s.names[0], v.array->memory);
        break;
      case Kind::optional: code().emit(ir::assign(s.names[0], v.present)); [[fallthrough]];
      default:
        for (size_t k = 0; k < s.items.size() && k < v.items.size(); ++k) put(s.items[k], v.items[k]);
    }
  };
  for (const auto& [storage, value] : values) put(*storage, value);
}

Value Lowering::read(const Storage& s, std::string_view stem) {
  Value v;
  v.type = s.type;
  auto snapshot = [&](const std::string& name, DType type) { return code().snapshot(name, type, stem); };
  switch (s.type.kind) {
    case Kind::scalar: v.scalar = snapshot(s.names[0], s.type.dtype); break;
    case Kind::array: {
      ArrayValue a;
      a.memory = code().fresh(stem);
      code().emit(ir::pointer(a.memory, s.type.dtype, s.names[0]));
      program_.points.emplace(a.memory, s.names[0]);
      a.root = ArrayValue::kAnywhere;
      size_t at = 1;
      a.offset = snapshot(s.names[at++], DType::i64);
      for (int k = 0; k < s.type.rank; ++k) a.extents.push_back(snapshot(s.names[at++], DType::i64));
      if (s.type.layout == Layout::any)
        for (int k = 0; k < s.type.rank; ++k) a.strides.push_back(snapshot(s.names[at++], DType::i64));
      else
        a.strides = c_strides(a.extents);
      a.is_whole();
      v.array = std::make_shared<ArrayValue>(std::move(a));
      break;
    }
    case Kind::list:
    case Kind::table:
    case Kind::generator: {
      ArrayValue a;
      a.memory = code().fresh(stem);
      code().emit(ir::pointer(a.memory, DType::i64, s.names[0]));
      program_.points.emplace(a.memory, s.names[0]);
      a.root = ArrayValue::kAnywhere;
      v.array = std::make_shared<ArrayValue>(std::move(a));
      break;
    }
    case Kind::optional: v.present = snapshot(s.names[0], DType::boolean); [[fallthrough]];
    case Kind::tuple:
    case Kind::range:
    case Kind::iterator:
    case Kind::slice:
      for (const Storage& item : s.items) v.items.push_back(read(item, stem));
      break;
    default: {
      const Type type = v.type;
      v = s.constant;
      v.type = type;
    }
  }
  return v;
}

Value Lowering::convert(const Value& value, const Type& type) {
  if (value.type == type) {
    // Origins are no part of what makes types equal, and yet are to be known from here on.
    Value same_value = value;
    same_value.type = type;
    return same_value;
  }
  Value v = value;
  v.type = type;
  switch (type.kind) {
    case Kind::list:
    case Kind::table:
      // Lists are not converted: what it was made of learns what it has to hold.
      if (!type.items.empty()) need_items(value, type.items[0], value.span);
      break;
    case Kind::scalar: v.scalar = ir::cast(value.scalar, type.dtype); break;
    case Kind::tuple:
    case Kind::range:
    case Kind::iterator:
    case Kind::slice:
      for (size_t k = 0; k < v.items.size(); ++k) v.items[k] = convert(v.items[k], type.items[k]);
      break;
    case Kind::optional:
      if (value.type.is_none()) {
        v.present = boolean(false);
        // What stands for the missing item is never looked at.
        const Storage nothing = declare(type.items[0], "none");
        v.items = {read(nothing, "none")};
      } else if (value.type.kind == Kind::optional) {
        v.items = {convert(value.items[0], type.items[0])};
      } else {
        v.present = boolean(true);
        v.items = {convert(value, type.items[0])};
        v.scalar = nullptr, v.array = nullptr;
      }
      break;
    default: break;
  }
  return v;
}

// ---- joins ----
/// Notes that `name` needs to hold `type`, too; whether that changes anything.
bool Lowering::widen(const void* key, const std::string& name, const Type& type, Span at) {
  auto [known, fresh] = program_.found.try_emplace({key, instance_ + name}, type);
  if (fresh) return ++program_.widened, true;
  const auto both = unify(known->second, type);
  if (!both)
    fail(at,
         name.empty()
             ? "the function returns " + describe(known->second) + " in one place and " + describe(type) + " in another"
             : "'" + name + "' is " + describe(known->second) + " in one way through the program and " + describe(type) + " in another",
         "use another name for one of them, or convert one");
  const bool same_type = *both == known->second;
  known->second = *both;
  if (same_type) return false;
  return ++program_.widened, true;
}

void Lowering::carry(const Join& join) {
  if (code().dead()) return;
  std::vector<std::pair<const Storage*, Value>> values;
  for (const auto& [name, carried] : join.names) {
    const auto bound = env_.find(name);
    if (bound == env_.end()) continue;
    const Value& value = bound->second.value;
    if (!carried.storage || carried.storage->type != value.type) {
      const auto both = carried.storage ? unify(carried.storage->type, value.type) : std::nullopt;
      if (!both || *both != carried.storage->type) {
        if (widen(join.key, name, value.type, value.span)) again_ = true;
        continue;
      }
    }
    values.emplace_back(&*carried.storage, convert(value, carried.storage->type));
  }
  write(values);
  for (const auto& [name, carried] : join.names) {
    if (carried.defined.empty()) continue;
    const auto bound = env_.find(name);
    if (bound == env_.end()) continue;
    code().emit(ir::assign(carried.defined, bound->second.defined ? bound->second.defined : boolean(true)));
  }
}

void Lowering::enter(const Join& join) {
  for (const auto& [name, carried] : join.names) {
    if (!carried.storage) {
      env_.erase(name);
      continue;
    }
    Binding b;
    b.value = read(*carried.storage, name);
    if (!carried.defined.empty()) b.defined = code().snapshot(carried.defined, DType::boolean, "defined");
    env_[name] = std::move(b);
  }
}

void Lowering::leave(Exit& exit) {
  if (code().dead()) return;
  exit.used = true;
  code().release_down_to(exit.depth);
  code().emit(ir::leave(exit.scope));
  code().kill();
}

void Lowering::close_exit(const Exit& exit) {
  if (!exit.used) {
    code().splice();
    return;
  }
  ir::Body body = code().close();
  code().emit(ir::scope(exit.scope, std::move(body)));
}

void Lowering::merge_branches(const ExprRef& condition, const Names& names, Branch yes, Branch no) {
  struct Merged {
    std::string name;
    Storage storage;
    std::string defined;
  };
  const bool yes_dead = yes.block.dead, no_dead = no.block.dead;
  if (yes_dead != no_dead) {
    // What comes behind stands where the other branch goes on: its names are known there.
    Branch& left = yes_dead ? yes : no;
    Branch& stays = yes_dead ? no : yes;
    code().put(std::move(left.block));
    ir::Body body = code().close();
    code().emit(yes_dead ? ir::if_(condition, std::move(body), {}) : ir::if_(condition, {}, std::move(body)));
    code().put(std::move(stays.block));
    code().splice();
    env_ = std::move(stays.environment);
    return;
  }
  Environment& yes_env = yes.environment;
  Environment& no_env = no.environment;
  std::vector<Merged> carried;
  if (!yes_dead) {
    for (const std::string& name : names) {
      const auto a = yes_env.find(name), b = no_env.find(name);
      const bool has_a = a != yes_env.end(), has_b = b != no_env.end();
      if (!has_a && !has_b) continue;
      if (has_a && has_b && same_value(a->second.value, b->second.value) && same(a->second.defined, b->second.defined)) continue;
      const Type* type = nullptr;
      std::optional<Type> both;
      if (has_a && has_b) {
        both = unify(a->second.value.type, b->second.value.type);
        if (!both)
          fail(b->second.value.span,
               "'" + name + "' is " + describe(a->second.value.type) + " or " + describe(b->second.value.type) +
                   ", depending on a condition",
               "a name has one type where it is used after the `if`: use another name for one of them, or convert one");
        type = &*both;
      } else {
        type = has_a ? &a->second.value.type : &b->second.value.type;
      }
      carried.push_back({name, Storage{.type = *type}, ""});
      if (!has_a || !has_b || a->second.defined || b->second.defined) carried.back().defined = "?";
    }
  }
  for (Merged& m : carried) {
    m.storage = declare(m.storage.type, m.name);
    m.storage.constant = (yes_env.count(m.name) ? yes_env : no_env).at(m.name).value;
    if (!m.defined.empty()) {
      m.defined = code().fresh("defined");
      code().emit(ir::var(m.defined, boolean(false)));
    }
  }
  auto finish = [&](Code::Block block, const Environment& env) {
    code().put(std::move(block));
    if (!code().dead()) {
      std::vector<std::pair<const Storage*, Value>> values;
      for (const Merged& m : carried) {
        const auto bound = env.find(m.name);
        if (bound == env.end()) continue;
        values.emplace_back(&m.storage, convert(bound->second.value, m.storage.type));
      }
      write(values);
      for (const Merged& m : carried) {
        const auto bound = env.find(m.name);
        if (m.defined.empty() || bound == env.end()) continue;
        code().emit(ir::assign(m.defined, bound->second.defined ? bound->second.defined : boolean(true)));
      }
    }
    return code().close();
  };
  ir::Body yes_body = finish(std::move(yes.block), yes_env), no_body = finish(std::move(no.block), no_env);
  code().emit(ir::if_(condition, std::move(yes_body), std::move(no_body)));
  if (yes_dead) code().kill();
  env_ = std::move(yes_env);
  for (const Merged& m : carried) {
    Binding b;
    b.value = read(m.storage, m.name);
    if (!m.defined.empty()) b.defined = code().snapshot(m.defined, DType::boolean, "defined");
    env_[m.name] = std::move(b);
  }
}

void Lowering::loop(const ast::Stmt* key, const ast::Body& body, const ast::Body& orelse, const Names& targets,
                    const std::function<void(const Iteration& iteration, Exit& done)>& make) {
  const Liveness::Of& live = liveness_.statements.at(key);
  Names bound = assigned_names(body);
  bound.insert(targets.begin(), targets.end());
  const Names in_else = assigned_names(orelse);
  bound.insert(in_else.begin(), in_else.end());
  // x += … writes the elements of an array: the name stands for the same one.
  std::erase_if(bound, [&](const std::string& name) {
    const auto known = env_.find(name);
    return known != env_.end() && known->second.value.type.is_array() && !targets.count(name) && only_augmented(body, name) &&
           only_augmented(orelse, name);
  });
  const Environment before = env_;
  const bool around = again_;
  const Mark start = mark();
  const Names untyped = untyped_;
  const bool giving_up = giving_up_;
  for (;;) {
    again_ = false;
    const int widened = program_.widened;
    env_ = before;
    untyped_ = untyped;
    code().open();
    Join join{key, {}};
    std::vector<std::pair<const Storage*, Value>> initial;
    for (const std::string& name : bound) {
      if (!live.head.count(name) && !live.after.count(name)) continue;
      const auto known = before.find(name);
      if (known != before.end()) widen(key, name, known->second.value.type, known->second.value.span);
      Carried carried;
      const auto type = program_.found.find({key, instance_ + name});
      if (type != program_.found.end()) {
        carried.storage = declare(type->second, name);
        if (known != before.end()) carried.storage->constant = known->second.value;
      } else {
        untyped_.insert(name);
      }
      if (known == before.end() || known->second.defined) {
        carried.defined = code().fresh("defined");
        code().emit(ir::var(carried.defined, known == before.end() ? boolean(false) : known->second.defined));
      }
      join.names[name] = std::move(carried);
    }
    for (const auto& [name, carried] : join.names)
      if (const auto known = before.find(name); known != before.end())
        initial.emplace_back(&*carried.storage, convert(known->second.value, carried.storage->type));
    write(initial);
    Exit after{code().fresh("after"), code().depth()};
    code().open();
    Exit done{code().fresh("done"), code().depth()};
    code().open();
    make({[&] { enter(join); },
          [&] {
            Exit next{code().fresh("next"), code().depth()};
            code().open();
            loops_.push_back({&join, &after, &next});
            statements(body);
            loops_.pop_back();
            carry(join);
            close_exit(next);
          },
          [&] { carry(join); }},
         done);
    close_exit(done);
    if (!orelse.empty()) {
      enter(join);
      statements(orelse);
      carry(join);
    }
    const bool endless = code().dead();
    close_exit(after);
    if (!again_) {
      code().splice();
      again_ = around;
      untyped_ = untyped;
      giving_up_ = giving_up;
      env_ = before;
      for (const std::string& name : bound)
        if (!join.names.count(name)) env_.erase(name);
      if (!(endless && !after.used)) enter(join);
      return;
    }
    code().discard();
    forget_since(start);
    giving_up_ = giving_up || program_.widened == widened;
  }
}

}  // namespace gasell::functions
