// NumPy's printed form of arrays (numpy/core/arrayprint documents the rules): common width and precision, summary beyond the threshold,
// wrapped lines.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "lang/characters.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/number.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/print_options.h"

namespace gasell::numpy {
namespace {

/// The float64 that has the shortest digits by which a float16 is known: 0.1 of 0.09997559.
double shortest_half(double v) {
  if (!std::isfinite(v)) return v;
  for (int precision = 0;; ++precision) {
    const double shown = std::stod(fmt::format("{:.{}e}", v, precision));
    if (Scalar::of_float(shown).cast(DType::f16).c.real() == v) return shown;
  }
}

/// Shortest digits of a value of the given type: digits without point, and the decimal exponent of the first.
struct Digits {
  std::string digits;
  int exponent;
};
Digits shortest(double v, DType type) {
  char text[64];
  if (type == DType::f16) v = shortest_half(v);
  const auto end = type == DType::f32 ? std::to_chars(text, text + sizeof text, static_cast<float>(v), std::chars_format::scientific).ptr
                                      : std::to_chars(text, text + sizeof text, v, std::chars_format::scientific).ptr;
  const std::string s(text, end);
  const size_t e = s.find('e');
  std::string digits;
  for (char c : s.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return {digits, std::stoi(s.substr(e + 1))};
}

/// Numbers of this size have exponents: as many digits before the point as the type is sure of.
double exponents_from(DType type) { return type == DType::f16 ? 1e3 : type == DType::f32 ? 1e6 : 1e8; }

/// Positional, at most `precision` digits after the point, trailing zeros off, the point kept: "1.", "0.125".
std::string positional(double v, DType type, int64_t precision) {
  const Digits d = shortest(std::fabs(v), type);
  const int fraction_digits = std::max<int>(0, static_cast<int>(d.digits.size()) - 1 - d.exponent);
  std::string text;
  if (fraction_digits > precision) {
    text = fmt::format("{:.{}f}", std::fabs(v), precision);
  } else if (d.exponent < 0) {
    text = "0." + std::string(static_cast<size_t>(-d.exponent - 1), '0') + d.digits;
  } else {
    const auto whole = static_cast<size_t>(d.exponent) + 1;
    text = d.digits.size() <= whole ? d.digits + std::string(whole - d.digits.size(), '0') + "."
                                    : d.digits.substr(0, whole) + "." + d.digits.substr(whole);
  }
  if (text.find('.') == std::string::npos) text += '.';
  while (text.back() == '0') text.pop_back();
  return (std::signbit(v) ? "-" : "") + text;
}

/// Scientific: "1.5e-07"; digits after the point cut at `precision`, the exponent of at least so many digits.
std::string scientific(double v, DType type, int64_t precision, int64_t least_digits, size_t exponent_digits = 2) {
  Digits d = shortest(std::fabs(v), type);
  if (static_cast<int64_t>(d.digits.size()) - 1 > precision) {
    const std::string s = fmt::format("{:.{}e}", std::fabs(v), precision);
    const size_t e = s.find('e');
    d.digits.clear();
    for (char c : s.substr(0, e))
      if (c != '.') d.digits += c;
    d.exponent = std::stoi(s.substr(e + 1));
    while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  }
  std::string fraction = d.digits.substr(1);
  if (static_cast<int64_t>(fraction.size()) < least_digits) {  // further digits are those of the exact value, as NumPy has it
    const std::string s = fmt::format("{:.{}e}", std::fabs(v), least_digits);
    d.digits = s.substr(0, 1);
    fraction = s.substr(2, static_cast<size_t>(least_digits));
    d.exponent = std::stoi(s.substr(s.find('e') + 1));
  }
  return fmt::format("{}{}.{}e{}{:0{}}", std::signbit(v) ? "-" : "", d.digits[0], fraction, d.exponent < 0 ? "-" : "+",
                     std::abs(d.exponent), exponent_digits);
}

/// Formats the floats of one array alike.
class FloatFormat {
 public:
  FloatFormat(const std::vector<double>& all, DType type, bool force_sign) : type_(type), force_sign_(force_sign) {
    const PrintOptions& options = print_options();
    std::vector<double> finite;
    for (double v : all) {
      if (std::isfinite(v))
        finite.push_back(v);
      else
        other_width_ = std::max(other_width_, std::isnan(v) ? size_t{3} + force_sign : size_t{3} + (v < 0 || force_sign));
    }
    double largest = 0, smallest = 0;
    for (double v : finite) {
      const double a = std::fabs(v);
      if (a == 0) continue;
      largest = std::max(largest, a);
      smallest = smallest == 0 ? a : std::min(smallest, a);
    }
    if (largest > 0 && (largest >= exponents_from(type) || (!options.suppress && (smallest < 1e-4 || largest / smallest > 1000.0))))
      exponent_ = true;
    if (exponent_) {
      for (double v : finite) {
        const std::string s = scientific(v, type_, options.precision, 0);
        right_ = std::max(right_, s.find('e') - s.find('.') - 1);
        exponent_digits_ = std::max(exponent_digits_, s.size() - s.find('e') - 2);
      }
      for (double v : finite) left_ = std::max(left_, text(v).size());
      left_ = std::max(left_, other_width_);
      return;
    }
    for (double v : finite) {
      const std::string s = sign(v) + positional(v, type_, options.precision);
      const size_t point = s.find('.');
      left_ = std::max(left_, point);
      right_ = std::max(right_, s.size() - point - 1);
    }
    if (other_width_ > left_ + right_ + 1) left_ = other_width_ - right_ - 1;
    if (finite.empty()) left_ = other_width_, right_ = 0, no_point_ = true;
  }

  std::string operator()(double v) const {
    const size_t width = exponent_ ? left_ : left_ + (no_point_ ? 0 : 1 + right_);
    if (!std::isfinite(v)) {
      const std::string s = std::isnan(v) ? (force_sign_ ? "+nan" : "nan") : v < 0 ? "-inf" : force_sign_ ? "+inf" : "inf";
      return std::string(width > s.size() ? width - s.size() : 0, ' ') + s;
    }
    const std::string s = text(v);
    if (exponent_) return std::string(width - s.size(), ' ') + s;
    const size_t point = s.find('.');
    return std::string(left_ - point, ' ') + s + std::string(right_ - (s.size() - point - 1), ' ');
  }

 private:
  std::string sign(double v) const { return force_sign_ && !std::signbit(v) ? "+" : ""; }
  std::string text(double v) const {
    return sign(v) + (exponent_ ? scientific(v, type_, print_options().precision, static_cast<int64_t>(right_), exponent_digits_)
                                : positional(v, type_, print_options().precision));
  }

  DType type_;
  bool force_sign_;
  bool exponent_ = false, no_point_ = false;
  size_t left_ = 0, right_ = 0, other_width_ = 0, exponent_digits_ = 2;
};

/// The elements that will be shown, all formatted to one width.
class Formatter {
 public:
  Formatter(DType type, const std::vector<Scalar>& shown) {
    const DType part = real_of(type);
    if (kind(type) == 'f' || kind(type) == 'c') {
      std::vector<double> re, im;
      for (const Scalar& s : shown) re.push_back(s.c.real()), im.push_back(s.c.imag());
      const FloatFormat real(re, part, false);
      if (kind(type) == 'f') {
        for (double v : re) texts_.push_back(real(v));
      } else {
        const FloatFormat imaginary(im, part, true);
        for (const Scalar& s : shown) {
          std::string i = imaginary(s.c.imag());
          const size_t end = i.find_last_not_of(' ') + 1;  // the j stands right behind the digits
          texts_.push_back(real(s.c.real()) + i.substr(0, end) + "j" + i.substr(end));
        }
      }
      return;
    }
    size_t width = 0;
    for (const Scalar& s : shown) {
      texts_.push_back(kind(type) == 'b' && s.i ? " True" : scalar_str(s));  // NumPy pads True even among its like
      width = std::max(width, texts_.back().size());
    }
    for (std::string& t : texts_) t.insert(0, width - t.size(), ' ');
  }
  explicit Formatter(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  const std::string& operator[](size_t i) const { return texts_[i]; }

 private:
  std::vector<std::string> texts_;
};

/// The array cut to its edges where it is to be summarised; null entries of `cut` axes stand for "...".
class Writer {
 public:
  Writer(Interpreter& in, const Array& array) : shape_(array.shape()) {
    const Array::Elements e = cut_to_edges(array).elements(in.engine());
    std::vector<Scalar> scalars;
    for (int64_t i = 0; i < e.count; ++i) scalars.push_back(e[i]);
    formatter_ = std::make_unique<Formatter>(array.dtype(), scalars);
  }

  /// Of elements that are no numbers: `texts` gives those of what is shown.
  Writer(const Array& array, const std::function<std::vector<std::string>(const Array& shown)>& texts) : shape_(array.shape()) {
    formatter_ = std::make_unique<Formatter>(texts(cut_to_edges(array)));
  }

  std::string write(const std::string& prefix, const std::string& separator, size_t suffix_width) {
    separator_ = separator;
    line_width_ = print_options().linewidth - static_cast<int64_t>(suffix_width);
    if (shape_.empty()) return (*formatter_)[0];
    return recurse(0, 0, prefix.size() + 1, line_width_);
  }

 private:
  Array cut_to_edges(const Array& array) {
    const PrintOptions& options = print_options();
    summarise_ = array.size() > options.threshold;
    Array shown = array;
    edge_ = options.edgeitems;
    if (summarise_) {
      for (int axis = 0; axis < array.rank(); ++axis) shown = edges(shown, axis);
    }
    shown_shape_ = shown.shape();
    return shown;
  }
  Array edges(const Array& a, int axis) const {
    const int64_t n = a.shape()[static_cast<size_t>(axis)];
    if (n <= 2 * edge_) return a;
    Shape shape = a.shape();
    shape[static_cast<size_t>(axis)] = edge_;
    Array::Axes head, tail;
    for (int k = 0; k < a.rank(); ++k) {
      head.push_back({k, 0, 1});
      tail.push_back({k, k == axis ? n - edge_ : 0, 1});
    }
    return Array(graph::concatenate({graph::view(a.node(), shape, head), graph::view(a.node(), shape, tail)}, axis));
  }
  bool cut(size_t axis) const { return summarise_ && shape_[axis] > 2 * edge_; }

  void extend(std::string& text, std::string& line, const std::string& word, int64_t width, const std::string& indent) const {
    if (code_point_count(line) + code_point_count(word) > width && line.size() > indent.size()) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      text += line + "\n";
      line = indent;
    }
    line += word;
  }

  std::string recurse(size_t axis, size_t first, size_t indent, int64_t width) {
    const std::string hanging(indent, ' ');
    const auto n = static_cast<size_t>(shown_shape_[axis]);
    size_t stride = 1;
    for (size_t k = axis + 1; k < shown_shape_.size(); ++k) stride *= static_cast<size_t>(shown_shape_[k]);
    const size_t leading = cut(axis) ? static_cast<size_t>(edge_) : n;
    if (axis + 1 == shown_shape_.size()) {
      const int64_t element_width = width - 1;
      std::string text, line = hanging;
      for (size_t i = 0; i < n; ++i) {
        if (i == leading) {
          extend(text, line, "...", element_width, hanging);
          line += separator_;
        }
        extend(text, line, (*formatter_)[first + i], element_width, hanging);
        if (i + 1 < n) line += separator_;
      }
      text += line;
      return "[" + text.substr(indent) + "]";
    }
    std::string text;
    const size_t blank_lines = shown_shape_.size() - axis - 1;
    std::string line_separator = separator_;
    while (!line_separator.empty() && line_separator.back() == ' ') line_separator.pop_back();
    line_separator += std::string(blank_lines, '\n');
    for (size_t i = 0; i < n; ++i) {
      if (i == leading) text += hanging + "..." + line_separator;
      text += hanging + recurse(axis + 1, first + i * stride, indent + 1, width - 1);
      if (i + 1 < n) text += line_separator;
    }
    return "[" + (text.empty() ? "" : text.substr(indent)) + "]";
  }

  Shape shape_, shown_shape_;
  bool summarise_ = false;
  int64_t edge_ = 3;
  std::unique_ptr<Formatter> formatter_;
  std::string separator_;
  int64_t line_width_ = 75;
};

}  // namespace

PrintOptions& print_options() { return state_of_session<PrintOptions>(); }

namespace {
struct TerminalColumns {
  int64_t count = 0;
};
}  // namespace

int64_t terminal_columns() { return state_of_session<TerminalColumns>().count; }
void set_terminal_columns(int64_t columns) {
  // A line width that the script has chosen stays.
  if (int64_t& width = print_options().linewidth; width == (terminal_columns() ? terminal_columns() : PrintOptions{}.linewidth))
    width = columns ? columns : PrintOptions{}.linewidth;
  state_of_session<TerminalColumns>().count = columns;
}

std::string scalar_str(const Scalar& v) {
  switch (kind(v.type)) {
    case 'b': return v.i ? "True" : "False";
    case 'u': return std::to_string(static_cast<uint64_t>(v.i));
    case 'i': return std::to_string(v.i);
    case 'f': {
      if (v.type == DType::f64) return float_repr(v.c.real());
      const double value = v.c.real();
      if (!std::isfinite(value) || std::fabs(value) < exponents_from(v.type))
        return v.type == DType::f16 ? float_repr(shortest_half(value)) : float_repr(static_cast<float>(value));
      std::string text = scientific(value, v.type, 17, 0);
      const size_t point = text.find(".e");
      return point == std::string::npos ? text : text.erase(point, 1);
    }
    default: {
      if (v.type == DType::c128) return complex_repr(v.c);
      const auto re = static_cast<float>(v.c.real()), im = static_cast<float>(v.c.imag());
      auto part = [](float x) {
        std::string s = float_repr(x);
        return s.size() > 2 && s.ends_with(".0") ? s.substr(0, s.size() - 2) : s;
      };
      if (re == 0 && !std::signbit(re)) return part(im) + "j";
      return "(" + part(re) + (std::signbit(im) && !std::isnan(im) ? "" : "+") + part(im) + "j)";
    }
  }
}

std::string array_str(Interpreter& in, const Array& array) {
  if (array.rank() == 0) return scalar_str(array.elements(in.engine())[0]);
  if (array.size() == 0) return "[]";
  return Writer(in, array).write("", " ", 0);
}

std::string laid_out(Interpreter& in, const Array& array, const Value& texts, const std::string& prefix, const std::string& separator,
                     size_t suffix_width) {
  const auto shown = [&](const Array& part) {
    std::vector<std::string> all;
    for (const Value& text : to_vector(in, call(in, texts, {{Value::make<NdArray>(part)}, {}}))) all.push_back(str(in, text));
    return all;
  };
  return Writer(array, shown).write(prefix, separator, suffix_width);
}

std::string array_repr(Interpreter& in, const Array& array) {
  const DType type = array.dtype();
  const bool implied = array.size() > 0 && (type == DType::f64 || type == DType::i64 || type == DType::boolean || type == DType::c128);
  const std::string dtype_text = implied ? "" : "dtype=" + std::string(name_of(type));
  if (array.size() == 0) {
    const bool plain = array.rank() == 1;
    return "array([]" + std::string(plain ? "" : ", shape=" + str(in, from_shape(array.shape()))) + ", " +
           (dtype_text.empty() ? "dtype=" + std::string(name_of(type)) : dtype_text) + ")";
  }
  const bool as_number = array.rank() == 0 && !is_float(type) && !is_complex(type);
  std::string body = as_number ? scalar_str(array.elements(in.engine())[0]) : Writer(in, array).write("array(", ", ", 1);
  std::string suffix = dtype_text;
  const bool summarised = array.size() > print_options().threshold;
  if (summarised) suffix = "shape=" + str(in, from_shape(array.shape())) + (suffix.empty() ? "" : ", " + suffix);
  if (suffix.empty()) return "array(" + body + ")";
  // The suffix goes on a line of its own where it does not fit behind the last line.
  std::string text = "array(" + body;
  const size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool wraps = static_cast<int64_t>(last_line + suffix.size() + 3) > print_options().linewidth;
  return text + (wraps ? ",\n      " : ", ") + suffix + ")";
}

}  // namespace gasell::numpy
