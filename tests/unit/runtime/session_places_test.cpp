// Where errors are placed, what led there, and what the host sees.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "session_run.h"

using namespace gasell;

TEST_CASE("session: an error stands at the smallest expression that failed") {
  auto place = [](const std::string& script) { return text_under(*diagnostic_of(script).primary); };
  CHECK(place("x = 1 + (2 / 0) * 3") == "2 / 0");
  CHECK(place("x = [1, 2]\ny = x[0] + x[7]") == "x[7]");
  CHECK(place("x = []\nx.apend(1)") == "apend");
  CHECK(place("print(1, undefined_name)") == "undefined_name");
  CHECK(place("x = 5\nx += 'a'") == "x += 'a'");
  CHECK(place("a, b = 1") == "a, b");
  CHECK(place("z = [k for k in range(3) if k / 0]") == "k / 0");
  CHECK(place("assert 1 > 2, 'no'") == "1 > 2");
  CHECK(place("int('x')") == "int('x')");
  CHECK(place("for i in 5: pass") == "5");
  CHECK(place("f'{1 + None}'") == "1 + None");
  CHECK(place("{}['a'] = {}['b']") == "{}['b']");
  CHECK(place("import nothing_of_the_kind") == "nothing_of_the_kind");
  CHECK(place("raise ValueError('x')") == "raise ValueError('x')");
}

TEST_CASE("session: the calls that led to an error are its secondary labels") {
  Diagnostic d = diagnostic_of("def inner(x):\n    return x / 0\ndef outer(y):\n    return [inner(k) for k in range(y)]\nouter(3)\n");
  CHECK(d.kind == "ZeroDivisionError");
  CHECK(d.message == "division by zero");
  CHECK(text_under(*d.primary) == "x / 0");
  REQUIRE(d.secondary.size() == 2);
  CHECK(text_under(d.secondary[0]) == "inner(k)");
  CHECK(d.secondary[0].text == "called from here, in outer");
  CHECK(text_under(d.secondary[1]) == "outer(3)");
  CHECK(d.secondary[1].text == "called from here");
}

TEST_CASE("session: a recursion is told once") {
  Diagnostic d = diagnostic_of("def f(n):\n    return f(n + 1)\nf(0)\n");
  CHECK(d.kind == "RecursionError");
  REQUIRE(d.secondary.size() == 2);
  CHECK(d.secondary[0].text == "called from here, in f (999 times)");
}

TEST_CASE("session: what was being handled is told, unless it was suppressed") {
  const std::string handler = "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b')";
  Diagnostic d = diagnostic_of(handler);
  REQUIRE(d.secondary.size() == 1);
  CHECK(d.secondary[0].text == "while handling KeyError: 'a'");
  CHECK(diagnostic_of(handler + " from None").secondary.empty());
  CHECK(diagnostic_of(handler + " from e").secondary.at(0).text == "the cause: KeyError: 'a'");
}

TEST_CASE("session: a bare raise keeps the place of the first") {
  Diagnostic d = diagnostic_of("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise\n");
  CHECK(text_under(*d.primary) == "1 / 0");
  CHECK(d.secondary.empty());
}

TEST_CASE("session: misspelt names get a hint") {
  CHECK(diagnostic_of("total = 1\nprint(totl)").hint == "did you mean 'total'?");
  CHECK(diagnostic_of("def f(value):\n    return valeu\nf(1)").hint == "did you mean 'value'?");
  CHECK(diagnostic_of("prnt(1)").hint == "did you mean 'print'?");
  CHECK(diagnostic_of("[].apend").hint == "did you mean 'append'?");
  CHECK(diagnostic_of("xyzzy_quux").hint.empty());
}

TEST_CASE("session: ints beyond 64 bits, and back") {
  CHECK(output_of("low = -2**62 * 2\nprint(2**62 + (2**62 - 1), low // 1, low % -1)") == "9223372036854775807 -9223372036854775808 0\n");
  for (const auto& [script, value] :
       {std::pair("9223372036854775807 + 1", "9223372036854775808"), std::pair("-9223372036854775807 - 2", "-9223372036854775809"),
        std::pair("2**62 * 2", "9223372036854775808"), std::pair("1 << 63", "9223372036854775808"),
        std::pair("-(-2**62 * 2)", "9223372036854775808"), std::pair("(-2**62 * 2) // -1", "9223372036854775808"),
        std::pair("abs(-2**62 * 2)", "9223372036854775808"), std::pair("2**64 - 2**64 + 5", "5")}) {
    INFO(script);
    CHECK(output_of("print(" + std::string(script) + ")") == std::string(value) + "\n");
  }
}

TEST_CASE("session: the host's view") {
  TestSession session;
  session.run("x = 41\ndef f(n): return x + n\n_hidden = 1");
  CHECK(session.evaluate("x = x\nf(1)").as_int() == 42);
  CHECK(session.evaluate("y = 1").is_none());
  REQUIRE(session.interpreter.global("x"));
  CHECK(session.interpreter.global("x")->as_int() == 41);
  CHECK(session.interpreter.global("nothing") == nullptr);
  session.interpreter.set_global("x", Value::of(1));
  CHECK(session.evaluate("f(1)").as_int() == 2);
  CHECK(session.interpreter.global_names() == std::vector<std::string>{"x", "f", "_hidden", "y"});
  session.run("del x");
  CHECK(session.interpreter.global("x") == nullptr);

  SECTION("stays usable after an error") {
    CHECK_THROWS_AS(session.run("z = 5\n1 / 0"), Error);
    CHECK(session.evaluate("z").as_int() == 5);
    CHECK_THROWS_AS(session.run("def g(): g()\ng()"), Error);
    CHECK(session.evaluate("(lambda n: n + 1)(z)").as_int() == 6);
  }
  SECTION("exits") {
    auto code = [&](const char* script) {
      try {
        session.run(script);
      } catch (const Interpreter::Exit& exit) {
        return exit.code;
      }
      return -1;
    };
    CHECK(code("raise SystemExit") == 0);
    CHECK(code("raise SystemExit(3)") == 3);
    CHECK(code("try:\n    raise SystemExit(3)\nfinally:\n    z = 1") == 3);
    CHECK(code("try:\n    raise SystemExit(3)\nexcept SystemExit: pass") == -1);
  }
}

TEST_CASE("session: an interrupt stops a loop and can be caught") {
  TestSession session;
  auto interrupt_soon = [&] {
    return std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      TestSession::engine().interrupt();
    });
  };
  for (const char* loop : {"while True: pass", "for i in range(10**15): pass", "def f():\n    while True: g()\ndef g(): pass\nf()",
                           "[0 for i in range(10**15) if i < 0]", "x = sum(0 for i in range(10**15))", "sum(map(abs, range(10**9 * 2)))",
                           "max(map(abs, range(10**15)))"}) {
    INFO(loop);
    std::thread other = interrupt_soon();
    CHECK_THROWS_AS(session.run(loop), Interrupted);
    other.join();
    CHECK(session.evaluate("1 + 1").as_int() == 2);
  }
  std::thread other = interrupt_soon();
  session.run("try:\n    while True: pass\nexcept KeyboardInterrupt as e:\n    print('caught', repr(e))\nfinally:\n    print('finally')");
  other.join();
  CHECK(session.output == "caught KeyboardInterrupt()\nfinally\n");
}

namespace {

Value make_answers(Interpreter&) {
  Value module = Value::make<Module>("answers.deep");
  static_cast<Module*>(module.object())->members.emplace("answer", Value::of(42));
  return module;
}

}  // namespace

TEST_CASE("session: known modules, with and without import") {
  auto run = [](const std::string& script) {
    TestSession session({{{"answers.deep", {"ad"}, make_answers}}});
    session.run(script);
    return session.output;
  };
  CHECK(run("print(ad.answer)") == "42\n");
  CHECK(run("def f(): return ad.answer\nprint(f(), f())") == "42 42\n");
  CHECK(run("ad = 5\nprint(ad)\ndel ad\nprint(ad.answer)") == "5\n42\n");
  CHECK(run("import answers.deep\nprint(answers.deep.answer)") == "42\n");
  CHECK(run("import answers.deep as x\nprint(x.answer, x is ad)") == "42 True\n");
  CHECK(run("from answers import deep\nprint(deep.answer)") == "42\n");
  CHECK(run("from answers.deep import answer as a\nprint(a)") == "42\n");
  CHECK(run("try:\n    from answers.deep import anser\nexcept ImportError as e: print(e)") ==
        "cannot import name 'anser' from 'answers.deep'\n");
  CHECK(run("try:\n    import answer\nexcept ModuleNotFoundError as e: print(e)") == "No module named 'answer'\n");
  CHECK(run("try:\n    ad.anser\nexcept AttributeError as e: print(e)") == "module 'answers.deep' has no attribute 'anser'\n");
}

TEST_CASE("session: scripts are modules") {
  namespace fs = std::filesystem;
  fs::path directory =
      fs::temp_directory_path() / ("gasell_session_test_" + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id())));
  fs::create_directories(directory / "package");
  auto write = [&](const char* name, const char* text) { std::ofstream(directory / name) << text; };
  write("counting.gsl", "print('run', __name__)\nn = 1\ndef up():\n    global n\n    n += 1\n    return n\ndef fail(): return [][3]\n");
  write("package/inner.gsl", "value = 7\n");
  write("first.gsl", "import second\nvalue = 1\n");
  write("second.gsl", "from first import value\n");
  write("wrong.gsl", "x = = 1\n");
  write("broken.gsl", "1 / 0\n");
  TestSession session;
  auto run = [&](const char* text) {
    session.output.clear();
    session.interpreter.run(parse_module(std::make_shared<Source>((directory / "main.gsl").string(), text)));
    return session.output;
  };
  CHECK(run("import counting\nimport counting as again\nfrom counting import n, up\nprint(up(), n, counting.n, again is counting)") ==
        "run counting\n2 1 2 True\n");
  CHECK(run("import package.inner\nprint(package.inner.value)\nfrom package import inner\nprint(inner.value)") == "7\n7\n");
  CHECK(run("try: import first\nexcept ImportError as e: print('partially initialized' in str(e))") == "True\n");
  CHECK(run("try: import wrong\nexcept SyntaxError: print('syntax')") == "syntax\n");
  CHECK(run("for i in range(2):\n    try: import broken\n    except ZeroDivisionError as e: print(e)") ==
        "division by zero\ndivision by zero\n");
  try {
    run("import counting\ncounting.fail()");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.diagnostic().primary->source->name() == (directory / "counting.gsl").string());
    REQUIRE(error.diagnostic().secondary.size() == 1);
    CHECK(text_under(error.diagnostic().secondary[0]) == "counting.fail()");
  }
  fs::remove_all(directory);
}

TEST_CASE("session: engine errors are exceptions that scripts can catch") {
  TestSession session;
  static const NativeFunction refuse{
      "refuse", "",
      [](Interpreter&, std::span<Value>) -> Value { throw Error("MemoryError", "too much", "use chunks", Blame::limitation); }, ""};
  session.interpreter.set_global("refuse", Value::make<Builtin>(refuse));
  session.run("try: refuse()\nexcept MemoryError as e: print('caught', e)");
  CHECK(session.output == "caught too much\n");
  try {
    session.run("def f(): refuse()\nf()");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.diagnostic().hint == "use chunks");
    CHECK(error.diagnostic().blame == Blame::limitation);
    CHECK(text_under(*error.diagnostic().primary) == "refuse()");
  }
}

TEST_CASE("session: what a peer has is a limitation, what nobody has the user's error") {
  const auto diagnostic = [](const std::string& text) {
    TestSession session({{{"answers.deep", {"ad"}, make_answers}},
                         {"\nimport: json answers.shallow\nanswers.deep: question\nstr: isfrozen\nbuiltins: eval\n",
                          "\nanswers.deep.reply use answer\nbuiltins.xrange use range\n"}});
    try {
      session.run(text);
    } catch (const Error& error) {
      return error.diagnostic();
    }
    return Diagnostic{};
  };
  for (const char* text : {"import json", "import json.decoder", "import answers.shallow", "from answers import shallow", "ad.question",
                           "from answers.deep import question", "'a'.isfrozen", "eval"}) {
    CHECK(diagnostic(text).kind == "NotImplementedError");
    CHECK(diagnostic(text).blame == Blame::limitation);
  }
  for (const char* text : {"import jsn", "ad.nothing", "'a'.nothing", "nothing", "raise NotImplementedError('mine')"})
    CHECK(diagnostic(text).blame == Blame::user);
  CHECK(diagnostic("ad.reply").hint == "use answer");
  CHECK(diagnostic("from answers.deep import reply").kind == "ImportError");
  CHECK(diagnostic("xrange(3)").hint == "use range");
  CHECK(diagnostic("for kind in (ImportError, NotImplementedError):\n    try: import json\n    except kind: pass").kind.empty());
  CHECK(diagnostic("assert not hasattr('a', 'isfrozen') and getattr('a', 'isfrozen', 3) == 3").kind.empty());
}

TEST_CASE("session: chains of iterators and contexts end well") {
  CHECK(output_of("g = [1]\nfor i in range(5000): g = (x for x in g)\ntry: list(g)\nexcept RecursionError as e: print(e)") ==
        "maximum recursion depth exceeded\n");
  CHECK(output_of("g = [1]\nfor i in range(2000): g = map(abs, g)\nprint(list(g))\nfor i in range(100000): g = map(abs, g)\ng = None") ==
        "[1]\n");
  CHECK(
      output_of(
          "try:\n    1/0\nexcept ZeroDivisionError as a:\n    b = a\n    try:\n        [][0]\n    except IndexError as c:\n        d = c\n"
          "        try: raise b\n        except ZeroDivisionError: pass\nprint(repr(b.__context__), repr(d.__context__))") ==
      "IndexError('list index out of range') None\n");
}
