#include "stdlib/sklearn/module.h"

#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/sklearn/tokens.h"

namespace gasell {
namespace {

/// scikit-learn's exceptions and warnings, known to raise() from the first call on.
const std::vector<Type>& exceptions() {
  static const std::vector<Type> types = [] {
    const auto type = [](const char* name, const char* base, const char* second = nullptr) {
      Type made{name, "sklearn.exceptions", exception_type(base)};
      if (second) made.second_base = exception_type(second);
      return made;
    };
    return std::vector<Type>{
        type("NotFittedError", "ValueError", "AttributeError"),
        type("ConvergenceWarning", "UserWarning"),
        type("DataConversionWarning", "UserWarning"),
        type("DataDimensionalityWarning", "UserWarning"),
        type("EfficiencyWarning", "UserWarning"),
        type("FitFailedWarning", "RuntimeWarning"),
        type("UndefinedMetricWarning", "UserWarning"),
    };
  }();
  static const bool once = [] {
    for (const Type& type : types) register_exception(type);
    return true;
  }();
  (void)once;
  return types;
}

/// What a wrong parameter of an estimator raises, which scikit-learn keeps in a module that scripts do not import.
const Type& invalid_parameter() {
  static const Type type = [] {
    Type made{"InvalidParameterError", "sklearn.utils._param_validation", exception_type("ValueError")};
    made.second_base = exception_type("TypeError");
    return made;
  }();
  static const bool once = (register_exception(type), true);
  (void)once;
  return type;
}

/// The part `name` of a module, with parts of its own.
Value add_part(const Value& module, const std::string& owner, const std::string& name) {
  const Value part = Value::make<LibraryModule>(owner + "." + name);
  set_member(module, name, part);
  return part;
}

}  // namespace

Value make_sklearn(Interpreter&) {
  const Value module = Value::make<LibraryModule>("sklearn");
  const Value errors = add_part(module, "sklearn", "exceptions");
  for (const Type& type : exceptions()) set_member(errors, type.name, type_object(type));
  for (const char* name : {"base", "cluster", "compose", "datasets", "decomposition", "dummy", "ensemble", "impute", "linear_model",
                           "model_selection", "naive_bayes", "neighbors", "pipeline", "preprocessing", "svm", "tree"})
    add_part(module, "sklearn", name);
  add_part(add_part(module, "sklearn", "feature_extraction"), "sklearn.feature_extraction", "text");
  add_part(add_part(module, "sklearn", "metrics"), "sklearn.metrics", "pairwise");
  add_part(add_part(module, "sklearn", "utils"), "sklearn.utils", "validation");
  return module;
}

Value make_cuml(Interpreter& in) { return Value::make<LibraryModule>("cuml", in.import_module("sklearn", nullptr)); }

Value make_dask_ml(Interpreter& in) {
  const Value module = Value::make<LibraryModule>("dask_ml", in.import_module("sklearn", nullptr));
  add_part(module, "dask_ml", "wrappers");
  return module;
}

Value make_sklearn_library(Interpreter&) {
  const Value module = Value::make<LibraryModule>("_sklearn");
  set_member(module, invalid_parameter().name, type_object(invalid_parameter()));
  for (const NativeFunction& f : token_functions()) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

}  // namespace gasell
