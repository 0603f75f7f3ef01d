// Linking, modules and launches; a kernel is a function that a test defined, or does what its text says (fake_cuda.h).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gpu/fake_cuda/memory.h"
#include "gpu/fake_cuda/streams.h"

namespace fake_cuda {
namespace {

// Machine code is "fake cubin <tag>\n" and the PTX.
Result link_create(unsigned count, JitOption* options, void** values, Link* link) {
  const Entry entry("cuLinkCreate");
  if (!entry) return entry.result();
  *link = new LinkObject{};
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::error_log) (*link)->log = static_cast<char*>(values[i]);
    if (options[i] == JitOption::error_log_bytes) (*link)->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  fake.links.insert(*link);
  return Result::success;
}
Result link_add_data(Link link, JitInput type, void* data, size_t bytes, const char*, unsigned, JitOption*, void**) {
  const Entry entry("cuLinkAddData");
  if (!entry) return entry.result();
  if (type != JitInput::ptx || bytes == 0 || static_cast<char*>(data)[bytes - 1] != 0) return Result::invalid_value;
  if (fake.link != Result::success) {
    if (link->log) std::strncpy(link->log, "ptxas fatal   : line 7\nUnresolved extern function 'nowhere'\n", link->log_bytes);
    return fake.link;
  }
  link->text = "fake cubin " + fake.tag + "\n" + static_cast<char*>(data);
  return Result::success;
}
Result link_complete(Link link, void** cubin, size_t* bytes) {
  const Entry entry("cuLinkComplete");
  if (!entry) return entry.result();
  *cubin = link->text.data();
  *bytes = link->text.size();
  return Result::success;
}
Result link_destroy(Link link) {
  const Entry entry("cuLinkDestroy");
  if (!entry) return entry.result();
  fake.links.erase(link);
  delete link;
  return Result::success;
}
Result module_load_data(Module* module, const void* image) {
  const Entry entry("cuModuleLoadData");
  if (!entry) return entry.result();
  const std::string_view text = static_cast<const char*>(image);
  if (!text.starts_with("fake cubin " + fake.tag + "\n")) return Result::no_binary_for_gpu;
  *module = new ModuleObject{std::string(text), current.back()->device, {}, {}};
  fake.modules.insert(*module);
  return Result::success;
}
Result module_unload(Module module) {
  const Entry entry("cuModuleUnload");
  if (!entry) return entry.result();
  fake.modules.erase(module);
  for (const auto& [name, address] : module->globals) release(address);
  delete module;
  return Result::success;
}
/// The bytes of a variable that the module's text declares as ".b8 name[bytes]"; 0: there is none.
size_t bytes_of_global(Module module, const std::string& name) {
  const std::string head = ".b8 " + name + "[";
  const size_t at = module->text.find(head);
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(module->text.c_str() + at + head.size()));
}
/// Its memory: zeros at first.
DevicePointer memory_of_global(Module module, const std::string& name) {
  const auto [at, fresh] = module->globals.try_emplace(name);
  if (fresh) {
    at->second = take(bytes_of_global(module, name), module->device, nullptr);
    std::memset(host(at->second), 0, bytes_of_global(module, name));
  }
  return at->second;
}
Result module_get_global(DevicePointer* address, size_t* bytes, Module module, const char* name) {
  const Entry entry("cuModuleGetGlobal");
  if (!entry) return entry.result();
  *bytes = bytes_of_global(module, name);
  if (*bytes == 0) return Result::not_found;
  *address = memory_of_global(module, name);
  return Result::success;
}
Result module_get_function(Function* function, Module module, const char* name) {
  const Entry entry("cuModuleGetFunction");
  if (!entry) return entry.result();
  const size_t at = module->text.find(".entry " + std::string(name) + "(");
  if (at == std::string::npos) return Result::not_found;
  const std::string head = module->text.substr(at, module->text.find(')', at) - at);
  size_t parameters = 0;
  for (size_t p = head.find(".param"); p != std::string::npos; p = head.find(".param", p + 1)) ++parameters;
  module->functions.push_back(std::make_unique<FunctionObject>(FunctionObject{name, parameters, module}));
  *function = module->functions.back().get();
  return Result::success;
}
Result function_get_attribute(int* value, FunctionAttribute attribute, Function function) {
  const Entry entry("cuFuncGetAttribute");
  if (!entry) return entry.result();
  switch (attribute) {
    case FunctionAttribute::max_threads_per_block: *value = 1024; break;
    case FunctionAttribute::registers: *value = 24; break;
    case FunctionAttribute::ptx_version:
    case FunctionAttribute::binary_version: *value = 90; break;
    case FunctionAttribute::max_dynamic_shared_bytes: *value = function->most_shared; break;
    case FunctionAttribute::preferred_shared_carveout: *value = function->carveout; break;
    default: *value = 0;
  }
  return Result::success;
}
Result function_set_attribute(Function function, FunctionAttribute attribute, int value) {
  const Entry entry("cuFuncSetAttribute");
  if (!entry) return entry.result();
  if (attribute == FunctionAttribute::max_dynamic_shared_bytes && value >= 0 && value <= (227 << 10))
    function->most_shared = value;
  else if (attribute == FunctionAttribute::preferred_shared_carveout && value >= -1 && value <= 100)
    function->carveout = value;
  else
    return Result::invalid_value;
  return Result::success;
}
/// What the text of a kernel says that no test defined: "read name;" copies a variable of its module to where the first parameter points,
/// "write name;" from there to the variable.
void follow_text(Function function, const std::vector<uint64_t>& parameters) {
  const std::string& text = function->module->text;
  const size_t entry = text.find(".entry " + function->symbol + "("), begin = text.find('{', entry), end = text.find('}', begin);
  if (end == std::string::npos) return;
  for (const bool reads : {true, false}) {
    const std::string verb = reads ? "read " : "write ";
    for (size_t at = text.find(verb, begin); at < end; at = text.find(verb, at + 1)) {
      const std::string name = text.substr(at + verb.size(), text.find(';', at) - at - verb.size());
      const DevicePointer global = memory_of_global(function->module, name);
      const size_t bytes = bytes_of_global(function->module, name);
      if (valid(parameters.at(0), bytes)) std::memcpy(host(reads ? parameters[0] : global), host(reads ? global : parameters[0]), bytes);
    }
  }
}
Result occupancy_max_active_blocks(int* blocks, Function, int threads, size_t shared_bytes) {
  const Entry entry("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::min(2048 / threads, static_cast<int>((228u << 10) / (shared_bytes + 1024)));
  return entry.result();
}
Result launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void**) {
  const Entry entry("cuLaunchKernel");
  if (!entry) return entry.result();
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_y != 1 || block_z != 1) return Result::invalid_value;
  if (block_x > 1024 || static_cast<int>(shared_bytes) > function->most_shared) return Result::launch_out_of_resources;
  std::vector<uint64_t> values;
  for (size_t i = 0; i < function->parameters; ++i) values.push_back(*static_cast<uint64_t*>(parameters[i]));
  const bool fails = ++fake.launches == fake.fail_at;
  stream->work.push_back([=, symbol = function->symbol, values = std::move(values)] {
    const auto kernel = kernels().find(symbol);
    if (fails)
      fake.sticky = fake.fail;
    else if (kernel != kernels().end())
      unlocked([&] { kernel->second(values.data(), grid_x, block_x, shared_bytes); });
    else
      follow_text(function, values);
  });
  return Result::success;
}

}  // namespace

std::vector<Symbol> kernels_entries() {
  return {
      symbol("cuLinkCreate", 6050, link_create),
      symbol("cuLinkAddData", 6050, link_add_data),
      symbol("cuLinkComplete", 5050, link_complete),
      symbol("cuLinkDestroy", 5050, link_destroy),
      symbol("cuModuleLoadData", 2000, module_load_data),
      symbol("cuModuleUnload", 2000, module_unload),
      symbol("cuModuleGetFunction", 2000, module_get_function),
      symbol("cuModuleGetGlobal", 3020, module_get_global),
      symbol("cuFuncGetAttribute", 2020, function_get_attribute),
      symbol("cuFuncSetAttribute", 9000, function_set_attribute),
      symbol("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, occupancy_max_active_blocks),
      symbol("cuLaunchKernel", 4000, launch_kernel),
  };
}

}  // namespace fake_cuda
