// try, raise and with.
#include <fmt/format.h>

#include "runtime/session/generator.h"

namespace gasell {
namespace {

/// While a handler runs, its exception is the one that a bare `raise` raises again.
class Handling {
 public:
  Handling(Session& session, Value exception) : session_(session), outer_(std::exchange(session.handling, std::move(exception))) {}
  ~Handling() { session_.handling = std::move(outer_); }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

 private:
  Session& session_;
  Value outer_;
};

const Type* exception_class(const Value& v) {
  const auto* type = v.as<TypeObject>();
  return type && type->described.derives_from(*exception_type("BaseException")) ? &type->described : nullptr;
}

struct Handler {
  NodePtr type;  // null: catches all
  TargetPtr target;
  Block body;

  bool matches(Frame& f, const Value& exception) const {
    if (!type) return true;
    Value wanted = type->evaluate(f);
    f.at = type->span;
    auto matches_one = [&](const Value& v) {
      const Type* t = exception_class(v);
      if (!t) raise("TypeError", "catching classes that do not inherit from BaseException is not allowed");
      return is_instance(exception, *t);
    };
    const auto* several = wanted.as<Tuple>();
    if (!several) return matches_one(wanted);
    for (const Value& v : several->items) {
      if (matches_one(v)) return true;
    }
    return false;
  }
};

struct TryStatement final : StatementNode {
  Flow run(Frame& f) const override {
    if (finalbody.empty()) return run_guarded(f);
    Flow flow = Flow::next;
    Value exception = catching(f, flow, [&] { return run_guarded(f); });
    Value result = std::move(f.result);
    Flow last = Flow::next;
    if (exception.is_absent()) {
      last = run_block(finalbody, f);
    } else {
      Handling handling(f.session, exception);
      Value another = catching(f, last, [&] { return run_block(finalbody, f); });
      if (!another.is_absent()) return raise_quietly(f, std::move(another));
    }
    if (last != Flow::next) return last;  // a jump out of `finally` forgets the exception
    if (!exception.is_absent()) return raise_quietly(f, std::move(exception));
    f.result = std::move(result);
    return flow;
  }

  Flow run_guarded(Frame& f) const {
    if (handlers.empty()) return run_block(body, f);
    Flow flow = Flow::next;
    Value exception = catching(f, flow, [&] { return run_block(body, f); });
    if (exception.is_absent()) return flow == Flow::next ? run_block(orelse, f) : flow;
    Handling handling(f.session, exception);
    for (const Handler& handler : handlers) {
      if (!handler.matches(f, exception)) continue;
      if (handler.target) handler.target->assign(f, exception);
      Value again = catching(f, flow, [&] { return run_block(handler.body, f); });  // caught while `handling` is set: that is its context
      if (handler.target) handler.target->assign(f, Value::absent());               // the name goes with the handler
      if (!again.is_absent()) return raise_quietly(f, std::move(again));
      return flow;
    }
    return raise_quietly(f, std::move(exception));
  }

  Block body, orelse, finalbody;
  std::vector<Handler> handlers;
};

struct RaiseStatement final : StatementNode {
  Flow run(Frame& f) const override {
    if (!exception) {
      f.at = span;
      if (f.session.handling.is_none()) raise("RuntimeError", "No active exception to reraise");
      return raise_quietly(f, f.session.handling);
    }
    Value raised = instance(f, exception->evaluate(f), "exceptions must derive from BaseException");
    auto& object = static_cast<Exception&>(*raised.object());
    if (cause) {
      Value from = cause->evaluate(f);
      if (from.is_none()) {
        object.cause = Value();
      } else {
        object.cause = instance(f, from, "exception causes must derive from BaseException");
      }
      object.suppress_context = true;
    }
    set_context(object, f.session.handling);
    if (f.code.globals->library && is_instance(raised, *exception_type("NotImplementedError"))) object.blame = Blame::limitation;
    f.at = span;
    return raise_quietly(f, std::move(raised));
  }

  Value instance(Frame& f, Value v, const char* otherwise) const {
    f.at = span;
    if (exception_class(v)) v = call(f.in, v, {});
    if (!v.as<Exception>()) raise("TypeError", otherwise);
    return v;
  }

  NodePtr exception, cause;
};

struct WithStatement final : StatementNode {
  Flow run(Frame& f) const override {
    const Value manager = context->evaluate(f);
    Value entered = enter(f, manager);
    Flow flow = Flow::next;
    Value exception = catching(f, flow, [&] {
      if (target) target->assign(f, std::move(entered));
      return run_block(body, f);
    });
    return leave(f, manager, std::move(exception), flow);
  }

  Value enter(Frame& f, const Value& manager) const {
    f.at = context->span;
    if (!manager.is_object())
      raise("TypeError", fmt::format("'{}' object does not support the context manager protocol", type_of(manager).name));
    return manager.object()->enter(f.in);
  }

  /// `exception`: what the body raised, or absent.
  Flow leave(Frame& f, const Value& manager, Value exception, Flow flow) const {
    if (exception.is_absent()) {
      Value result = std::move(f.result);
      f.at = context->span;
      manager.object()->exit(f.in, Value());
      f.result = std::move(result);
      return flow;
    }
    bool swallowed;
    {
      Handling handling(f.session, exception);
      swallowed = manager.object()->exit(f.in, exception);
    }
    if (!swallowed) return raise_quietly(f, std::move(exception));
    return Flow::next;
  }
  NodePtr context;
  TargetPtr target;
  Block body;
};

void fill_try(Lowering& l, const ast::Try& t, TryStatement& node) {
  node.body = lower_block(l, t.body);
  for (const ast::ExceptHandler& h : t.handlers) {
    Handler handler;
    handler.type = lower_optional(l, h.type);
    if (!h.name.empty()) handler.target = lower_name_target(l, h.name, h.binding, h.span);
    handler.body = lower_block(l, h.body);
    node.handlers.push_back(std::move(handler));
  }
  node.orelse = lower_block(l, t.orelse);
  node.finalbody = lower_block(l, t.finalbody);
}

StatementPtr lower_with(Lowering& l, const ast::With& with, size_t item) {
  auto node = std::make_unique<WithStatement>();
  node->span = with.items[item].context->span;
  node->context = lower(l, with.items[item].context);
  if (with.items[item].target) node->target = lower_target(l, with.items[item].target);
  if (item + 1 < with.items.size()) {
    node->body.push_back(lower_with(l, with, item + 1));
  } else {
    node->body = lower(l, with.body);
  }
  return node;
}

// ---- of generators ----

/// at: 1 in the body, 2 in `else`, 3 in `finally`, kHandler + k in handler k. The point keeps the exception that is handled or waits for
/// the end of `finally`, and how the body ended.
struct ResumableTry final : StatementNode {
  static constexpr int32_t kHandler = 4;

  Flow run(Frame& f) const override {
    ResumePoint& point = point_of(f, this->point);
    const int32_t from = std::exchange(point.at, 0);
    if (parts.finalbody.empty()) return run_guarded(f, point, from);
    if (from != 3) {
      Flow flow = Flow::next;
      Value exception = catching(f, flow, [&] { return run_guarded(f, point, from); });
      if (exception.is_absent() && flow == Flow::yield_value) return flow;
      point.value = std::move(exception);
      point.result = std::move(f.result);
      point.flow = flow;
    }
    return run_final(f, point);
  }

  Flow run_final(Frame& f, ResumePoint& point) const {
    Value exception = std::exchange(point.value, Value()), result = std::exchange(point.result, Value());
    Flow last = Flow::next;
    if (exception.is_absent()) {
      last = run_block(parts.finalbody, f);
    } else {
      const Handling handling(f.session, exception);
      Value another = catching(f, last, [&] { return run_block(parts.finalbody, f); });
      if (!another.is_absent()) return raise_quietly(f, std::move(another));
    }
    if (last == Flow::yield_value) {
      point.at = 3;
      point.value = std::move(exception);
      point.result = std::move(result);
    }
    if (last != Flow::next) return last;
    if (!exception.is_absent()) return raise_quietly(f, std::move(exception));
    f.result = std::move(result);
    return point.flow;
  }

  Flow run_guarded(Frame& f, ResumePoint& point, int32_t from) const {
    if (from >= kHandler) return run_handler(f, point, from - kHandler, std::exchange(point.value, Value()), true);
    Flow flow = Flow::next;
    if (from != 2) {
      Value exception = catching(f, flow, [&] { return run_block(parts.body, f); });
      if (!exception.is_absent()) {
        const Handling handling(f.session, exception);
        for (size_t k = 0; k < parts.handlers.size(); ++k) {
          if (parts.handlers[k].matches(f, exception)) return run_handler(f, point, static_cast<int32_t>(k), exception, false);
        }
        return raise_quietly(f, std::move(exception));
      }
      if (flow == Flow::yield_value) point.at = 1;
      if (flow != Flow::next) return flow;
    }
    flow = run_block(parts.orelse, f);
    if (flow == Flow::yield_value) point.at = 2;
    return flow;
  }

  Flow run_handler(Frame& f, ResumePoint& point, int32_t k, Value exception, bool resumes) const {
    const Handler& handler = parts.handlers[static_cast<size_t>(k)];
    const Handling handling(f.session, exception);
    if (handler.target && !resumes) handler.target->assign(f, exception);
    Flow flow = Flow::next;
    Value again = catching(f, flow, [&] { return run_block(handler.body, f); });
    if (again.is_absent() && flow == Flow::yield_value) {
      point.at = kHandler + k;
      point.value = std::move(exception);
      return flow;
    }
    if (handler.target) handler.target->assign(f, Value::absent());
    if (!again.is_absent()) return raise_quietly(f, std::move(again));
    return flow;
  }

  int point = 0;
  TryStatement parts;
};

/// at: 1 in the body.
struct ResumableWith final : StatementNode {
  Flow run(Frame& f) const override {
    ResumePoint& point = point_of(f, this->point);
    const bool resumes = std::exchange(point.at, 0) == 1;
    Value manager = resumes ? std::exchange(point.value, Value()) : parts.context->evaluate(f);
    Value entered = resumes ? Value() : parts.enter(f, manager);
    Flow flow = Flow::next;
    Value exception = catching(f, flow, [&] {
      if (parts.target && !resumes) parts.target->assign(f, std::move(entered));
      return run_block(parts.body, f);
    });
    if (exception.is_absent() && flow == Flow::yield_value) {
      point.at = 1;
      point.value = std::move(manager);
      return flow;
    }
    return parts.leave(f, manager, std::move(exception), flow);
  }
  int point = 0;
  WithStatement parts;
};

StatementPtr lower_resumable_with(Lowering& l, const ast::With& with, size_t item) {
  Block before;
  auto node = std::make_unique<ResumableWith>();
  node->point = new_resume_point(l);
  node->span = with.items[item].context->span;
  node->parts.context = lower(l, without_yields(l, with.items[item].context, before));
  if (with.items[item].target) node->parts.target = lower_target(l, with.items[item].target);
  if (item + 1 < with.items.size()) {
    node->parts.body.push_back(lower_resumable_with(l, with, item + 1));
  } else {
    node->parts.body = lower_block(l, with.body);
  }
  return sequence(l, std::move(before), std::move(node));
}

}  // namespace

StatementPtr lower_resumable_try(Lowering& l, const ast::Stmt& s) {
  l.code.cleans_up = true;
  if (const auto* with = std::get_if<ast::With>(&s.node)) return lower_resumable_with(l, *with, 0);
  auto node = std::make_unique<ResumableTry>();
  node->span = s.span;
  node->point = new_resume_point(l);
  fill_try(l, std::get<ast::Try>(s.node), node->parts);
  return node;
}

StatementPtr lower_try(Lowering& l, const ast::Stmt& s) {
  if (const auto* with = std::get_if<ast::With>(&s.node)) return lower_with(l, *with, 0);
  if (const auto* raised = std::get_if<ast::Raise>(&s.node)) {
    auto node = std::make_unique<RaiseStatement>();
    node->exception = lower_optional(l, raised->exception);
    node->cause = lower_optional(l, raised->cause);
    return node;
  }
  auto node = std::make_unique<TryStatement>();
  fill_try(l, std::get<ast::Try>(s.node), *node);
  return node;
}

}  // namespace gasell
