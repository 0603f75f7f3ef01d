// `with device("gpu:1"):` — where what is forced in the block is computed.
#pragma once

#include <string>

#include "runtime/session/objects.h"

namespace gasell {

const Type& device_type();

/// A device by name, as --device takes it; entering selects it in the session's engine. ValueError for an unknown name when it is made,
/// RuntimeError for one that is not there when it is entered.
class DeviceBlock final : public Object {
 public:
  explicit DeviceBlock(std::string device);
  const Type& type() const override { return device_type(); }
  std::string repr(Interpreter&) override;
  Value enter(Interpreter& in) override;
  bool exit(Interpreter& in, const Value& exception) override;

  const std::string name;
};

}  // namespace gasell
