// Arrays of elements that are no numbers: times, which are integers beside a unit, texts and bytes, which have numbers in a table, and
// records, which are an array a field. They are objects of the library's classes (stdlib/_typed), and functions of np that are written in
// C++ leave them to the texts of that module.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/node.h"
#include "lang/dtype.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::numpy {

/// The dtype of elements that are no numbers that an argument names ("M8[D]", np.datetime64, a dtype object of one); None for all else.
Value typed_dtype(Interpreter& in, const Value& v);
/// Whether a value is an array of such elements, or one of them, or a list or tuple that opens with one.
bool is_typed(const Value& v);
/// Whether it is such an array itself.
bool is_typed_array(const Value& v);
/// A function of np or of the hidden module _numpy, `owner`; what it does to such arrays is said in _typed.
Value make_array_function(const NativeFunction& function, const char* owner);
/// What _typed.NAME(arguments) gives.
Value call_typed(Interpreter& in, const char* name, std::vector<Value> arguments);

/// Of the hidden module _numpy.
std::vector<NativeFunction> time_functions();
std::vector<NativeFunction> text_functions();
/// The texts that an array of their numbers stands for, in C order, and the numbers of texts in this session's table.
std::vector<std::string> texts_of_codes(Interpreter& in, const Value& codes);
Value codes_of_texts(Interpreter& in, const std::vector<std::string>& texts, const graph::Shape& shape);
/// How many letters NumPy keeps for numbers of a dtype that become texts.
int64_t text_width(DType dtype);

}  // namespace gasell::numpy
