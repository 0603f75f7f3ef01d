// Calls of compiled functions, with kernels written by hand.
#include "runtime/functions/call.h"

#include <cstring>

#include "catch.h"
#include "compiler/codegen/externals.h"
#include "compiler/ir/text.h"
#include "runtime/device/device.h"
#include "runtime/functions/context.h"
#include "runtime/functions/views.h"

using namespace gasell;
using namespace gasell::functions;

namespace {

Engine& engine() {
  static Engine e([] {
    EngineOptions options = EngineOptions::from_environment();
    options.cache = false;
    return options;
  }());
  return e;
}

/// 0, 1, 2, … as an array in memory.
Array ramp(const graph::Shape& shape) {
  Array a(graph::reshape(graph::iota(graph::size_of(shape), Scalar::of_float(0), Scalar::of_float(1)), shape));
  const std::vector<const Array*> all{&a};
  settle(engine(), all, {true});
  return a;
}

std::vector<double> values(const Array& a) {
  const Array::Elements e = a.elements(engine());
  std::vector<double> v;
  for (int64_t i = 0; i < e.count; ++i) v.push_back(e[i].as_double());
  return v;
}

constexpr const char* kTail = "out context: u8, out error: i64, in interrupt: u8, out results: i64";

Compiled compiled(const std::string& parameters, const std::string& body, std::vector<Type> arguments, Type result, int slots,
                  std::vector<bool> writes) {
  Compiled c;
  c.kernel = ir::parse("kernel f(" + parameters + (parameters.empty() ? "" : ", ") + kTail + ") {\n" + body + "\n}\n");
  c.arguments = std::move(arguments);
  c.result = std::move(result);
  c.result_slots = slots;
  c.writes = std::move(writes);
  return c;
}

Returned call(const Specialisation& s, std::vector<Leaf> leaves) {
  std::vector<const Array*> arrays;
  for (const Leaf& leaf : leaves)
    if (leaf.array) arrays.push_back(leaf.array);
  settle(engine(), arrays, s.compiled().writes);
  std::vector<Array::Memory> memories;
  for (size_t k = 0; k < arrays.size(); ++k) memories.push_back(arrays[k]->memory(s.compiled().writes[k]));
  return s.run(engine(), {.leaves = leaves, .arrays = arrays, .memories = memories});
}

const Type kF64 = Type::of(DType::f64), kI64 = Type::of(DType::i64);

}  // namespace

TEST_CASE("scalars go in and come out", "[functions]") {
  const Specialisation s(
      engine(), compiled("a: i64, b: f32, c: c64, d: bool",
                         "results[0] = (a + 1)\n results[1] = bits_i64(f64(b))\n results[2] = bits_i64(f64(real(c)))\n results[3] = "
                         "bits_i64(f64(imag(c)))\n results[4] = i64(d)",
                         {kI64, Type::of(DType::f32), Type::of(DType::c64), Type::of(DType::boolean)},
                         Type::tuple_of({kI64, Type::of(DType::f32), Type::of(DType::c64), Type::of(DType::boolean), Type{}}), 5, {}));
  const Returned r = call(
      s, {{Scalar::of_int(41)}, {Scalar::of_float(1.5, DType::f32)}, {Scalar::of_complex({2, -3}, DType::c64)}, {Scalar::of_bool(true)}});
  REQUIRE(r.items.size() == 5);
  CHECK(r.items[0].scalar.i == 42);
  CHECK(r.items[1].scalar.same_bits(Scalar::of_float(1.5, DType::f32)));
  CHECK(r.items[2].scalar.same_bits(Scalar::of_complex({2, -3}, DType::c64)));
  CHECK(r.items[3].scalar.same_bits(Scalar::of_bool(true)));
  CHECK(r.items[4].type->is_none());
}

TEST_CASE("an optional result is there or not", "[functions]") {
  const Type optional{.kind = Type::Kind::optional, .items = {kF64}};
  const Specialisation s(engine(), compiled("a: i64", "results[0] = a\n results[1] = bits_i64(2.5)\n results[2] = 7", {kI64},
                                            Type::tuple_of({optional, kI64}), 3, {}));
  const Returned there = call(s, {{Scalar::of_int(1)}}), missing = call(s, {{Scalar::of_int(0)}});
  CHECK(there.items[0].there);
  CHECK(there.items[0].items.at(0).scalar.c.real() == 2.5);
  CHECK_FALSE(missing.items[0].there);
  CHECK(missing.items[1].scalar.i == 7);
}

TEST_CASE("a function writes to the caller's array, its views see it and graphs recorded before do not", "[functions]") {
  const Type array = Type::array_of(DType::f64, 1, Layout::any);
  const Specialisation s(
      engine(), compiled("out a: f64, n: i64, stride: i64", "for i in 0 .. n {\n a[(i * stride)] = -1.0\n }", {array}, Type{}, 0, {true}));
  Array whole = ramp({6});
  const Array twice = Array(graph::map(ScalarOp::add, {whole.node(), whole.node()}));
  const Array every_other = whole.view({3}, {{0, 1, 2}});
  call(s, {{{}, &every_other}});
  CHECK(values(whole) == std::vector<double>{0, -1, 2, -1, 4, -1});
  CHECK(values(every_other) == std::vector<double>{-1, -1, -1});
  CHECK(values(twice) == std::vector<double>{0, 2, 4, 6, 8, 10});
}

TEST_CASE("memory that is bound is written in place", "[functions]") {
  const Specialisation s(engine(), compiled("out a: f64, n: i64", "for i in 0 .. n {\n a[i] = (a[i] * 2.0)\n }",
                                            {Type::array_of(DType::f64, 1)}, Type{}, 0, {true}));
  double memory[3] = {1, 2, 3};
  const Array a = Array::over(external(memory, sizeof memory, true), DType::f64, {3});
  call(s, {{{}, &a}});
  CHECK(memory[2] == 6);
  const Array fixed = Array::over(external(memory, sizeof memory, false), DType::f64, {3});
  CHECK_THROWS_AS(call(s, {{{}, &fixed}}), Error);
}

TEST_CASE("strides of a Fortran array stay when it is copied to be written", "[functions]") {
  const Array base = ramp({2, 3});
  Array fortran(graph::buffer(base.memory(false).keep_alive, DType::f64, {3, 2}, {1, 3}, 0));
  const std::vector<const Array*> all{&fortran};
  settle(engine(), all, {true});
  CHECK(fortran.strides() == std::vector<int64_t>{1, 3});
  CHECK(fortran.memory(true).data != base.memory(false).data);
  CHECK(values(fortran) == std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("an argument that comes back whole is itself, and a part of it is a view", "[functions]") {
  const Type array = Type::array_of(DType::f64, 2), part = Type::array_of(DType::f64, 1, Layout::any);
  const Specialisation s(
      engine(), compiled("in a: f64, n: i64, m: i64, address: i64",
                         "results[0] = address\n results[1] = 0\n results[2] = n\n results[3] = m\n results[4] = m\n results[5] = 1\n"
                         "results[6] = address\n results[7] = 1\n results[8] = n\n results[9] = m",
                         {array, kI64}, Type::tuple_of({array, part}), 10, {false}));
  Array a = ramp({2, 3});
  const auto address = reinterpret_cast<int64_t>(a.memory(false).data);
  const Returned r = call(s, {{{}, &a}, {Scalar::of_int(address)}});
  CHECK(r.items[0].argument == 0);
  CHECK(r.items[1].argument == -1);
  const Array column = *r.items[1].array;
  CHECK(column.same_memory(a));
  CHECK(values(column) == std::vector<double>{1, 4});
  a.assign(engine(), graph::constant(Scalar::of_float(9)));
  CHECK(values(column) == std::vector<double>{9, 9});
}

TEST_CASE("what a function raises has its place and its numbers", "[functions]") {
  Compiled c = compiled("i: i64, n: i64", "if (i >= n) {\n error[0] = 1\n error[1] = i\n error[2] = n\n }", {kI64, kI64}, Type{}, 0, {});
  c.sites.push_back({"IndexError", "index {0} is out of bounds for axis 0 with size {1}", {3, 7}, nullptr, "f"});
  const Specialisation s(engine(), std::move(c));
  CHECK_NOTHROW(call(s, {{Scalar::of_int(1)}, {Scalar::of_int(2)}}));
  try {
    call(s, {{Scalar::of_int(7)}, {Scalar::of_int(5)}});
    FAIL("nothing was raised");
  } catch (const SiteRaised& raised) {
    CHECK(raised.message == "index 7 is out of bounds for axis 0 with size 5");
    CHECK(raised.site.span == Span{3, 7});
  }
}

TEST_CASE("an interrupt leaves the function", "[functions]") {
  const Specialisation s(engine(), compiled("", "if (interrupt[0] != 0u8) {\n error[0] = -1\n }", {}, Type{}, 0, {}));
  CHECK_NOTHROW(call(s, {}));
  engine().interrupt();
  CHECK_THROWS_AS(call(s, {}), Interrupted);
  CHECK_FALSE(engine().interrupted());
}

TEST_CASE("memory of a call is counted, and what is left is freed", "[functions]") {
  register_context_functions();
  for (const char* name : {"gasell_allocate", "gasell_retain", "gasell_release"}) CHECK(find_external(name));
  MemoryBudget& budget = engine().device().budget();
  const int64_t before = budget.used();
  HostStorageRef kept;
  {
    FunctionContext context(engine(), {});
    void* const a = context.allocate(1 << 20);
    void* const b = context.allocate(1 << 20);
    REQUIRE(a);
    CHECK(reinterpret_cast<uintptr_t>(a) % 64 == 0);
    CHECK(budget.used() >= before + (2 << 20));
    context.retain(a);
    context.release(a);
    CHECK(context.storage(a));
    context.release(a);
    CHECK_FALSE(context.storage(a));
    int other = 0;
    context.release(&other);
    CHECK_FALSE(context.storage(&other));
    kept = context.storage(b);
    CHECK_FALSE(context.allocate(int64_t{1} << 60));
    CHECK(context.refusal());
  }
  CHECK(budget.used() >= before + (1 << 20));
  kept.reset();
  CHECK(budget.used() == before);
}

TEST_CASE("views are found by their layouts", "[functions]") {
  const Array a = ramp({3, 4, 5});
  const std::vector<int64_t> strides = a.strides();
  const auto elements = [&](ElementLayout layout) {
    const auto view = view_of(a, strides, layout);
    return view ? values(*view) : std::vector<double>();
  };
  CHECK(elements({0, {5, 4, 3}, {1, 5, 20}}) == values(a.view({5, 4, 3}, {{2, 0, 1}, {1, 0, 1}, {0, 0, 1}})));
  CHECK(elements({59, {3}, {-20}}) == std::vector<double>{59, 39, 19});
  CHECK(elements({22, {2, 1, 2}, {5, 0, 2}}) == std::vector<double>{22, 24, 27, 29});
  CHECK(elements({7, {}, {}}) == std::vector<double>{7});
  CHECK(elements({7, {2, 2}, {0, 1}}) == std::vector<double>{7, 8, 7, 8});
  CHECK(elements({10, {10, 5}, {5, 1}}).size() == 50);
  CHECK(elements({3, {4}, {7}}) == std::vector<double>{3, 10, 17, 24});
  CHECK(elements({0, {0, 4}, {4, 1}}).empty());
  CHECK_FALSE(view_of(a, strides, {58, {5}, {1}}));
  // Of reshapes: rows of 6 and of 15 elements, backwards, and the last box that is not whole.
  CHECK(elements({54, {10, 2}, {-6, 3}}) ==
        std::vector<double>{54, 57, 48, 51, 42, 45, 36, 39, 30, 33, 24, 27, 18, 21, 12, 15, 6, 9, 0, 3});
  CHECK(elements({30, {2, 3, 2}, {-15, -5, 2}}).empty());
  CHECK(elements({14, {3, 2}, {15, -4}}) == std::vector<double>{14, 10, 29, 25, 44, 40});
}
