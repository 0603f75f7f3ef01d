#include "stdlib/numpy/later.h"

#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/wanted_parts.h"

namespace gasell::numpy {
namespace {

using Part = std::function<bool(const NodeRef& a, int64_t begin, int64_t end, void* to)>;

/// As HostStorage::part: each part takes a pass over the vector, so that after a few of them making all has become the cheaper way.
class Parts {
 public:
  Parts(Interpreter& in, NodeRef a, DType dtype, Part part)
      : in_(in), a_(std::move(a)), width_(gasell::size_of(dtype)), part_(std::move(part)) {}
  HostStorageRef operator()(int64_t begin, int64_t end) {
    for (const Known& known : known_)
      if (known.begin == begin && known.end == end) return known.memory;
    if (gave_up_ || known_.size() >= kMost || (end - begin) / width_ > a_->size() / kShare) return nullptr;
    auto memory = std::static_pointer_cast<HostStorage>(in_.engine().device().allocate(end - begin));
    gave_up_ = !part_(a_, begin / width_, end / width_, memory->write());
    if (gave_up_) return nullptr;
    known_.push_back({begin, end, memory});
    return memory;
  }

 private:
  static constexpr size_t kMost = 4;
  static constexpr int64_t kShare = 16;
  struct Known {
    int64_t begin, end;
    HostStorageRef memory;
  };

  Interpreter& in_;
  NodeRef a_;
  int64_t width_;
  Part part_;
  std::vector<Known> known_;
  bool gave_up_ = false;  // the vector does not lend itself to it
};

}  // namespace

bool may_wait(Interpreter& in, const Array& a) {
  constexpr int64_t kLong = 1 << 17;
  return a.rank() == 1 && a.size() >= kLong && in.engine().options().fuse && !waits_for_contents(a.node());
}

Value made_later(Interpreter& in, const Array& a, DType dtype, std::function<Value(const Array& a)> make, Part part) {
  // What is computed for `a` stays with it, unless somebody wrote to it.
  auto make_all = [&in, a, now = a.node(), make = std::move(make)] {
    const NodeRef made = in.engine().force(as_array(in, make(a.node() == now ? a : Array(now))).node());
    return std::static_pointer_cast<HostStorage>(made->as<graph::BufferNode>()->storage);
  };
  HostStorageRef later = deferred(graph::bytes_of(a.shape(), dtype), std::move(make_all), {}, Parts(in, a.node(), dtype, std::move(part)));
  return wrap_array(graph::buffer(std::move(later), dtype, a.shape(), {1}, 0));
}

}  // namespace gasell::numpy
