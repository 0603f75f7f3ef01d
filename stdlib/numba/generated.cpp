#include "stdlib/numba/generated.h"

#include "lang/parser.h"
#include "runtime/session/builtins.h"
#include "stdlib/numba/dispatcher.h"

namespace gasell::numba {

using functions::Outside;

std::shared_ptr<const functions::Function> function_of_text(const std::string& what, const std::string& text,
                                                            std::map<std::string, Outside> names, const functions::Options& options) {
  auto made = std::make_shared<functions::Function>();
  made->source = std::make_shared<Source>("<" + what + ">", text);
  const ast::ModuleRef tree = parse_module(made->source);
  made->definition = tree->body.at(0);
  const auto& definition = std::get<ast::FunctionDef>(made->definition->node);
  made->name = definition.name;
  made->options = options;
  made->identity = made.get();
  made->defaults.resize(definition.params.size());
  made->outside = [names = std::move(names)](const std::string& name) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    return builtins().contains(name) ? outside_path(name) : Outside();
  };
  return made;
}

Outside outside_path(std::string path) {
  Outside o;
  o.kind = Outside::Kind::path;
  o.text = std::move(path);
  return o;
}

Outside outside_function(std::shared_ptr<const functions::Function> function) {
  Outside o;
  o.kind = Outside::Kind::function;
  o.text = function->name;
  o.function = std::move(function);
  return o;
}

functions::Type result_of(const functions::Function& function, const std::vector<functions::Type>& types) {
  try {
    return functions::compile(function, types, false).result;
  } catch (const Error& error) {
    rethrow_typing(error, function, types);
  }
}

functions::Returned call_generated(functions::Dispatch& dispatch, const std::vector<functions::Type>& types,
                                   std::span<const functions::Leaf> leaves) {
  functions::Dispatch::Entry* entry = nullptr;
  try {
    entry = &dispatch.entry(types);
  } catch (const Error& error) {
    rethrow_typing(error, dispatch.function(), types);
  }
  try {
    return dispatch.call(*entry, leaves);
  } catch (const functions::SiteRaised& raised) {
    rethrow(raised);
  }
}

Array new_array(Interpreter& in, DType dtype, const graph::Shape& shape) {
  const StorageRef storage = in.engine().allocate(std::max<int64_t>(1, graph::bytes_of(shape, dtype)));
  return Array(graph::buffer(storage, dtype, shape, graph::contiguous_strides(shape), 0));
}

Array broadcast(const Array& a, const graph::Shape& shape) {
  if (a.shape() == shape) return a;
  const size_t added = shape.size() - a.shape().size();
  Array::Axes axes;
  for (size_t k = 0; k < a.shape().size(); ++k) {
    const bool repeated = a.shape()[k] == 1 && shape[k + added] != 1;
    axes.push_back(repeated ? graph::ViewAxis{-1, 0, 0} : graph::ViewAxis{static_cast<int>(k + added), 0, 1});
  }
  return a.view(shape, std::move(axes), true);
}

}  // namespace gasell::numba
