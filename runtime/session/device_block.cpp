#include "runtime/session/device_block.h"

#include "runtime/gpu/device_choice.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/str.h"
#include "runtime/session/types.h"

namespace gasell {

const Type& device_type() {
  static const NativeFunction constructor{
      "device", "name, /",
      [](Interpreter&, std::span<Value> args) {
        return Value::make<DeviceBlock>(std::string(need_str(args[0], "device() argument must be str, not ")));
      },
      "with device(name): what is computed in the block is computed there; name is auto, cpu, gpu, gpu:0,2 or sim:4"};
  static const Type type{"device",
                         "builtins",
                         &object_type(),
                         {},
                         {{"name", [](Interpreter&, const Value& self) { return make_str(static_cast<DeviceBlock*>(self.object())->name); },
                           nullptr, "as --device takes it"}},
                         &constructor};
  return type;
}

DeviceBlock::DeviceBlock(std::string device) : name(std::move(device)) { parse_device(name); }

std::string DeviceBlock::repr(Interpreter& in) { return "device(" + gasell::repr(in, make_str(name)) + ")"; }

Value DeviceBlock::enter(Interpreter& in) {
  in.engine().use_devices(name);
  return Value::of(this);
}

bool DeviceBlock::exit(Interpreter& in, const Value&) {
  in.engine().restore_devices();
  return false;
}

}  // namespace gasell
