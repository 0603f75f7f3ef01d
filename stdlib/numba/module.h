// The decorators of the module numba, for the files that share them.
#pragma once

#include <functional>

#include "stdlib/numba/dispatcher.h"

namespace gasell::numba {

/// Something that is called with a function and gives what shall stand for it.
Value make_decorator(const char* name, std::function<Value(Interpreter&, const Value& function)> apply);
/// A function of the script, or the one behind a jitted function. TypeError else, in the decorator's name.
Value need_function(const Value& v, const char* decorator);
/// The options of jit in a dict of keywords: takes those it knows. KeyError names others, but for `own`, those of the
/// decorator itself.
functions::Options take_options(Interpreter& in, const Value& keywords, std::initializer_list<std::string_view> own = {});
/// Whether @jit leaves functions as they are (NUMBA_DISABLE_JIT=1).
bool jit_disabled(Interpreter& in);

/// Makes gasell_sort and gasell_argsort known to compiled code.
void register_sorting();

std::vector<NativeFunction> vectorize_functions();
std::vector<NativeFunction> guvectorize_functions();
/// What a function that guvectorize made is to compiled ones; nullopt: the value is none.
std::optional<functions::Outside> outside_of_gufunc(const Value& v);
std::vector<NativeFunction> stencil_functions();

}  // namespace gasell::numba
