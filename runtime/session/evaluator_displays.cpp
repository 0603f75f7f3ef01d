// Literals, f-strings, and the displays of tuples, lists, sets, dicts and slices.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/number.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

struct Constant final : Node {
  explicit Constant(Value v) : value(std::move(v)) {}
  Value evaluate(Frame&) const override { return value; }
  Value value;
};

/// Items of a display, in which `*x` stands for the items of x.
struct Items {
  struct Item {
    NodePtr value;
    bool starred;
  };
  std::vector<Item> items;

  std::vector<Value> evaluate(Frame& f) const {
    std::vector<Value> values;
    values.reserve(items.size());
    for (const Item& item : items) {
      Value v = item.value->evaluate(f);
      if (!item.starred) {
        values.push_back(std::move(v));
        continue;
      }
      f.at = item.value->span;
      if (!is_iterable(v)) raise("TypeError", "Value after * must be an iterable, not " + type_of(v).name);
      for (Value& inner : to_vector(f.in, v)) values.push_back(std::move(inner));
    }
    return values;
  }
};

Items lower_items(Lowering& l, const std::vector<ast::ExprRef>& expressions) {
  Items result;
  for (const ast::ExprRef& e : expressions) {
    const auto* starred = std::get_if<ast::Starred>(&e->node);
    result.items.push_back({lower(l, starred ? starred->value : e), starred != nullptr});
  }
  return result;
}

struct TupleNode final : Node {
  Value evaluate(Frame& f) const override { return make_tuple(items.evaluate(f)); }
  Items items;
};
struct ListNode final : Node {
  Value evaluate(Frame& f) const override { return make_list(items.evaluate(f)); }
  Items items;
};
struct SetNode final : Node {
  Value evaluate(Frame& f) const override {
    Value made = Value::make<Set>();
    std::vector<Value> values = items.evaluate(f);
    f.at = span;
    auto* set = static_cast<Set*>(made.object());
    for (const Value& v : values) set->insert(f.in, v);
    if (!constant || values.size() < 3) return made;
    // CPython folds a display of three or more constants to a frozenset, rebuilds that when it interns it, and updates an empty set with
    // it: the order of equal hashes and the size of the table come from there.
    Value folded = make_set(f.in, make_tuple(set->items()), true);
    return make_set(f.in, folded);
  }
  Items items;
  bool constant = false;
};

bool is_constant(const ast::Expr& e) {
  if (const auto* tuple = std::get_if<ast::Tuple>(&e.node)) {
    return std::all_of(tuple->items.begin(), tuple->items.end(), [](const ast::ExprRef& item) { return is_constant(*item); });
  }
  if (const auto* unary = std::get_if<ast::Unary>(&e.node)) return unary->op != ast::UnaryOp::logical_not && is_constant(*unary->operand);
  return std::holds_alternative<ast::IntLiteral>(e.node) || std::holds_alternative<ast::FloatLiteral>(e.node) ||
         std::holds_alternative<ast::BigIntLiteral>(e.node) || std::holds_alternative<ast::BytesLiteral>(e.node) ||
         std::holds_alternative<ast::StringLiteral>(e.node) || std::holds_alternative<ast::BoolLiteral>(e.node) ||
         std::holds_alternative<ast::NoneLiteral>(e.node) || std::holds_alternative<ast::EllipsisLiteral>(e.node);
}

struct DictNode final : Node {
  Value evaluate(Frame& f) const override {
    Value made = make_dict();
    auto* dict = static_cast<Dict*>(made.object());
    for (const auto& [key, value] : items) {
      if (!key) {
        Value other = value->evaluate(f);
        f.at = value->span;
        if (!other.as<Dict>()) raise("TypeError", fmt::format("'{}' object is not a mapping", type_of(other).name));
        dict->update(f.in, other);
        continue;
      }
      Value k = key->evaluate(f);
      Value v = value->evaluate(f);
      f.at = key->span;
      dict->insert(f.in, k, std::move(v));
    }
    return made;
  }
  std::vector<std::pair<NodePtr, NodePtr>> items;
};

struct SliceNode final : Node {
  Value evaluate(Frame& f) const override {
    if (constant && last.is_object() && last.object()->is_temporary()) return last;
    Value a = lower_bound ? lower_bound->evaluate(f) : Value();
    Value b = upper_bound ? upper_bound->evaluate(f) : Value();
    Value c = step ? step->evaluate(f) : Value();
    Value made = Value::make<SliceObject>(std::move(a), std::move(b), std::move(c));
    if (constant) last = made;
    return made;
  }
  NodePtr lower_bound, upper_bound, step;
  bool constant = false;
  mutable Value last;  // of a constant one: used again where nobody kept it
};

/// repr with every character beyond ASCII escaped.
std::string ascii(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    auto lead = static_cast<unsigned char>(text[i]);
    int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (more == 0) {
      result += text[i++];
      continue;
    }
    uint32_t code = lead & (0x3fu >> more);
    for (int k = 1; k <= more && i + static_cast<size_t>(k) < text.size(); ++k) {
      code = code << 6 | (static_cast<unsigned char>(text[i + static_cast<size_t>(k)]) & 0x3f);
    }
    result += code < 0x100     ? fmt::format("\\x{:02x}", code)
              : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                               : fmt::format("\\U{:08x}", code);
    i += static_cast<size_t>(more) + 1;
  }
  return result;
}

struct FormatParts {
  struct Part {
    std::string text;
    NodePtr value;  // null: text alone
    char conversion = 0;
    std::unique_ptr<FormatParts> spec;
  };
  std::vector<Part> parts;

  std::string evaluate(Frame& f) const {
    std::string result;
    for (const Part& part : parts) {
      result += part.text;
      if (!part.value) continue;
      Value v = part.value->evaluate(f);
      std::string spec = part.spec ? part.spec->evaluate(f) : "";
      f.at = part.value->span;
      switch (part.conversion) {
        case 'r': v = make_str(repr(f.in, v)); break;
        case 's': v = make_str(str(f.in, v)); break;
        case 'a': v = make_str(ascii(repr(f.in, v))); break;
        default: break;
      }
      result += format(f.in, v, spec);
    }
    return result;
  }
};

FormatParts lower_parts(Lowering& l, const std::vector<ast::FStringPart>& parts) {
  FormatParts result;
  for (const ast::FStringPart& part : parts) {
    FormatParts::Part lowered;
    lowered.text = part.value ? part.source_text : part.text;
    if (part.value) {
      lowered.value = lower(l, part.value);
      lowered.conversion = part.conversion;
      if (!part.spec.empty()) lowered.spec = std::make_unique<FormatParts>(lower_parts(l, part.spec));
      if (!part.source_text.empty() && part.conversion == 0 && part.spec.empty()) lowered.conversion = 'r';
    }
    result.parts.push_back(std::move(lowered));
  }
  return result;
}

struct FStringNode final : Node {
  Value evaluate(Frame& f) const override { return make_str(parts.evaluate(f)); }
  FormatParts parts;
};

template <class T>
NodePtr with_items(Lowering& l, const std::vector<ast::ExprRef>& items) {
  auto node = std::make_unique<T>();
  node->items = lower_items(l, items);
  return node;
}

NodePtr constant(Value v) { return std::make_unique<Constant>(std::move(v)); }

struct LowerDisplay {
  Lowering& l;
  NodePtr operator()(const ast::NoneLiteral&) const { return constant({}); }
  NodePtr operator()(const ast::EllipsisLiteral&) const { return constant(ellipsis()); }
  NodePtr operator()(const ast::BoolLiteral& v) const { return constant(Value::of(v.value)); }
  NodePtr operator()(const ast::IntLiteral& v) const { return constant(Value::of(v.value)); }
  NodePtr operator()(const ast::FloatLiteral& v) const {
    return constant(v.imaginary ? Value::make<Complex>(std::complex<double>(0, v.value)) : Value::of(v.value));
  }
  NodePtr operator()(const ast::BigIntLiteral& v) const { return constant(parse_integer(v.digits, 0)); }
  NodePtr operator()(const ast::BytesLiteral& v) const { return constant(make_bytes(v.value)); }
  NodePtr operator()(const ast::StringLiteral& v) const { return constant(make_str(v.value)); }
  NodePtr operator()(const ast::FString& v) const {
    auto node = std::make_unique<FStringNode>();
    node->parts = lower_parts(l, v.parts);
    return node;
  }
  NodePtr operator()(const ast::Tuple& v) const { return with_items<TupleNode>(l, v.items); }
  NodePtr operator()(const ast::List& v) const { return with_items<ListNode>(l, v.items); }
  NodePtr operator()(const ast::Set& v) const {
    auto node = std::make_unique<SetNode>();
    node->items = lower_items(l, v.items);
    node->constant = std::all_of(v.items.begin(), v.items.end(), [](const ast::ExprRef& item) { return is_constant(*item); });
    return node;
  }
  NodePtr operator()(const ast::Dict& v) const {
    auto node = std::make_unique<DictNode>();
    for (const auto& [key, value] : v.items) {
      NodePtr k = lower_optional(l, key);
      node->items.emplace_back(std::move(k), lower(l, value));
    }
    return node;
  }
  NodePtr operator()(const ast::Slice& v) const {
    auto node = std::make_unique<SliceNode>();
    node->lower_bound = lower_optional(l, v.lower);
    node->upper_bound = lower_optional(l, v.upper);
    node->step = lower_optional(l, v.step);
    node->constant = (!v.lower || is_constant(*v.lower)) && (!v.upper || is_constant(*v.upper)) && (!v.step || is_constant(*v.step));
    return node;
  }
  NodePtr operator()(const auto&) const { return nullptr; }
};

}  // namespace

const Value* constant_number(const Node& node) {
  const auto* constant = dynamic_cast<const Constant*>(&node);
  return constant && (constant->value.is_int() || constant->value.is_float()) ? &constant->value : nullptr;
}

NodePtr lower_display(Lowering& l, const ast::Expr& e) {
  NodePtr node = std::visit(LowerDisplay{l}, e.node);
  node->span = e.span;
  return node;
}

}  // namespace gasell
