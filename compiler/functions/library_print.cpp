// print in compiled functions.
#include "compiler/functions/library.h"
#include "compiler/functions/slots.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

class Printer {
 public:
  Printer(Lowering& l, Span at) : l_(l), at_(at) {}

  void text(const std::string& s) {
    auto& texts = l_.program().texts;
    texts.push_back(s);
    call("gasell_print_text", {constant_i64(static_cast<int64_t>(texts.size()) - 1)});
  }
  void end() { call("gasell_print_end", {}); }

  /// `inside`: of a tuple or a list, where texts have quotes.
  void value(const Value& given, bool inside) {
    const Value v = given.lazy ? l_.materialise(given, at_) : given;
    switch (v.type.kind) {
      case Kind::none: return text("None");
      case Kind::text: return text(inside ? "'" + v.type.text + "'" : v.type.text);
      case Kind::scalar: return number(v.scalar);
      case Kind::tuple:
        text(v.type.named ? v.type.named->name + "(" : "(");
        for (size_t k = 0; k < v.items.size(); ++k) {
          if (k) text(", ");
          if (v.type.named) text(v.type.named->fields[k] + "=");
          value(v.items[k], true);
        }
        return text(v.items.size() == 1 && !v.type.named ? ",)" : ")");
      case Kind::list: return list(v);
      case Kind::array: return array(v);
      case Kind::optional: {
        l_.code().open();
        value(v.items[0], inside);
        ir::Body there = l_.code().close();
        l_.code().open();
        text("None");
        ir::Body missing = l_.code().close();
        return l_.code().emit(ir::if_(v.present, std::move(there), std::move(missing)));
      }
      default: l_.unsupported(at_, "print of " + describe(v.type));
    }
  }

 private:
  void call(const char* function, std::vector<ExprRef> args) {
    args.insert(args.begin(), ir::address("context"));
    l_.code().emit(ir::call("", DType::i64, function, std::move(args)));
  }

  void number(const ExprRef& e) {
    const DType d = e->type;
    if (is_complex(d)) {
      call("gasell_print_complex", {ir::cast(ir::op(ScalarOp::real, {e}), DType::f64), ir::cast(ir::op(ScalarOp::imag, {e}), DType::f64)});
    } else if (is_float(d)) {
      call("gasell_print_float", {ir::cast(e, DType::f64)});
    } else if (d == DType::boolean) {
      call("gasell_print_bool", {e});
    } else {
      call("gasell_print_int", {ir::cast(e, DType::i64), constant_i64(kind(d) == 'u')});
    }
  }

  void list(const Value& v) {
    if (v.type.items.empty()) return text("[]");
    text("[");
    l_.for_each({l_.list_length(v)}, false, [&](const std::vector<ExprRef>& i) {
      l_.code().open();
      text(", ");
      ir::Body comma = l_.code().close();
      l_.code().emit(ir::if_(both(ScalarOp::gt, i[0], constant_i64(0)), std::move(comma), {}));
      value(l_.list_item(v, i[0], at_), true);
    });
    text("]");
  }

  /// Its elements go out as a copy, which is printed as arrays are.
  void array(const Value& v) {
    const Value copy = library_function("numpy.copy")(l_, {at_, "numpy.copy", {v}, {}});
    const std::string shape = l_.code().fresh("shape");
    l_.code().emit(ir::local_array(shape, DType::i64, std::max(v.type.rank, 1)));
    for (size_t k = 0; k < copy.extents().size(); ++k)
      l_.code().emit(ir::store(shape, constant_i64(static_cast<int64_t>(k)), copy.extents()[k]));
    call("gasell_print_array", {ir::address(copy.array->memory), constant_i64(static_cast<int64_t>(v.type.dtype)),
                                constant_i64(v.type.rank), ir::address(shape)});
  }

  Lowering& l_;
  Span at_;
};

Value print(Lowering& l, const CallSite& site) {
  if (l.program().options.cuda) l.unsupported(site.span, "print in a kernel", "write what you want to see into an array");
  if (!site.keywords.empty()) l.unsupported(site.span, "a keyword of print", "texts are constants: print them among the values");
  Printer printer(l, site.span);
  for (size_t k = 0; k < site.args.size(); ++k) {
    if (k) printer.text(" ");
    printer.value(site.args[k], false);
  }
  printer.end();
  return none_value();
}

}  // namespace

LibraryFunction printing_function(const std::string& path) {
  if (path == "print") return print;
  return nullptr;
}

}  // namespace gasell::functions
