#include "compiler/functions/library.h"

#include "compiler/functions/prelude.h"

namespace gasell::functions {

LibraryFunction library_function(const std::string& path) {
  for (auto* table :
       {builtin_function, elementwise_function, number_function, creation_function, reduction_function, linalg_function, arranging_function,
        container_function, random_function, inner_function, printing_function, host_function, cuda_function})
    if (LibraryFunction f = table(path)) return f;
  if (const auto text = prelude_function(path))
    return [text](Lowering& l, const CallSite& site) {
      CallSite own = checked(l, site, parameters_of(*text));
      for (const auto& [name, value] : site.keywords) site.asked->insert(name);  // it looks at them itself
      return l.call_function(*text, own);
    };
  return nullptr;
}

LibraryFunction library_method(const std::string& name) {
  const std::string path = "." + name;
  for (auto* table : {number_method, creation_function, reduction_function, linalg_function, arranging_function, inner_function})
    if (LibraryFunction f = table(path)) return f;
  if (const auto text = prelude_function("array" + path)) return library_function("array" + path);
  return nullptr;
}

}  // namespace gasell::functions
