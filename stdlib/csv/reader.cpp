// Rows of CSV texts, as Python's module csv reads them; core.gsl is the module.
#include <optional>

#include <fmt/format.h>

#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const Type& csv_error() {
  static const Type& type = []() -> const Type& {
    static const Type made{"Error", "_csv", exception_type("Exception"), {}, {}};
    return made;
  }();
  return type;
}
[[noreturn]] void fail(std::string message) {
  throw Raised(Value::make<Exception>(csv_error(), std::vector<Value>{make_str(std::move(message))}));
}

enum Quoting : int64_t { kMinimal, kAll, kNonNumeric, kNone };

struct Dialect {
  char32_t delimiter = ',', quote = '"', escape = 0;  // 0: none
  bool double_quote = true, skip_blanks = false, strict = false;
  int64_t quoting = kMinimal;
};

/// Reads the lines of an iterator, one record after the other. A quoted field may go over several lines.
class Reader final : public Object {
 public:
  Reader(Value lines, Dialect dialect, Value shown, int64_t limit)
      : lines_(std::move(lines)), dialect_(dialect), shown_dialect(std::move(shown)), limit_(limit) {}
  const Type& type() const override;
  Value iterate(Interpreter&) override { return Value::of(this); }

  std::optional<Value> next(Interpreter& in) override {
    fields_.clear();
    start_field();
    state_ = State::start_record;
    do {
      const std::optional<Value> line = gasell::next(in, lines_);
      if (!line) {
        if (field_.empty() && state_ != State::in_quotes) return {};
        if (dialect_.strict) fail("unexpected end of data");
        save_field();
        break;
      }
      const auto* text = line->as<Str>();
      if (!text) fail(fmt::format("iterator should return strings, not {} (the file should be opened in text mode)", type_of(*line).name));
      ++line_number;
      const std::u32string characters = decode(text->value);
      for (const char32_t c : characters) take(c);
      take(kLineEnd);
    } while (state_ != State::start_record);
    return make_list(std::move(fields_));
  }

  int64_t line_number = 0;

 private:
  static constexpr char32_t kLineEnd = 0xFFFFFFFF;
  enum class State : uint8_t {
    start_record,
    start_field,
    escaped,
    in_field,
    in_quotes,
    escaped_in_quotes,
    quote_in_quotes,
    after_line,
    after_escaped_line
  };

  static bool is_line_break(char32_t c) { return c == '\n' || c == '\r'; }

  void start_field() {
    field_.clear();
    numeric_ = false;
  }
  void add(char32_t c) {
    if (static_cast<int64_t>(field_.size()) >= limit_) fail(fmt::format("field larger than field limit ({})", limit_));
    field_ += c;
  }
  void save_field() {
    Value text = make_str(encode(field_));
    if (numeric_) text = Value::of(parse_float(text.as<Str>()->value));
    fields_.push_back(std::move(text));
    start_field();
  }

  void take(char32_t c) {
    switch (state_) {
      case State::start_record:
        if (c == kLineEnd) return;  // an empty line is an empty record
        if (is_line_break(c)) {
          state_ = State::after_line;
          return;
        }
        state_ = State::start_field;
        [[fallthrough]];
      case State::start_field: return begin_field(c);
      case State::escaped:
        if (is_line_break(c)) {
          add(c);
          state_ = State::after_escaped_line;
          return;
        }
        add(c == kLineEnd ? U'\n' : c);
        state_ = State::in_field;
        return;
      case State::after_escaped_line:
        if (c == kLineEnd) return;
        [[fallthrough]];
      case State::in_field:
        if (is_line_break(c) || c == kLineEnd) {
          save_field();
          state_ = c == kLineEnd ? State::start_record : State::after_line;
        } else if (dialect_.escape && c == dialect_.escape) {
          state_ = State::escaped;
        } else if (c == dialect_.delimiter) {
          save_field();
          state_ = State::start_field;
        } else {
          add(c);
          state_ = State::in_field;
        }
        return;
      case State::in_quotes:
        if (c == kLineEnd) return;
        if (dialect_.escape && c == dialect_.escape)
          state_ = State::escaped_in_quotes;
        else if (c == dialect_.quote && dialect_.quoting != kNone)
          state_ = dialect_.double_quote ? State::quote_in_quotes : State::in_field;
        else
          add(c);
        return;
      case State::escaped_in_quotes:
        add(c == kLineEnd ? U'\n' : c);
        state_ = State::in_quotes;
        return;
      case State::quote_in_quotes:
        if (dialect_.quoting != kNone && c == dialect_.quote) {
          add(c);
          state_ = State::in_quotes;
        } else if (c == dialect_.delimiter) {
          save_field();
          state_ = State::start_field;
        } else if (is_line_break(c) || c == kLineEnd) {
          save_field();
          state_ = c == kLineEnd ? State::start_record : State::after_line;
        } else if (!dialect_.strict) {
          add(c);
          state_ = State::in_field;
        } else {
          std::string delimiter, quote;
          append_utf8(delimiter, dialect_.delimiter), append_utf8(quote, dialect_.quote);
          fail("'" + delimiter + "' expected after '" + quote + "'");
        }
        return;
      case State::after_line:
        if (is_line_break(c)) return;
        if (c == kLineEnd) {
          state_ = State::start_record;
          return;
        }
        fail("new-line character seen in unquoted field - do you need to open the file in universal-newline mode?");
    }
  }

  void begin_field(char32_t c) {
    if (is_line_break(c) || c == kLineEnd) {
      save_field();
      state_ = c == kLineEnd ? State::start_record : State::after_line;
    } else if (dialect_.quote && c == dialect_.quote && dialect_.quoting != kNone) {
      state_ = State::in_quotes;
    } else if (dialect_.escape && c == dialect_.escape) {
      state_ = State::escaped;
    } else if (c == ' ' && dialect_.skip_blanks) {
      return;
    } else if (c == dialect_.delimiter) {
      save_field();
    } else {
      numeric_ = dialect_.quoting == kNonNumeric;
      add(c);
      state_ = State::in_field;
    }
  }

  const Value lines_;
  const Dialect dialect_;

 public:
  const Value shown_dialect;

 private:
  const int64_t limit_;
  State state_ = State::start_record;
  std::u32string field_;
  bool numeric_ = false;
  std::vector<Value> fields_;
};

const Type& Reader::type() const {
  static const Type type{
      "reader",
      "_csv",
      &object_type(),
      {},
      {{"line_num", [](Interpreter&, const Value& self) { return Value::of(self.as<Reader>()->line_number); }, nullptr,
        "How many lines were read."},
       {"dialect", [](Interpreter&, const Value& self) { return self.as<Reader>()->shown_dialect; }, nullptr, "How fields are written."}}};
  return type;
}

char32_t character(const Value& v) { return v.is_none() ? 0 : decode(v.as<Str>()->value).front(); }

Value make_reader(Interpreter& in, Args a) {
  const auto part = [&](const char* name) { return get_attribute(in, a[1], name); };
  Dialect dialect{character(part("delimiter")),   character(part("quotechar")),        character(part("escapechar")),
                  truth(in, part("doublequote")), truth(in, part("skipinitialspace")), truth(in, part("strict")),
                  to_index(in, part("quoting"))};
  return Value::make<Reader>(iterate(in, a[0]), dialect, a[1], to_index(in, a[2]));
}

}  // namespace

Value make_csv_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"reader", "lines, dialect, limit", make_reader, "An iterator over the records of lines."},
  };
  Value module = make_module("_csv", table);
  set_member(module, "Error", type_object(csv_error()));
  return module;
}

}  // namespace gasell
