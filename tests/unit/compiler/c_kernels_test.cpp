// Kernels in C: words, types, what is refused and where; and that no text makes the translator fall over.
#include <random>

#include "catch.h"
#include "compiler/c_kernels/elementwise.h"
#include "compiler/c_kernels/reduction.h"
#include "compiler/ir/text.h"

using namespace gasell;
using namespace gasell::c_kernels;

namespace {

SourceRef text(std::string t) { return std::make_shared<Source>("<text>", std::move(t)); }

ElementwiseText kernel_of(const std::string& body, const std::string& preamble = "") {
  ElementwiseText k;
  k.name = "f";
  k.parameters = parse_parameters("T x, raw T y, int32 w", true);
  for (Parameter& p : parse_parameters("T z", false)) k.parameters.push_back(std::move(p));
  k.operation = text(body);
  k.preamble = text(preamble);
  k.loop_prep = text("");
  k.after_loop = text("");
  return k;
}

functions::Compiled compile(const ElementwiseText& kernel, bool threads = false, DType type = DType::f64, int rank = 1,
                            functions::Layout layout = functions::Layout::c) {
  using functions::Type;
  const Type array = Type::array_of(type, rank, layout);
  functions::Options options;
  options.cuda = threads;
  const std::vector<Type> extents(static_cast<size_t>(rank), Type::of(DType::i64));
  return compile_elementwise(kernel, {array, array, Type::of(DType::i32), array, Type::tuple_of(extents)}, false, options);
}

std::vector<Token> words_of(const std::string& t) {
  static std::vector<SourceRef> kept;
  Macros macros;
  kept.push_back(text(t));
  return tokenize(kept.back(), macros)->words;
}

/// The diagnostic of a text that is refused.
Diagnostic refusal(const std::string& body, const std::string& preamble = "") {
  try {
    compile(kernel_of(body, preamble));
  } catch (const Error& e) {
    return e.diagnostic();
  }
  FAIL("not refused: " << body);
  return {};
}

}  // namespace

TEST_CASE("words of C") {
  const auto words = words_of("a+++b <<= 0x10; // note\n'\\n' /* more */ .5f");
  std::string joined;
  for (const Token& t : words) joined += std::string(t.text) + " ";
  CHECK(joined == "a ++ + b <<= 0x10 ; '\\n' .5f  ");
  CHECK(words_of("f\\\n(x)").size() == 5);
}

TEST_CASE("literals have C's types") {
  const auto type = [](const std::string& t) { return words_of(t).at(0).value.type; };
  CHECK(type("1") == DType::i32);
  CHECK(type("2147483648") == DType::i64);
  CHECK(type("0x80000000") == DType::u32);
  CHECK(type("1u") == DType::u32);
  CHECK(type("4294967296u") == DType::u64);
  CHECK(type("1l") == DType::i64);
  CHECK(type("1ULL") == DType::u64);
  CHECK(type("1.") == DType::f64);
  CHECK(type("1e3f") == DType::f32);
  CHECK(words_of("0b101").at(0).value.i == 5);
  CHECK(words_of("017").at(0).value.i == 15);
  CHECK(words_of("0x1F").at(0).value.i == 31);
  for (const char* wrong : {"08", "1f", "0x", "1uu", "1.5u", "12ab", "99999999999999999999"}) CHECK_THROWS_AS(words_of(wrong), Error);
}

TEST_CASE("operands of two types become one as C has it") {
  CHECK(promoted(DType::i8) == DType::i32);
  CHECK(promoted(DType::boolean) == DType::i32);
  CHECK(promoted(DType::u32) == DType::u32);
  CHECK(common_type(DType::u8, DType::i16) == DType::i32);
  CHECK(common_type(DType::i32, DType::u32) == DType::u32);
  CHECK(common_type(DType::u32, DType::i64) == DType::i64);
  CHECK(common_type(DType::i64, DType::u64) == DType::u64);
  CHECK(common_type(DType::u64, DType::f32) == DType::f32);
  CHECK(common_type(DType::f32, DType::f64) == DType::f64);
  CHECK(common_type(DType::c64, DType::f64) == DType::c128);
}

TEST_CASE("parameter lists") {
  const auto p = parse_parameters(" raw T x , float32 y,_non_const int8 z", true);
  REQUIRE(p.size() == 3);
  CHECK((p[0].raw && p[0].name == "x" && !p[0].dtype && p[0].is_const));
  CHECK((p[1].dtype == DType::f32 && !p[1].raw));
  CHECK((p[2].dtype == DType::i8 && !p[2].is_const));
  CHECK(parse_parameters("  ", true).empty());
  for (const char* wrong : {"x", "T", "T x,", "cooked T x", "float12 x", "T 1x"}) CHECK_THROWS_AS(parse_parameters(wrong, true), Error);
}

TEST_CASE("placeholders stand for what arrays have, outputs first") {
  auto p = parse_parameters("T x, S y", true);
  for (Parameter& out : parse_parameters("T z", false)) p.push_back(std::move(out));
  CHECK(decide_types(p, 2, {DType::f32, DType::i8}) == std::vector{DType::f32, DType::i8, DType::f32});
  CHECK(decide_types(p, 2, {std::nullopt, DType::i8, DType::f64}) == std::vector{DType::f64, DType::i8, DType::f64});
  CHECK_THROWS_AS(decide_types(p, 2, {DType::f32, DType::i8, DType::f64}), Error);
  CHECK_THROWS_AS(decide_types(p, 2, {DType::f32, std::nullopt}), Error);
}

TEST_CASE("a counted loop is one of the loop IR, others are not") {
  const auto loops = [](const std::string& body) {
    const auto compiled = compile(kernel_of(body));
    return ir::print(compiled.regions.at(0));
  };
  CHECK(loops("z = 0; for (int j = 0; j < w; ++j) z += j;").find("while") == std::string::npos);
  CHECK(loops("z = 0; for (int j = 0; j <= w - 1; j++) { if (j == 3) continue; z += j; }").find("while") == std::string::npos);
  CHECK(loops("z = 0; for (int j = 0; j < w; ++j) { z += j; if (z > 3) j += 2; }").find("while") != std::string::npos);
  CHECK(loops("int m = w; z = 0; for (int j = 0; j < m; ++j) { z += j; --m; }").find("while") != std::string::npos);
  CHECK(loops("z = 0; for (unsigned char j = 0; j < w; ++j) z += j;").find("while") != std::string::npos);
}

TEST_CASE("what is refused has its place") {
  const auto at = [](const std::string& body, const std::string& word, const std::string& kind) {
    const Diagnostic d = refusal(body);
    CHECK(d.kind == kind);
    REQUIRE(d.primary);
    CHECK(body.substr(d.primary->span.begin, d.primary->span.end - d.primary->span.begin) == word);
  };
  at("z = x + nothing", "nothing", "CompileException");
  at("z = (x", "", "CompileException");
  at("x = 1", "x", "CompileException");
  at("double t = 1; double t = 2;", "t", "CompileException");
  at("break;", "break", "NotImplementedError");
  at("z = x.size()", "size", "CompileException");
  at("if (x > 1 z = 2;", "z", "CompileException");
  at("z = sin()", "sin()", "CompileException");
  at("float* p;", "*", "NotImplementedError");
  at("__shared__ float t[3];", "__shared__", "NotImplementedError");
  at("int t[w];", "w", "NotImplementedError");
  at("z = atomicAdd(&z, 1)", "atomicAdd(&z, 1)", "NotImplementedError");
  at("z = \"text\"", "\"text\"", "NotImplementedError");
  CHECK(refusal("z = g(x)", "__device__ double g(double v) { return v + u; }").message == "'u' is not declared");
}

TEST_CASE("deep texts are refused, not followed to the end of the stack") {
  for (const auto& [open, close] :
       {std::pair<std::string, std::string>{"(", ")"}, {"-", ""}, {"{", "}"}, {"if (x) ", ""}, {"x ? ", " : 1"}}) {
    std::string body = open == "{" || open.starts_with("if") ? "" : "z = ";
    for (int k = 0; k < 5000; ++k) body += open;
    body += body.starts_with("z") ? "x" : "z = 1;";
    for (int k = 0; k < 5000; ++k) body += close;
    CHECK(refusal(body).message == "the text is nested too deeply");
  }
  std::string doubling = "__device__ double f0(double v) { return v; }\n";
  for (int k = 1; k < 30; ++k) {
    const std::string before = "f" + std::to_string(k - 1);
    doubling += "__device__ double f" + std::to_string(k) + "(double v) { return " + before + "(v) + " + before + "(v); }\n";
  }
  CHECK(refusal("z = f29(x)", doubling).kind == "NotImplementedError");
}

TEST_CASE("any text is compiled or refused at a place") {
  const std::vector<std::string> corpus = {
      "T s = 0; for (int j = -w; j <= w; ++j) { long long k = i + j; if (k < 0 || k >= n) continue; s += y[k]; } z = s / (2 * w + 1);",
      "while (true) { if (z > 10) break; z += x * 2.5f; } do { --z; } while (z > 3 && x != 0);",
      "int t[2][3] = {1, 2}; t[1][w % 3] <<= 2; z = t[0][0] ? sqrt(x) : (T)(-y[0]), z++;",
      "typedef double real; auto q = static_cast<real>(x); const int& r = w; z = min(q, (real)r) + pow(q, 2) - ~w;",
      "complex<float> c(x, 1.0f); z = c.real() * imag(c) + abs(c - complex<float>(1)); return;",
      "z = g(x, 3) + h<float>(z, x); { T x = 1; z *= x; }",
      "if (x < 1) z = 1; else if (x < 2) { z = 2; continue; } else z = y.size() + y.shape()[0] + _ind.size() + sizeof(T);"};
  const std::string preamble =
      "#define LIMIT 10\n__device__ double g(double a, int b) { return b > LIMIT ? a : a * b; }\n"
      "template <typename T, typename U> __device__ T h(T& a, U b) { a += b; return a; }\n";
  const std::vector<std::string> pieces = {
      "(",     ")",      "{",    "}",        "[",   "]",  ";",  ",",      "=",    "+",     "++",
      "?",     ":",      "x",    "y",        "z",   "w",  "T",  "int",    "for",  "if",    "else",
      "while", "return", "1",    "2.5f",     "&",   "&&", "<",  ">",      ".",    "::",    "#",
      "\n",    "'",      "\"",   "\\",       "/*",  "//", "0x", "sizeof", "auto", "const", "complex<double>",
      "g",     "h",      "y[i]", "unsigned", "\xff"};
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int compiled = 0, refused = 0;
  for (int run = 0; run < 4000; ++run) {
    std::string body = corpus[below(corpus.size())], before = preamble;
    std::string& changed = below(4) ? body : before;
    for (size_t k = below(4) + (run % 3 == 0); k > 0; --k) {
      const size_t at = below(changed.size() + 1);
      switch (below(4)) {
        case 0: changed.insert(at, pieces[below(pieces.size())]); break;
        case 1: changed.erase(at, below(8)); break;
        case 2: changed.insert(at, changed.substr(below(changed.size() + 1), below(30))); break;
        default: changed.replace(at, std::min<size_t>(1, changed.size() - at), pieces[below(pieces.size())]);
      }
    }
    try {
      compile(kernel_of(body, before), below(2), below(2) ? DType::f64 : DType::i32, static_cast<int>(below(3)),
              below(2) ? functions::Layout::any : functions::Layout::c);
      ++compiled;
    } catch (const Error& e) {
      ++refused;
      INFO(body << "\n" << before << "\n" << e.what());
      CHECK((e.diagnostic().kind == "CompileException" || e.diagnostic().kind == "NotImplementedError"));
      CHECK(e.diagnostic().primary);
    }
  }
  CHECK(compiled > 200);
  CHECK(refused > 200);
}

TEST_CASE("a reduction has its pieces, lanes and barriers") {
  using functions::Type;
  ReductionText k;
  k.name = "total";
  k.parameters = parse_parameters("T x", true);
  k.inputs = 1;
  for (Parameter& p : parse_parameters("T y", false)) k.parameters.push_back(std::move(p));
  k.map = text("x * x"), k.reduce = text("a + b"), k.post_map = text("y = a"), k.identity = text("0"), k.reduce_type = text("T"),
  k.preamble = text("");
  CHECK(reduction_type(k, {DType::f32, DType::f32}) == DType::f32);
  std::vector<Type> types = {Type::array_of(DType::f32, 1), Type::array_of(DType::f32, 0), Type::tuple_of({Type::of(DType::i64)})};
  types.insert(types.end(), 4, Type::of(DType::i64));
  functions::Options options;
  options.cuda = true;
  const std::string threads = ir::print(compile_reduction(k, {1, 0, 8, false, true}, types, false, options).kernel);
  size_t barriers = 0;
  for (size_t at = threads.find("barrier()"); at != std::string::npos; at = threads.find("barrier()", at + 1)) ++barriers;
  CHECK(barriers == 3);
  k.map = text("x * q");
  CHECK_THROWS_AS(compile_reduction(k, {1, 0, 8, false, true}, types, false, options), Error);
}
