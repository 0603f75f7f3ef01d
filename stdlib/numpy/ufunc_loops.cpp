#include "stdlib/numpy/ufunc_loops.h"

#include <algorithm>
#include <memory>

#include "lang/diagnostic.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

/// How a loop is found where none takes the operands as they are.
enum class Promotion : uint8_t {
  search,    // the first whose dtypes all operands can be cast to safely
  uniform,   // that of the operands' common dtype
  division,  // search, but integers are divided as float64
  absolute,  // search for complex numbers, else uniform
  compare,   // uniform, and dtype= may name bool only
  logic,     // bool, whatever the operands are, and dtype= may name bool only
};

/// NumPy's character codes. `shapes`: operands, '>' and results of the loops of each type, for which x stands; `more`: loops that are none
/// of these.
struct Family {
  std::string_view types, shapes, more;
  Promotion promotion;
};

constexpr std::string_view kAll = "?bBhHiIlLefdFD", kNumbers = "bBhHiIlLefdFD", kReal = "bBhHiIlLefd", kIntegers = "bBhHiIlL";

constexpr std::array<Family, static_cast<size_t>(LoopClass::count_)> kFamilies = {{
    {kAll, "xx>x", "", Promotion::uniform},                   // sum
    {kNumbers, "xx>x", "", Promotion::uniform},               // subtraction
    {kAll, "xx>x", "", Promotion::uniform},                   // extreme
    {"efdFD", "xx>x", "", Promotion::division},               // division
    {kReal, "xx>x", "", Promotion::search},                   // quotient
    {kNumbers, "xx>x", "", Promotion::search},                // power
    {"dD", "xx>x", "", Promotion::search},                    // float_power
    {kNumbers, "x>x", "", Promotion::uniform},                // negation
    {kNumbers, "x>x", "", Promotion::search},                 // number
    {kNumbers, "x>x", "", Promotion::uniform},                // sign
    {"?bBhHiIlLefd", "x>x", "F>f D>d", Promotion::absolute},  // absolute
    {"efdFD", "x>x", "", Promotion::search},                  // inexact
    {"efd", "x>x", "", Promotion::search},                    // real
    {"efd", "xx>x", "", Promotion::search},                   // reals
    {"?bBhHiIlLefd", "x>x", "", Promotion::search},           // rounding
    {kAll, "x>?", "", Promotion::search},                     // inspection
    {"efd", "x>?", "", Promotion::search},                    // sign_bit
    {kAll, "xx>?", "lL>? Ll>?", Promotion::compare},          // comparison
    {kAll, "xx>?", "", Promotion::logic},                     // logic
    {kAll, "x>?", "", Promotion::logic},                      // negated
    {"?bBhHiIlL", "xx>x", "", Promotion::search},             // bits
    {"?bBhHiIlL", "x>x", "", Promotion::search},              // inversion
    {kIntegers, "xx>x", "", Promotion::search},               // shift
    {kIntegers, "xx>x", "", Promotion::uniform},              // divisor
    {kIntegers, "x>B", "", Promotion::search},                // count
    {"efd", "xi>x xl>x", "", Promotion::search},              // scaling
    {"efd", "x>xi", "", Promotion::search},                   // splitting
    {"efd", "x>xx", "", Promotion::search},                   // parts
    {kReal, "xx>xx", "", Promotion::search},                  // remainders
}};

const Family& family_of(LoopClass loops) { return kFamilies[static_cast<size_t>(loops)]; }

/// Codes of dtypes in the order of the enumeration.
constexpr std::string_view kCodes = "?bhilBHILfdFDe";

DType dtype_of_code(char code) { return static_cast<DType>(kCodes.find(code)); }
char code_of(DType dtype) { return kCodes[static_cast<size_t>(dtype)]; }

/// Calls with each word of a text.
template <class Work>
void for_words(std::string_view text, Work&& work) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    work(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Whether an operand is a number of Python's without a dtype of its own; its bool has one.
bool is_weak(const Operand& o) { return o.weak && o.weak != 'b'; }

/// The operand's place in what a table knows: its dtype, or its kind behind all dtypes.
size_t key_of(const Operand& o) {
  if (!is_weak(o)) return static_cast<size_t>(o.node->dtype);
  return kDTypeCount + (o.weak == 'i' ? 0 : o.weak == 'f' ? 1 : 2);
}

/// Operands with the dtypes that NumPy's search sees. Python's numbers alone have their own, and so has one beside an array of a lesser
/// kind; else such a number goes wherever its kind does.
struct Searched {
  DType dtype;
  char weak;  // 0: dtype counts

  bool goes_to(DType t) const {
    if (!weak) return promote(dtype, t) == t;
    if (weak == 'i') return t != DType::boolean;
    return weak == 'f' ? is_float(t) || is_complex(t) : is_complex(t);
  }
};

/// Whether both operands, or the one that there is, go to what a loop takes.
bool can_take(const Loop& loop, const std::array<Searched, 2>& given, int inputs) {
  return given[0].goes_to(loop.in[0]) && (inputs == 1 || given[1].goes_to(loop.in[1]));
}

std::array<Searched, 2> searched(std::span<const Operand> operands) {
  std::array<Searched, 2> result{};
  std::optional<DType> strong;
  for (const Operand& o : operands)
    if (!is_weak(o)) strong = o.node->dtype;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    result[k] = {o.node->dtype, 0};
    if (!is_weak(o)) continue;
    const DType own = o.weak == 'i' ? DType::i64 : o.weak == 'f' ? DType::f64 : DType::c128;
    result[k].dtype = strong ? promote_weak(*strong, o.weak) : own;
    if (strong && (o.weak == 'i' ? *strong != DType::boolean : is_float(*strong) || is_complex(*strong))) result[k].weak = o.weak;
  }
  return result;
}

// ---- words ----

std::string class_of(DType t) {
  std::string name(name_of(t));
  const size_t capitals = name[0] == 'u' ? 2 : 1;
  for (size_t k = 0; k < capitals; ++k) name[k] = static_cast<char>(name[k] - 'a' + 'A');
  return "<class 'numpy.dtypes." + name + "DType'>";
}

std::string class_of(const Operand& o) {
  if (!is_weak(o)) return class_of(o.node->dtype);
  return std::string("<class 'numpy.dtypes._Py") + (o.weak == 'i' ? "Long" : o.weak == 'f' ? "Float" : "Complex") + "DType'>";
}

[[noreturn]] void raise_no_loop_of(std::string_view name, const std::string& given, std::optional<DType> dtype) {
  raise("UFuncTypeError", "ufunc '" + std::string(name) + "' did not contain a loop with signature matching types " + given + " -> " +
                              (dtype ? class_of(*dtype) : "None"));
}

[[noreturn]] void raise_not_supported(std::string_view name) {
  raise("TypeError", "ufunc '" + std::string(name) +
                         "' not supported for the input types, and the inputs could not be safely coerced to any supported types according "
                         "to the casting rule ''safe''");
}

[[noreturn]] void raise_no_signature(std::string_view name) {
  raise("TypeError", "No loop matching the specified signature and casting was found for ufunc " + std::string(name));
}

void refuse_booleans(LoopClass loops, DType common) {
  if (common != DType::boolean) return;
  if (loops == LoopClass::subtraction)
    raise("TypeError",
          "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
          "function instead.");
  if (loops == LoopClass::negation)
    raise("TypeError",
          "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.");
}

bool is_uniform(Promotion promotion, DType first) {
  return promotion == Promotion::uniform || (promotion == Promotion::absolute && !is_complex(first));
}

}  // namespace

LoopTable::LoopTable(LoopClass of) : class_(of) {
  const Family& family = family_of(of);
  const auto add = [&](std::string_view shape, char type) {
    const auto dtype = [&](char code) { return dtype_of_code(code == 'x' ? type : code); };
    const size_t arrow = shape.find('>');
    Loop loop{};
    for (size_t k = 0; k < arrow; ++k) loop.in[k] = dtype(shape[k]);
    for (size_t k = arrow + 1; k < shape.size(); ++k) loop.out[k - arrow - 1] = dtype(shape[k]);
    inputs = static_cast<int>(arrow);
    outputs = static_cast<int>(shape.size() - arrow - 1);
    loops.push_back(loop);
  };
  for (const char type : family.types) for_words(family.shapes, [&](std::string_view shape) { add(shape, type); });
  for_words(family.more, [&](std::string_view shape) { add(shape, '?'); });
}

const LoopTable& LoopTable::of(LoopClass loops) {
  static const auto kTables = [] {
    std::array<std::unique_ptr<const LoopTable>, static_cast<size_t>(LoopClass::count_)> tables;
    for (size_t k = 0; k < tables.size(); ++k) tables[k].reset(new LoopTable(static_cast<LoopClass>(k)));
    return tables;
  }();
  return *kTables[static_cast<size_t>(loops)];
}

std::string LoopTable::signature(const Loop& loop) const {
  std::string text;
  for (int k = 0; k < inputs; ++k) text += code_of(loop.in[static_cast<size_t>(k)]);
  text += "->";
  for (int k = 0; k < outputs; ++k) text += code_of(loop.out[static_cast<size_t>(k)]);
  return text;
}

/// The loop that takes operands as they are, and gives a dtype where one is asked for.
const Loop* LoopTable::matching(std::span<const Operand> operands, std::optional<DType> dtype) const {
  for (const Operand& o : operands)
    if (is_weak(o)) return nullptr;
  for (const Loop& loop : loops) {
    bool same = !dtype || (loop.out[0] == *dtype && (outputs == 1 || loop.out[1] == *dtype));
    for (size_t k = 0; k < operands.size(); ++k) same = same && loop.in[k] == operands[k].node->dtype;
    if (same) return &loop;
  }
  return nullptr;
}

const Loop* LoopTable::uniform(DType dtype) const {
  for (const Loop& loop : loops)
    if (loop.in[0] == dtype && (inputs == 1 || loop.in[1] == dtype)) return &loop;
  return nullptr;
}

const Loop* LoopTable::search(std::span<const Operand> operands) const {
  const Promotion promotion = family_of(class_).promotion;
  if (promotion == Promotion::logic) return uniform(DType::boolean);
  if (const Loop* exact = matching(operands, {})) return exact;
  const DType common = common_type(operands);
  if (promotion == Promotion::compare || is_uniform(promotion, common)) return uniform(common);
  const std::array<Searched, 2> given = searched(operands);
  const auto whole = [](DType t) { return t == DType::boolean || is_integer(t); };
  if (promotion == Promotion::division && whole(given[0].dtype) && whole(given[1].dtype)) return uniform(DType::f64);
  for (const Loop& loop : loops)
    if (can_take(loop, given, inputs)) return &loop;
  return nullptr;
}

const Loop* LoopTable::find(std::span<const Operand> operands) const {
  constexpr uint8_t kNone = 255;
  std::atomic<uint8_t>& known = known_[key_of(operands[0]) * kOperandKinds + (operands.size() > 1 ? key_of(operands[1]) : 0)];
  uint8_t place = known.load(std::memory_order_relaxed);
  if (place == 0) {
    const Loop* loop = search(operands);
    place = loop ? static_cast<uint8_t>(loop - loops.data() + 1) : kNone;
    known.store(place, std::memory_order_relaxed);
  }
  return place == kNone ? nullptr : &loops[place - 1U];
}

const Loop* LoopTable::find(std::span<const Operand> operands, DType dtype) const {
  const Promotion promotion = family_of(class_).promotion;
  if (promotion == Promotion::compare || promotion == Promotion::logic) return dtype == DType::boolean ? find(operands) : nullptr;
  if (const Loop* exact = matching(operands, dtype)) return exact;
  const auto gives = [&](const Loop& loop) { return loop.out[0] == dtype && (outputs == 1 || loop.out[1] == dtype); };
  if (!is_uniform(promotion, operands[0].node->dtype)) {
    const std::array<Searched, 2> given = searched(operands);
    for (const Loop& loop : loops)
      if (gives(loop) && can_take(loop, given, inputs)) return &loop;
  }
  const Loop* loop = uniform(dtype);
  return loop && gives(*loop) ? loop : nullptr;
}

const Loop* LoopTable::find_reduction(DType given, DType elements) const {
  const Promotion promotion = family_of(class_).promotion;
  if (promotion == Promotion::logic) return given == DType::boolean ? uniform(given) : nullptr;
  for (const Loop& loop : loops)
    if (loop.in[0] == given && loop.in[1] == elements && loop.out[0] == given) return &loop;
  if (promotion == Promotion::compare) return nullptr;
  if (promotion == Promotion::uniform) return uniform(given);
  for (const Loop& loop : loops)
    if (loop.in[0] == given && loop.out[0] == given) return &loop;
  return nullptr;
}

const Loop& resolve(std::string_view name, LoopClass loops, std::span<const Operand> operands, std::optional<DType> dtype) {
  const LoopTable& table = LoopTable::of(loops);
  if (const Loop* loop = dtype ? table.find(operands, *dtype) : table.find(operands)) return *loop;
  const DType common = dtype ? *dtype : common_type(operands);
  refuse_booleans(loops, common);
  const Promotion promotion = family_of(loops).promotion;
  if (is_uniform(promotion, operands[0].node->dtype)) {
    const std::string first = class_of(operands[0]);
    raise_no_loop_of(name, operands.size() == 1 ? first : "(" + first + ", " + class_of(operands[1]) + ")", dtype);
  }
  if (dtype) raise_no_signature(name);
  raise_not_supported(name);
}

/// Without dtype= the operands are what is in out and the elements, and sums and products of small integers are int64 or uint64. A loop
/// that gives another dtype than it takes first is no reduction, but may say of which dtype one would have to be.
const Loop& resolve_reduction(std::string_view name, LoopClass loops, DType elements, std::optional<DType> dtype,
                              std::optional<DType> out) {
  const LoopTable& table = LoopTable::of(loops);
  if (!dtype && !out && loops == LoopClass::sum && size_of(elements) < 8 && (elements == DType::boolean || is_integer(elements)))
    dtype = kind(elements) == 'u' ? DType::u64 : DType::i64;
  const Loop* loop = nullptr;
  const auto of_type = [](DType t) { return Operand{graph::constant(Scalar::of_int(0).cast(t)), 0}; };
  const Operand operands[] = {of_type(out.value_or(elements)), of_type(elements)};
  if (!dtype) {
    loop = table.find(operands);
    if (loop && loop->in[0] != loop->out[0]) {
      dtype = loop->out[0];
      loop = nullptr;
    }
  }
  if (!loop && dtype) loop = table.find_reduction(*dtype, elements);
  if (loop) return *loop;
  refuse_booleans(loops, dtype ? *dtype : common_type(operands));
  if (family_of(loops).promotion == Promotion::uniform)
    raise_no_loop_of(name, "(" + (dtype || out ? class_of(dtype ? *dtype : *out) : "None") + ", " + class_of(elements) + ")", dtype);
  if (dtype) raise_no_signature(name);
  raise_not_supported(name);
}

}  // namespace gasell::numpy
