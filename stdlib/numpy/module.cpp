#include "stdlib/numpy/module.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "runtime/session/bytes.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/exchange.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/time_scalars.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"
#include "stdlib/numpy/ufunc_object.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell {

namespace {

std::vector<NativeFunction> all_functions() {
  std::vector<NativeFunction> all;
  for (auto part : {numpy::reduction_functions(), numpy::creation_functions(), numpy::misc_functions(), numpy::shape_functions(),
                    numpy::exchange_functions()})
    for (NativeFunction& f : part) all.push_back(std::move(f));
  return all;
}

/// Second names of functions.
constexpr std::pair<const char*, const char*> kAliases[] = {
    {"abs", "absolute"},
    {"acos", "arccos"},
    {"acosh", "arccosh"},
    {"asin", "arcsin"},
    {"asinh", "arcsinh"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"atanh", "arctanh"},
    {"bitwise_invert", "invert"},
    {"bitwise_left_shift", "left_shift"},
    {"bitwise_not", "invert"},
    {"bitwise_right_shift", "right_shift"},
    {"concat", "concatenate"},
    {"conj", "conjugate"},
    {"mod", "remainder"},
    {"permute_dims", "transpose"},
    {"pow", "power"},
    {"true_divide", "divide"},
};

}  // namespace

void register_numpy_exceptions() {
  static const bool once = [] {
    static const Type axis_error{"AxisError", "numpy.exceptions",          exception_type("ValueError"), {}, {}, nullptr,
                                 {},          exception_type("IndexError")};
    static const Type ufunc_type_error{"UFuncTypeError", "numpy._core._exceptions", exception_type("TypeError")};
    static const Type linalg_error{"LinAlgError", "numpy.linalg", exception_type("ValueError")};
    register_exception(axis_error);
    register_exception(linalg_error);
    register_exception(ufunc_type_error);
    static const Type promotion_error{"DTypePromotionError", "numpy.exceptions", exception_type("TypeError")};
    register_exception(promotion_error);
    static const Type masked_error{"MAError", "numpy.ma", exception_type("Exception")};
    static const Type mask_error{"MaskError", "numpy.ma", &masked_error};
    register_exception(masked_error);
    register_exception(mask_error);
    return true;
  }();
  (void)once;
}

Value make_numpy(Interpreter& in) {
  register_numpy_exceptions();
  static const std::vector<NativeFunction> kFunctions = all_functions();
  Value module = Value::make<LibraryModule>("numpy");
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, numpy::make_array_function(f, ""));
  static const std::vector<NativeFunction> kUfuncs = numpy::ufunc_functions();
  for (const NativeFunction& f : kUfuncs) set_member(module, f.name, numpy::make_ufunc(f));
  for (const auto& [alias, name] : kAliases) set_member(module, alias, module.as<Module>()->members.at(name));
  set_member(module, "ufunc", type_object(numpy::ufunc_type()));
  for (auto& [name, value] : numpy::scalar_type_members()) set_member(module, name, value);
  set_member(module, "bool", type_object(numpy::scalar_type(DType::boolean)));
  for (const auto& [name, value] : {std::pair{"pi", std::numbers::pi},
                                    {"e", std::numbers::e},
                                    {"inf", std::numeric_limits<double>::infinity()},
                                    {"nan", std::numeric_limits<double>::quiet_NaN()},
                                    {"euler_gamma", std::numbers::egamma}})
    set_member(module, name, Value::of(value));
  pandas::register_time_exceptions();
  for (auto& [name, value] : numpy::time_members()) set_member(module, name, value);
  set_member(module, "str_", type_object(str_type()));
  set_member(module, "bytes_", type_object(bytes_type()));
  set_member(module, "newaxis", Value());
  set_member(module, "True_", numpy::wrap_scalar(Scalar::of_bool(true)));
  set_member(module, "False_", numpy::wrap_scalar(Scalar::of_bool(false)));
  set_member(module, "random", make_numpy_random(in));
  const Value linalg = Value::make<LibraryModule>("numpy.linalg");
  set_member(linalg, "LinAlgError", type_object(*exception_type("LinAlgError")));
  set_member(module, "linalg", linalg);
  set_member(module, "fft", Value::make<LibraryModule>("numpy.fft"));
  const Value exceptions = Value::make<LibraryModule>("numpy.exceptions");
  for (const char* name : {"AxisError", "DTypePromotionError"}) set_member(exceptions, name, type_object(*exception_type(name)));
  set_member(module, "exceptions", exceptions);
  const Value masked = Value::make<LibraryModule>("numpy.ma");
  for (const char* name : {"MAError", "MaskError"}) set_member(masked, name, type_object(*exception_type(name)));
  set_member(module, "ma", masked);
  const Value emath = Value::make<LibraryModule>("numpy.emath");
  set_member(module, "emath", emath);
  for (const char* name : {"strings", "char", "rec"}) set_member(module, name, Value::make<LibraryModule>(std::string("numpy.") + name));
  const Value lib = Value::make<LibraryModule>("numpy.lib");
  set_member(lib, "stride_tricks", Value::make<LibraryModule>("numpy.lib.stride_tricks"));
  set_member(lib, "scimath", emath);
  set_member(lib, "npyio", Value::make<LibraryModule>("numpy.lib.npyio"));
  set_member(lib, "recfunctions", Value::make<LibraryModule>("numpy.lib.recfunctions"));
  set_member(module, "lib", lib);
  const Value polynomial = Value::make<LibraryModule>("numpy.polynomial");
  for (const char* name : {"polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre", "polyutils"})
    set_member(polynomial, name, Value::make<LibraryModule>(std::string("numpy.polynomial.") + name));
  set_member(module, "polynomial", polynomial);
  return module;
}

Value make_polynomial_library(Interpreter&) { return Value::make<LibraryModule>("_polynomial"); }

Value make_numpy_random(Interpreter&) { return numpy::make_random_module(); }

}  // namespace gasell
