#include "runtime/frame/rows.h"

#include <map>
#include <tuple>
#include <utility>

namespace gasell::frame {
namespace {

/// The nodes that somebody holds, by what they are made of. What they are made of lives while they do, so its address names it.
class Nodes {
 public:
  using Key = std::tuple<size_t, const void*, const void*, const void*, int64_t, int64_t, int64_t>;
  RowsRef find_or_make(const Key& key, int64_t count, Rows::Kind kind) {
    const std::lock_guard lock(mutex_);
    if (nodes_.size() > 2 * most_alive_) {
      std::erase_if(nodes_, [](const auto& entry) { return entry.second.expired(); });
      most_alive_ = std::max<size_t>(64, nodes_.size());
    }
    std::weak_ptr<const Rows>& node = nodes_[key];
    if (RowsRef found = node.lock()) return found;
    RowsRef made = std::make_shared<const Rows>(count, std::move(kind));
    node = made;
    return made;
  }
  static Nodes& all() {
    static auto& nodes = *new Nodes;
    return nodes;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Rows>> nodes_;
  size_t most_alive_ = 64;
};

RowsRef shared(const RowsRef& of, const void* a, const void* b, int64_t first, int64_t step, int64_t count, Rows::Kind kind) {
  const Nodes::Key key{kind.index(), of.get(), a, b, first, step, count};
  return Nodes::all().find_or_make(key, count, std::move(kind));
}

std::string order_text(const Order& order) {
  std::string text = "order by " + std::to_string(order.keys.size()) + (order.keys.size() == 1 ? " key" : " keys");
  for (size_t k = 0; k < order.order.size(); ++k) {
    text += k == 0 ? ", " : "; ";
    text += order.order[k].descending ? "descending" : "ascending";
    if (order.order[k].missing_first) text += " missing first";
  }
  return text;
}

std::string line_of(const Rows& rows) {
  if (rows.as<FilterRows>()) return "filter";
  if (const auto* order = rows.as<OrderRows>()) return order_text(*order->by);
  if (const auto* first = rows.as<FirstRows>()) return "first of " + order_text(*first->by);
  if (const auto* take = rows.as<TakeRows>()) return take->may_miss ? "take, some missing" : "take";
  if (const auto* slice = rows.as<SliceRows>())
    return "slice from " + std::to_string(slice->first) + (slice->step == 1 ? "" : " by " + std::to_string(slice->step));
  return "memory";
}

}  // namespace

Rows::Rows(int64_t count, Kind kind) : count_(count), kind_(std::move(kind)) {
  const RowsRef& below = of();
  if (!below) return;
  depth_ = below->depth_ + 1;
  const auto* take = as<TakeRows>();
  may_miss_ = below->may_miss_ || (take && take->may_miss);
}

const RowsRef& Rows::of() const {
  static const RowsRef kNone;
  return std::visit(
      [](const auto& node) -> const RowsRef& {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, MemoryRows>)
          return kNone;
        else
          return node.of;
      },
      kind_);
}

RowsRef memory_rows(int64_t count) { return shared(nullptr, nullptr, nullptr, 0, 0, count, MemoryRows{}); }

RowsRef filter_rows(const RowsRef& of, const NodeRef& mask, const NodeRef& numbers) {
  return shared(of, mask.get(), numbers.get(), 0, 0, numbers->size(), FilterRows{of, mask, numbers});
}

RowsRef ordered_rows(const RowsRef& of, const OrderRef& by) { return shared(of, by.get(), nullptr, 0, 0, of->count(), OrderRows{of, by}); }

RowsRef first_of_order(const RowsRef& of, const OrderRef& by, int64_t count) {
  return shared(of, by.get(), nullptr, 0, 0, count, FirstRows{of, by});
}

RowsRef take_rows(const RowsRef& of, const NodeRef& numbers, bool may_miss) {
  return shared(of, numbers.get(), nullptr, may_miss, 0, numbers->size(), TakeRows{of, numbers, may_miss});
}

RowsRef slice_rows(const RowsRef& of, int64_t first, int64_t count, int64_t step) {
  return shared(of, nullptr, nullptr, first, step, count, SliceRows{of, first, step});
}

std::string to_text(const Rows& rows) {
  std::string text;
  int depth = 0;
  for (const Rows* node = &rows; node; node = node->of().get())
    text += std::string(static_cast<size_t>(2 * depth++), ' ') + line_of(*node) + ": " + std::to_string(node->count()) + " rows\n";
  return text;
}

}  // namespace gasell::frame
