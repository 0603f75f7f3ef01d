// pandas' own exceptions, and the module pandas.errors.
#include "runtime/session/objects.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/module.h"

namespace gasell {
namespace {

const std::vector<Type>& error_types() {
  static const std::vector<Type> types = [] {
    const auto type = [](const char* name, const char* base, const char* module = "pandas.errors") {
      return Type{name, module, exception_type(base)};
    };
    return std::vector<Type>{
        type("ParserError", "ValueError"),
        type("EmptyDataError", "ValueError"),
        type("IntCastingNaNError", "ValueError"),
        type("MergeError", "ValueError"),
        type("IndexingError", "Exception"),
        type("UnsortedIndexError", "KeyError"),
        type("DataError", "Exception"),
        type("SpecificationError", "Exception"),
        type("UndefinedVariableError", "NameError"),
        type("InvalidIndexError", "Exception"),
        type("DuplicateLabelError", "ValueError"),
        type("OptionError", "KeyError"),
        type("IncompatibleFrequency", "ValueError", "pandas._libs.tslibs.period"),
        type("ChainedAssignmentError", "Warning"),
    };
  }();
  return types;
}

}  // namespace

void register_pandas_errors() {
  static const bool once = [] {
    for (const Type& type : error_types()) register_exception(type);
    return true;
  }();
  (void)once;
}

Value make_pandas_errors(Interpreter&) {
  register_pandas_errors();
  const Value module = Value::make<Module>("pandas.errors");
  for (const Type& type : error_types()) set_member(module, type.name, type_object(type));
  for (const char* name : {"OutOfBoundsDatetime", "OutOfBoundsTimedelta"})
    if (const Type* type = exception_type(name)) set_member(module, name, type_object(*type));
  return module;
}

}  // namespace gasell
