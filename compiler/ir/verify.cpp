// The legality of loop IR; docs/loop_ir.md lists the same rules.
#include <set>
#include <unordered_map>

#include "compiler/ir/simt.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"
#include "lang/diagnostic.h"

namespace gasell::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (const Parameter& p : kernel_.params) {
      const Kind kind = p.kind == Parameter::Kind::scalar ? Kind::scalar : p.kind == Parameter::Kind::in ? Kind::array_in : Kind::array;
      require(p.kind != Parameter::Kind::any || kernel_.function, "only compiled functions have parameters of kind any", p.name);
      declare(p.name, {kind, p.type});
    }
    require(kernel_.threads >= 0 && kernel_.threads % 32 == 0, "a block has whole warps", kernel_.name);
    body(kernel_.body, true);
    stores_through_pointers();
  }

 private:
  enum class Kind : uint8_t { scalar, variable, array_in, array, pointer, scope };
  /// Who runs a place of a kernel mapped to a grid.
  enum class Level : uint8_t { block, group, thread };
  struct Symbol {
    Kind kind;
    DType type;
    Level level = Level::block;
    int spread = 0;  // of a scope: spread_ where it begins
  };

  [[noreturn]] void broken(const std::string& rule, const std::string& where) const {
    throw Error("SystemError", "loop IR of kernel " + kernel_.name + ": " + rule + " (at " + where + ")", "", Blame::internal);
  }
  void require(bool ok, const char* rule, const std::string& where) const {
    if (!ok) broken(rule, where);
  }

  void declare(const std::string& name, Symbol symbol) {
    require(!name.empty(), "a name is not empty", "a declaration");
    require(symbols_.emplace(name, symbol).second, "a name is declared once where it is visible", name);
    scope_.push_back(name);
  }
  const Symbol& lookup(const std::string& name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) broken("a name is declared before it is used", name);
    return found->second;
  }

  void body(const Body& statements, bool outermost) {
    const size_t mark = scope_.size();
    int units = 0;
    bool left = false;
    for (const StmtRef& s : statements) {
      require(!left, "nothing stands behind a leave or a raise", print_head(*s));
      left = s->kind == StmtKind::leave || s->kind == StmtKind::raise;
      if (s->kind == StmtKind::loop && s->loop_kind == LoopKind::unit) {
        require(outermost, "a unit loop stands outermost", s->name);
        require(++units == 1, "a kernel has one unit loop at most", s->name);
      }
      statement(*s);
    }
    for (; scope_.size() > mark; scope_.pop_back()) symbols_.erase(scope_.back());
  }

  void statement(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::let:
      case StmtKind::var:
        expression(s.value);
        require(s.value->type == s.type, "a value has the type of its name", s.name);
        declare(s.name, {s.kind == StmtKind::let ? Kind::scalar : Kind::variable, s.type, level()});
        break;
      case StmtKind::assign: {
        expression(s.value);
        const Symbol& target = lookup(s.name);
        require(target.kind == Kind::variable, "only a var is assigned", s.name);
        require(target.type == s.value->type, "a value has the type of its name", s.name);
        require(target.level == level(), "a var is assigned by all threads that have it", s.name);
        break;
      }
      case StmtKind::local_array:
        require(s.size > 0 || (kernel_.simt && s.size == 0 && s.space == Space::block), "a local array has a size", s.name);
        require(kernel_.simt ? s.space != Space::warp : (s.space == Space::automatic) == (kernel_.threads == 0 || within_),
                "outside of threads the local arrays of a kernel mapped to a grid are a warp's or a block's", s.name);
        declare(s.name, {Kind::array, s.type});
        break;
      case StmtKind::store: {
        expression(s.index);
        expression(s.value, kernel_.function);
        const Symbol& target = lookup(s.name);
        stored_.insert(s.name);
        require(target.kind == Kind::array || target.kind == Kind::pointer, "stores go to out parameters and local arrays", s.name);
        require(target.type == s.value->type, "a stored value has the array's type", s.name);
        require(kernel_.threads == 0 || within_, "what a block or a warp stores, one of its threads does", s.name);
        require(s.index->type == DType::i64, "an index is i64", s.name);
        break;
      }
      case StmtKind::loop: {
        expression(s.begin);
        expression(s.end);
        require(s.begin->type == DType::i64 && s.end->type == DType::i64, "loop bounds are i64", s.name);
        mapping(s);
        const size_t mark = scope_.size();
        declare(s.name, {Kind::scalar, DType::i64});
        const bool outside = within_;
        const ExprRef around = across_;
        const int spread = spread_;
        within_ = within_ || s.loop_kind == LoopKind::within;
        if (s.loop_kind == LoopKind::across) across_ = s.width;
        spread_ += s.loop_kind != LoopKind::serial;
        body(s.body, false);
        spread_ = spread;
        within_ = outside;
        across_ = around;
        symbols_.erase(scope_[mark]);
        scope_.resize(mark);
        break;
      }
      case StmtKind::if_:
      case StmtKind::while_:
        expression(s.value);
        require(s.value->type == DType::boolean, "a condition is boolean", print(s.value));
        body(s.body, false);
        body(s.orelse, false);
        break;
      case StmtKind::barrier:
        require(kernel_.threads > 0 && !within_, "a barrier stands where all threads come", "a barrier");
        require(s.space == Space::warp || s.space == Space::block, "a barrier is a warp's or a block's", "a barrier");
        require(!across_ || s.space == Space::warp, "a block's barrier stands where the whole block comes", "a barrier");
        require(!across_ || (across_->kind == ExprKind::constant && across_->value.i % 32 == 0),
                "a warp's barrier stands where whole warps come", "a barrier");
        break;
      case StmtKind::prefetch:
        expression(s.index);
        require(s.index->type == DType::i64, "an index is i64", s.name);
        require(std::any_of(kernel_.params.begin(), kernel_.params.end(),
                            [&](const Parameter& p) { return p.name == s.name && p.kind != Parameter::Kind::scalar; }),
                "a prefetch is of an array among the parameters", s.name);
        break;
      default: of_function(s);
    }
  }

  /// The statements of compiled functions.
  void of_function(const Stmt& s) {
    require(kernel_.function, "only compiled functions have this statement", print_head(s));
    require(kernel_.threads == 0 || within_, "a kernel mapped to a grid has the statements of functions within threads only",
            print_head(s));
    for (const ExprRef& e : expressions_of(s)) expression(e, s.kind == StmtKind::call);
    switch (s.kind) {
      case StmtKind::scope: {
        const size_t mark = scope_.size();
        if (s.catches) parameter("error", DType::i64);
        declare(s.name, {Kind::scope, DType::i64, level(), spread_});
        body(s.body, false);
        symbols_.erase(scope_[mark]);
        scope_.resize(mark);
        break;
      }
      case StmtKind::leave: {
        const Symbol& target = lookup(s.name);
        require(target.kind == Kind::scope, "a leave names a scope it stands in", s.name);
        require(target.spread == spread_, "a leave stays within the iteration of a loop whose iterations are independent", s.name);
        break;
      }
      case StmtKind::raise:
        require(s.size > 0, "a site is a number from 1", print_head(s));
        require(s.args.size() <= 3, "an error has three values at most", print_head(s));
        for (const ExprRef& a : s.args) require(a->type == DType::i64, "an error's values are i64", print_head(s));
        parameter("error", DType::i64);
        break;
      case StmtKind::check:
        require(s.size > 0, "a site is a number from 1", print_head(s));
        require(s.value->type == DType::i64 && s.end->type == DType::i64, "an index is i64", s.name);
        parameter("error", DType::i64);
        declare(s.name, {Kind::scalar, DType::i64, level()});
        break;
      case StmtKind::allocate:
        require(s.size > 0, "a site is a number from 1", print_head(s));
        require(s.index->type == DType::i64, "a number of elements is i64", s.name);
        require(kernel_.threads == 0 && !kernel_.simt, "a kernel of a grid's threads allocates nothing", s.name);
        parameter("error", DType::i64);
        parameter("context", DType::u8);
        declare(s.name, {Kind::array, s.type, level()});
        break;
      case StmtKind::pointer: {
        if (!s.source.empty()) require(array(s.source).type == s.type, "a pointer has its array's type", s.name);
        if (s.value) {
          require(s.value->type == DType::i64 && s.source.empty(), "an address is an i64", s.name);
          require(kernel_.threads == 0 && !kernel_.simt, "a kernel of a grid's threads has no addresses", s.name);
        }
        points_.emplace_back(s.name, s.source);
        declare(s.name, {Kind::pointer, s.type, level()});
        break;
      }
      case StmtKind::point: {
        const Symbol &target = lookup(s.name), &source = array(s.source);
        require(target.kind == Kind::pointer, "only a pointer is pointed elsewhere", s.name);
        require(source.type == target.type, "a pointer has its array's type", s.name);
        points_.emplace_back(s.name, s.source);
        require(target.level == level(), "a pointer is set by all threads that have it", s.name);
        break;
      }
      case StmtKind::call:
        require(kernel_.threads == 0 && !kernel_.simt, "a kernel of a grid's threads calls nothing", s.source);
        require(!s.source.empty(), "a call has a function", s.name);
        for (const ExprRef& a : s.args) require(!is_complex(a->type), "a call's arguments and its result are no complex numbers", s.source);
        require(!is_complex(s.type), "a call's arguments and its result are no complex numbers", s.source);
        if (!s.name.empty()) declare(s.name, {Kind::scalar, s.type, level()});
        break;
      case StmtKind::poll:
        parameter("error", DType::i64);
        if (!kernel_.simt) parameter("interrupt", DType::u8);
        break;
      case StmtKind::atomic: {
        require(kernel_.simt, "atomic statements are of kernels of threads", s.name);
        const Symbol& target = array(s.source);
        if (s.operation != "load") stored_.insert(s.source);
        require(target.kind != Kind::array_in || s.operation == "load", "what is changed at once is written", s.source);
        require(target.type == s.type && !is_complex(s.type) && s.type != DType::boolean,
                "an element that is changed at once is a number of the array's type", s.name);
        require(s.index->type == DType::i64, "an index is i64", s.name);
        require(s.args.size() == (s.operation == "cas"    ? 2
                                  : s.operation == "load" ? 0
                                                          : 1),
                "an operation has its number of operands", s.name);
        for (const ExprRef& a : s.args) require(a->type == s.type, "operands have the element's type", s.name);
        declare(s.name, {Kind::scalar, s.type, level()});
        break;
      }
      case StmtKind::simt:
        require(kernel_.simt, "what threads know and do together, kernels of threads do", s.source);
        require(find_simt_function(s.source) != nullptr, "a function of threads is one of simt.h's", s.source);
        if (!s.name.empty()) declare(s.name, {Kind::scalar, s.type, level()});
        break;
      default: broken("a statement is one of those there are", print_head(s));
    }
  }

  void parameter(const char* name, DType type) const {
    for (const Parameter& p : kernel_.params)
      if (p.name == name && p.kind == Parameter::Kind::any && p.type == type) return;
    broken("a function has the parameters that its statements need", name);
  }

  const Symbol& array(const std::string& name) const {
    const Symbol& symbol = lookup(name);
    require(is_array(symbol), "only arrays are pointed to and have addresses", name);
    return symbol;
  }
  /// No pointer that is stored through may stand for an array that is only read.
  void stores_through_pointers() {
    for (bool more = true; more;) {
      more = false;
      for (const auto& [pointer, source] : points_)
        if (stored_.count(pointer)) more |= stored_.insert(source).second;
    }
    for (const Parameter& p : kernel_.params)
      require(p.kind != Parameter::Kind::in || !stored_.count(p.name),
              "a pointer that is stored through never points to an array that is only read", p.name);
  }
  static bool is_written(const Symbol& s) { return s.kind == Kind::array || s.kind == Kind::pointer; }
  static bool is_array(const Symbol& s) { return is_written(s) || s.kind == Kind::array_in; }

  /// What kinds of loops a kernel may have, mapped to a grid or not.
  void mapping(const Stmt& s) {
    const bool grouped = s.loop_kind == LoopKind::across || s.loop_kind == LoopKind::within;
    require(grouped == (s.width != nullptr), "loops over groups of threads have a width, others none", s.name);
    if (grouped) {
      require(kernel_.threads > 0, "only kernels mapped to a grid have loops over groups of threads", s.name);
      require(!within_, "a thread runs no loop over groups of threads", s.name);
      expression(s.width);
      require(s.width->type == DType::i64, "a width is i64", s.name);
      if (s.loop_kind == LoopKind::across)
        require(!across_, "groups of threads have no groups", s.name);
      else
        require(print(s.width) == (across_ ? print(across_) : std::to_string(kernel_.threads)),
                "a loop over threads is as wide as their group", s.name);
    } else if (kernel_.threads > 0 && !within_) {
      require(s.loop_kind == LoopKind::serial || s.loop_kind == LoopKind::unit,
              "a kernel mapped to a grid has no simd and team loops but within a thread", s.name);
    }
  }

  void expression(const ExprRef& e, bool argument = false) {
    for (const ExprRef& a : e->args) expression(a);
    switch (e->kind) {
      case ExprKind::constant: require(e->value.type == e->type, "a constant has its value's type", print(e)); break;
      case ExprKind::variable: {
        const Symbol& symbol = lookup(e->name);
        require(symbol.kind == Kind::scalar || symbol.kind == Kind::variable, "an array is read by index", e->name);
        require(symbol.type == e->type, "a name is used with its type", e->name);
        break;
      }
      case ExprKind::load: {
        const Symbol& symbol = lookup(e->name);
        require(is_array(symbol), "only arrays are indexed", e->name);
        require(symbol.type == e->type, "an array is read with its type", e->name);
        require(e->args[0]->type == DType::i64, "an index is i64", print(e));
        break;
      }
      case ExprKind::op: {
        const size_t first = e->op == ScalarOp::select ? 1 : 0;
        require(static_cast<int>(e->args.size()) == info(e->op).arity, "an operation has its number of operands", print(e));
        for (size_t k = first + 1; k < e->args.size(); ++k)
          require(e->args[k]->type == e->args[first]->type, "operands have one type", print(e));
        require(accepts(e->op, e->args[first]->type), "an operation takes its operands' type", print(e));
        require(e->type == result_type(e->op, e->args[first]->type), "an operation has its result type", print(e));
        break;
      }
      case ExprKind::cast:
      case ExprKind::bitcast: require(e->args.size() == 1, "a conversion has one operand", print(e)); break;
      case ExprKind::address:
        require(argument, "an address is an argument of a call, or stored", print(e));
        array(e->name);
        break;
    }
  }

  Level level() const { return within_ ? Level::thread : across_ ? Level::group : Level::block; }

  const Kernel& kernel_;
  bool within_ = false;  // a loop whose iterations are threads'
  int spread_ = 0;       // the loops around whose iterations are independent
  ExprRef across_;       // the width of the loop around whose iterations are groups'
  std::unordered_map<std::string, Symbol> symbols_;
  std::vector<std::string> scope_;
  std::vector<std::pair<std::string, std::string>> points_;
  std::set<std::string> stored_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace gasell::ir
