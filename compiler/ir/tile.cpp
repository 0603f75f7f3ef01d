#include "compiler/ir/tile.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/polynomial.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

class Tiling {
 public:
  Tiling(const Body& statements, const TileShape& shape, const std::function<bool(const std::string&)>& is_fixed)
      : statements_(statements),
        shape_(shape),
        is_fixed_(is_fixed),
        row_(polynomials_.add_counter(shape.row)),
        column_(polynomials_.add_counter(shape.column)) {}

  /// What the tile reads, without its code.
  std::optional<Tile> measure(bool keeps) {
    if (!note_indices()) return std::nullopt;
    for (int64_t k = 0; k < shape_.rows; ++k)
      for (int64_t c = 0; c < shape_.columns; ++c)
        for (Load& load : loads_)
          if (!element(load, k, c)) return std::nullopt;
    if (keeps) keep();
    return tile_;
  }

  void emit(Tile& tile) {
    put_neighbours_together();
    emit_loads();
    if (shape_.prefetches) emit_prefetches();
    iterations();
    emit_next();
    tile = std::move(tile_);
  }

 private:
  /// An element of memory that the tile reads: its array, by number, and where it lies relative to the tile's beginning.
  using Place = std::pair<size_t, Polynomial>;
  struct Element {
    DType type;
    ExprRef value;                                     // its name in the tile
    std::pair<const Place, Element>* below = nullptr;  // what is there in the tile below, where that is read here, too
    bool is_below = false;
    bool kept() const { return below != nullptr; }  // a var, which the tile above read
  };
  struct Load {
    const Expr* expression;
    size_t array;
    Polynomial index;
    std::vector<Element*> elements;  // by row and column of the tile
  };

  /// The polynomials of all indices; false where there is one that is none, or a statement that a tile cannot have.
  bool note_indices() {
    std::set<std::string> written;
    bool stores = false;
    for (const StmtRef& s : statements_) {
      if (s->kind != (stores ? StmtKind::store : s->kind) || (s->kind != StmtKind::let && s->kind != StmtKind::store)) return false;
      stores = s->kind == StmtKind::store;
      for (const ExprRef& e : expressions_of(*s))
        if (!note_loads(e)) return false;
      if (stores) {
        auto index = polynomials_.of(s->index);
        if (!index) return false;
        stores_.push_back(std::move(*index));
        written.insert(s->name);
        tile_.widest = std::max<int64_t>(tile_.widest, gasell::size_of(s->value->type));
      } else {
        polynomials_.define(s->name, s->value);
      }
    }
    return stores && std::none_of(arrays_.begin(), arrays_.end(), [&](const std::string& array) { return written.count(array) > 0; });
  }

  bool note_loads(const ExprRef& e) {
    if (e->kind == ExprKind::address) return false;
    if (e->kind == ExprKind::load) {
      if (load_of_.count(e.get())) return true;
      auto index = polynomials_.of(e->args[0]);
      if (!index || !is_fixed_(e->name)) return false;
      const auto array = static_cast<size_t>(std::find(arrays_.begin(), arrays_.end(), e->name) - arrays_.begin());
      if (array == arrays_.size()) arrays_.push_back(e->name);
      load_of_.emplace(e.get(), loads_.size());
      loads_.push_back({e.get(), array, std::move(*index), {}});
      return true;
    }
    return std::all_of(e->args.begin(), e->args.end(), [&](const ExprRef& a) { return note_loads(a); });
  }

  std::optional<Polynomial> moved(const Polynomial& index, int64_t rows, int64_t columns) const {
    auto result = rows ? shifted(index, row_, rows) : index;
    return result && columns ? shifted(*result, column_, columns) : result;
  }

  bool element(Load& load, int64_t row, int64_t column) {
    auto index = moved(load.index, row, column);
    if (!index) return false;
    const auto [found, fresh] = elements_.try_emplace(Place{load.array, std::move(*index)}, Element{load.expression->type, nullptr});
    if (fresh) order_.push_back(&*found);
    load.elements.push_back(&found->second);
    ++tile_.loads_apart;
    return true;
  }

  void keep() {
    for (auto* at : order_) {
      auto index = moved(at->first.second, shape_.rows, 0);
      if (!index || *index == at->first.second) continue;
      const auto found = elements_.find({at->first.first, std::move(*index)});
      if (found == elements_.end()) continue;
      at->second.below = &*found;
      found->second.is_below = true;
    }
    for (auto* at : order_) {
      tile_.loads += !at->second.kept();
      tile_.kept += at->second.kept();
      tile_.bytes += std::max<int64_t>(4, gasell::size_of(at->second.type));
      tile_.widest = std::max<int64_t>(tile_.widest, gasell::size_of(at->second.type));
    }
  }

  /// Where a tile's first place of a kind lies: a var that goes on from tile to tile, which takes an addition rather than products.
  class Roots {
   public:
    Roots(const Polynomials& polynomials, const TileShape& shape, int row, Tile& tile)
        : polynomials_(polynomials), shape_(shape), row_(row), tile_(tile) {}

    /// None where the place is the same in all rows, or tiles do not follow each other.
    ExprRef of(const Polynomial& place) {
      const auto known = roots_.find(place);
      if (known != roots_.end()) return known->second;
      const auto below = shape_.first_row ? shifted(place, row_, shape_.rows) : std::nullopt;
      if (!below || *below == place) return nullptr;
      const ExprRef root = variable("root" + std::to_string(roots_.size()) + shape_.own, DType::i64);
      tile_.first.push_back(var(root->name, polynomials_.expression(place, {shape_.first_row, shape_.column_at})));
      const Polynomial step = difference(*below, place);
      tile_.next.push_back(assign(root->name, root + polynomials_.expression(step, {shape_.row_at, shape_.column_at})));
      return roots_[place] = root;
    }
    const std::map<Polynomial, ExprRef>& all() const { return roots_; }

   private:
    const Polynomials& polynomials_;
    const TileShape& shape_;
    const int row_;
    Tile& tile_;
    std::map<Polynomial, ExprRef> roots_;
  };

  /// index = a part with the counters + a part without them + a constant; places with the same first two share a name.
  class Indices {
   public:
    Indices(const Polynomials& polynomials, Roots& roots, std::string stem, std::string own, ExprRef row_at, ExprRef column_at)
        : polynomials_(polynomials),
          roots_(roots),
          stem_(std::move(stem)),
          own_(std::move(own)),
          at_{std::move(row_at), std::move(column_at)} {}

    ExprRef of(const Polynomial& index, Body& body) {
      Polynomial base;
      int64_t constant = 0;
      for (const auto& [product, factor] : index) {
        if (product == 0)
          constant = factor;
        else
          base.emplace_back(product, factor);
      }
      ExprRef& known = names_[base];
      if (!known) {
        // From the place that is named already and takes least to come from: rows follow each other by one addition each.
        ExprRef nearest;
        Polynomial way;
        const auto try_from = [&](const Polynomial& other, const ExprRef& name) {
          Polynomial from = difference(base, other);
          if (std::any_of(from.begin(), from.end(), [&](const auto& term) { return counts(term.first); })) return;
          if (!nearest || cost(from) < cost(way)) nearest = name, way = std::move(from);
        };
        for (const auto& [other, name] : names_)
          if (name) try_from(other, name);
        if (!nearest || cost(way) > kFar)
          for (const auto& [other, name] : roots_.all()) try_from(other, name);
        if (!nearest || cost(way) > kFar) {
          const ExprRef root = roots_.of(base);
          if (root || !nearest) nearest = root ? root : polynomials_.expression(base, at_), way.clear();
        }
        known = name(way.empty() ? nearest : nearest + polynomials_.expression(way, at_), body);
      }
      return known + constant_i64(constant);
    }

   private:
    static constexpr size_t kFar = 3;  // what another root is worth
    /// A name for a value; another one for a root, whose value changes.
    ExprRef name(ExprRef value, Body& body) {
      if (value->kind == ExprKind::constant) return value;
      const ExprRef named = variable(stem_ + std::to_string(number_++) + own_, DType::i64);
      body.push_back(let(named->name, std::move(value)));
      return named;
    }
    /// The counters are names 1 and 2.
    static bool counts(Product product) { return times_in(product, 1) || times_in(product, 2); }
    /// Operations that it takes to add it.
    static size_t cost(const Polynomial& p) {
      size_t total = 0;
      for (auto [product, factor] : p) {
        for (; product; product >>= 8) ++total;
        total += factor != 1 && factor != -1;
      }
      return total;
    }

    const Polynomials& polynomials_;
    Roots& roots_;
    const std::string stem_, own_;
    const std::vector<ExprRef> at_;
    std::map<Polynomial, ExprRef> names_;
    int number_ = 0;
  };

  /// Where it would be without the constant: places that lie beside each other have it in common.
  static Place line_of(const Place& place) {
    Place line = place;
    std::erase_if(line.second, [](const auto& term) { return term.first == 0; });
    return line;
  }

  /// Elements that lie beside each other come one after the other, so that what loads several at a time finds them.
  void put_neighbours_together() {
    std::map<Place, size_t> lines;
    std::vector<std::vector<std::pair<const Place, Element>*>> elements;
    for (auto* at : order_) {
      const auto [found, fresh] = lines.try_emplace(line_of(at->first), elements.size());
      if (fresh) elements.emplace_back();
      elements[found->second].push_back(at);
    }
    const auto constant = [](const auto* at) {
      const Polynomial& index = at->first.second;
      return !index.empty() && index[0].first == 0 ? index[0].second : 0;
    };
    order_.clear();
    for (auto& line : elements) {
      std::stable_sort(line.begin(), line.end(), [&](const auto* a, const auto* b) { return constant(a) < constant(b); });
      order_.insert(order_.end(), line.begin(), line.end());
    }
  }

  void emit_loads() {
    Indices first(polynomials_, roots_, "first_at", shape_.own, shape_.first_row, shape_.column_at);
    int number = 0;
    for (auto* at : order_) {
      Element& e = at->second;
      const std::string &array = arrays_[at->first.first], name = (e.kept() ? "kept" : "read") + std::to_string(number++) + shape_.own;
      const Polynomial& index = at->first.second;
      e.value = variable(name, e.type);
      if (e.kept())
        tile_.first.push_back(var(name, load(array, e.type, first.of(index, tile_.first))));
      else
        tile_.body.push_back(let(name, load(array, e.type, tile_indices_.of(index, tile_.body))));
    }
  }

  /// Of each row that the tile reads, where the tile below reads it, so that its loads need not wait for memory.
  void emit_prefetches() {
    std::set<Place> lines;
    for (const auto* at : order_) {
      if (at->second.kept()) continue;
      auto below = moved(at->first.second, shape_.rows, 0);
      if (!below || *below == at->first.second || !lines.insert(line_of(at->first)).second) continue;
      tile_.body.push_back(prefetch(arrays_[at->first.first], tile_indices_.of(*below, tile_.body)));
    }
  }

  /// The iterations, a row after the other; where they divide, or stand beside each other, all rows together, so that they divide, and
  /// store, at once.
  void iterations() {
    const bool divides = std::any_of(statements_.begin(), statements_.end(),
                                     [](const StmtRef& s) { return s->value->kind == ExprKind::op && s->value->op == ScalarOp::div; });
    const int64_t together = divides || shape_.columns > 1 ? shape_.rows : 1;
    for (int64_t k = 0; k < shape_.rows; k += together) rows(k, k + together);
  }

  /// Each statement for all iterations of these rows, then what they store.
  void rows(int64_t begin, int64_t end) {
    const auto for_each = [&](const auto& f) {
      for (int64_t k = begin; k < end; ++k)
        for (int64_t c = 0; c < shape_.columns; ++c) f(k, c, "_" + std::to_string(k) + "_" + std::to_string(c) + shape_.own);
    };
    const auto name = [&](size_t stored) { return "stored" + std::to_string(stored); };
    size_t stored = 0;
    for (const StmtRef& s : statements_) {
      const std::string stem = s->kind == StmtKind::store ? name(stored++) : s->name;
      for_each(
          [&](int64_t k, int64_t c, const std::string& suffix) { tile_.body.push_back(let(stem + suffix, copy(s->value, k, c, suffix))); });
    }
    stored = 0;
    for (const StmtRef& s : statements_) {
      if (s->kind != StmtKind::store) continue;
      for_each([&](int64_t k, int64_t c, const std::string& suffix) {
        const ExprRef place = tile_indices_.of(*moved(stores_[stored], k, c), tile_.body);
        tile_.body.push_back(store(s->name, place, variable(name(stored) + suffix, s->value->type)));
      });
      ++stored;
    }
  }

  ExprRef copy(const ExprRef& e, int64_t row, int64_t column, const std::string& suffix) {
    switch (e->kind) {
      case ExprKind::constant: return e;
      case ExprKind::variable:
        if (e->name == shape_.row) return shape_.row_at + constant_i64(row);
        if (e->name == shape_.column) return shape_.column_at + constant_i64(column);
        return polynomials_.defines(e->name) ? variable(e->name + suffix, e->type) : e;
      case ExprKind::load: return loads_[load_of_.at(e.get())].elements[static_cast<size_t>(row * shape_.columns + column)]->value;
      default: break;
    }
    std::vector<ExprRef> args;
    for (const ExprRef& a : e->args) args.push_back(copy(a, row, column, suffix));
    switch (e->kind) {
      case ExprKind::cast: return cast(args[0], e->type);
      case ExprKind::bitcast: return bitcast(args[0], e->type);
      default: return op(e->op, std::move(args));
    }
  }

  /// Along each column of what is kept, from the top: what a place gets is read before it gets something itself.
  void emit_next() {
    for (auto* top : order_)
      if (top->second.kept() && !top->second.is_below)
        for (auto* at = top; at->second.below; at = at->second.below)
          tile_.next.push_back(assign(at->second.value->name, at->second.below->second.value));
  }

  const Body& statements_;
  const TileShape& shape_;
  const std::function<bool(const std::string&)>& is_fixed_;
  Polynomials polynomials_;
  const int row_, column_;  // the counters' numbers
  std::vector<std::string> arrays_;
  std::vector<Load> loads_;  // as the body has them, each once
  std::unordered_map<const Expr*, size_t> load_of_;
  std::vector<Polynomial> stores_;
  std::map<Place, Element> elements_;
  std::vector<std::pair<const Place, Element>*> order_;  // as the body reads them
  Tile tile_;
  Roots roots_{polynomials_, shape_, row_, tile_};
  Indices tile_indices_{polynomials_, roots_, "at", shape_.own, shape_.row_at, shape_.column_at};
};

}  // namespace

std::optional<Tile> measure_tile(const Body& body, const TileShape& shape, const std::function<bool(const std::string&)>& is_fixed) {
  return Tiling(body, shape, is_fixed).measure(true);
}

Tile make_tile(const Body& body, const TileShape& shape) {
  const std::function<bool(const std::string&)> all = [](const std::string&) { return true; };
  Tiling tiling(body, shape, all);
  Tile tile = tiling.measure(true).value();
  tiling.emit(tile);
  return tile;
}

Body make_point(const Body& body, const TileShape& tile) {
  const auto name = [](const std::string& counter) { return variable(counter, DType::i64); };
  const TileShape shape{tile.row, tile.column, name(tile.row), name(tile.column), nullptr, 1, 1, "_point"};
  const std::function<bool(const std::string&)> all = [](const std::string&) { return true; };
  Tiling tiling(body, shape, all);
  Tile point = tiling.measure(false).value();
  tiling.emit(point);
  return point.body;
}

std::optional<Body> make_run(const Body& body, const std::string& counter, const ExprRef& at, int64_t count,
                             const std::function<bool(const std::string&)>& is_fixed) {
  const TileShape shape{"no row", counter, constant_i64(0), at, nullptr, 1, count, "_run"};
  Tiling tiling(body, shape, is_fixed);
  std::optional<Tile> run = tiling.measure(false);
  if (!run) return std::nullopt;
  tiling.emit(*run);
  return std::move(run->body);
}

Body tiles_down(const Tile& tile, const TileShape& shape, const TileRows& rows) {
  const ExprRef next = shape.first_row, step = constant_i64(shape.rows);
  const auto less = [](const ExprRef& a, const ExprRef& b) { return op(ScalarOp::lt, {a, b}); };
  const ExprRef fits = op(ScalarOp::le, {next + step, rows.high});
  Body one{let(shape.row_at->name, next)}, all = tile.first;
  one.insert(one.end(), tile.body.begin(), tile.body.end());
  one.insert(one.end(), tile.next.begin(), tile.next.end());
  one.push_back(assign(next->name, shape.row_at + step));
  all.push_back(while_(fits, std::move(one)));
  ExprRef begins = fits;
  if (rows.low) begins = op(ScalarOp::logical_and, {begins, op(ScalarOp::le, {rows.low, next})});
  Body single{let(shape.row, next)};
  if (shape.columns == 1) {
    single.push_back(let(shape.column, shape.column_at));
    single.insert(single.end(), rows.point.begin(), rows.point.end());
  } else {
    single.push_back(loop(shape.column, shape.column_at, shape.column_at + constant_i64(shape.columns), LoopKind::serial, rows.point));
  }
  single.push_back(assign(next->name, next + constant_i64(1)));
  return {var(next->name, rows.first),
          while_(less(next, rows.last), {if_(begins, std::move(all)), if_(less(next, rows.last), std::move(single))})};
}

bool has_tiles(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const StmtRef& s) {
    if (s->kind == StmtKind::while_ && !s->body.empty()) {
      const Stmt &first = *s->body.front(), &last = *s->body.back();
      const bool goes_on = first.kind == StmtKind::let && last.kind == StmtKind::assign && last.value->kind == ExprKind::op &&
                           last.value->op == ScalarOp::add;  // trees of reductions halve
      if (goes_on && last.value->args[0]->name == first.name && last.value->args[1]->kind == ExprKind::constant) return true;
    }
    return has_tiles(s->body) || has_tiles(s->orelse);
  });
}

}  // namespace gasell::ir
