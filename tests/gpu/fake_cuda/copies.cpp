#include <cstring>

#include "gpu/fake_cuda/memory.h"
#include "gpu/fake_cuda/streams.h"

namespace fake_cuda {
namespace {

Result memcpy_host_to_device_async(DevicePointer to, const void* from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyHtoDAsync");
  if (!entry) return entry.result();
  if (is_pinned(from, bytes)) {
    stream->work.push_back([=] {
      if (valid(to, bytes)) std::memcpy(host(to), from, bytes);
    });
  } else {
    auto copy = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    stream->work.push_back([=] {
      if (valid(to, bytes)) std::memcpy(host(to), copy->data(), bytes);
    });
  }
  return Result::success;
}
Result memcpy_device_to_host_async(void* to, DevicePointer from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyDtoHAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(from, bytes)) std::memcpy(to, host(from), bytes);
  });
  if (!is_pinned(to, bytes)) run(stream);
  return fake.sticky;
}
Result memcpy_device_to_device_async(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyDtoDAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(to, bytes) && valid(from, bytes)) std::memmove(host(to), host(from), bytes);
  });
  return Result::success;
}
Result memcpy_peer_async(DevicePointer to, Context to_context, DevicePointer from, Context from_context, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyPeerAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (!valid(to, bytes) || !valid(from, bytes)) return;
    const auto device = [](DevicePointer address) { return std::prev(fake.blocks.upper_bound(address))->second.device; };
    if (device(to) != to_context->device || device(from) != from_context->device)
      fake.sticky = Result::illegal_address;
    else
      std::memcpy(host(to), host(from), bytes);
  });
  return Result::success;
}
Result memset_d8_async(DevicePointer to, unsigned char value, size_t bytes, Stream stream) {
  const Entry entry("cuMemsetD8Async");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(to, bytes)) std::memset(host(to), value, bytes);
  });
  return Result::success;
}

}  // namespace

std::vector<Symbol> copies_entries() {
  return {
      symbol("cuMemcpyHtoDAsync", 3020, memcpy_host_to_device_async),
      symbol("cuMemcpyDtoHAsync", 3020, memcpy_device_to_host_async),
      symbol("cuMemcpyDtoDAsync", 3020, memcpy_device_to_device_async),
      symbol("cuMemcpyPeerAsync", 4000, memcpy_peer_async),
      symbol("cuMemsetD8Async", 3020, memset_d8_async),
  };
}

}  // namespace fake_cuda
