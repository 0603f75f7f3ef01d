#include "runtime/frame/text_functions.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"

namespace gasell::frame {
namespace {

constexpr int64_t kTextsATask = 4096;

int64_t tasks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

void over(Engine& engine, int64_t count, int64_t size, const std::function<void(int64_t task, int64_t begin, int64_t end)>& f) {
  const auto one = [&](int64_t task) {
    if (engine.interrupt_flag()) throw Interrupted();
    f(task, task * size, std::min(count, (task + 1) * size));
  };
  if (count <= size) {
    if (count > 0) one(0);
    return;
  }
  in_parallel(tasks_of(count, size), one);
}

/// Texts that tasks wrote, one after the other.
struct Chunk {
  std::string bytes;
  std::vector<int64_t> ends;
  std::vector<bool> missing;
};

DictionaryRef joined(Engine& engine, const std::vector<Chunk>& chunks, int64_t count) {
  int64_t total = 0;
  std::vector<int64_t> begins;
  for (const Chunk& c : chunks) {
    begins.push_back(total);
    total += static_cast<int64_t>(c.bytes.size());
  }
  const auto allocate = [&](int64_t bytes) { return std::static_pointer_cast<HostStorage>(engine.device().allocate(bytes)); };
  const HostStorageRef offsets = allocate((count + 1) * 8), bytes = allocate(std::max<int64_t>(total, 1));
  auto* const offset = static_cast<int64_t*>(offsets->write());
  char* const text = static_cast<char*>(bytes->write());
  offset[0] = 0;
  int64_t at = 0;
  for (size_t k = 0; k < chunks.size(); ++k) {
    std::memcpy(text + begins[k], chunks[k].bytes.data(), chunks[k].bytes.size());
    for (const int64_t end : chunks[k].ends) offset[++at] = begins[k] + end;
  }
  return std::make_shared<Dictionary>(offsets, bytes, count, false);
}

bool any_missing(const std::vector<Chunk>& chunks) {
  return std::any_of(chunks.begin(), chunks.end(),
                     [](const Chunk& c) { return std::find(c.missing.begin(), c.missing.end(), true) != c.missing.end(); });
}

void put(Chunk& chunk, const std::string& text, bool there) {
  if (there) chunk.bytes += text;
  chunk.ends.push_back(static_cast<int64_t>(chunk.bytes.size()));
  chunk.missing.push_back(!there);
}

bool any_missing_code(Engine& engine, const Column& column) {
  Column source = column;
  const ColumnData from = read(engine, source);
  const int32_t* codes = from.as<int32_t>();
  std::atomic<bool> found = false;
  over(engine, from.count, kRowsATask, [&](int64_t, int64_t begin, int64_t end) {
    bool negative = false;
    for (int64_t i = begin; i < end; ++i) negative |= codes[i] < 0;
    if (negative) found = true;
  });
  return found;
}

/// The column's codes over another dictionary with as many texts; codes of missing ones become -1.
Column with_texts(Engine& engine, const Column& column, const std::vector<Chunk>& chunks) {
  const int64_t count = column.dictionary->size();
  Column result = column;
  result.dictionary = joined(engine, chunks, count);
  if (!any_missing(chunks)) return result;
  std::vector<int32_t> codes;
  codes.reserve(static_cast<size_t>(count));
  for (const Chunk& c : chunks)
    for (const bool missing : c.missing) codes.push_back(missing ? -1 : static_cast<int32_t>(codes.size()));
  result.values = of_codes<int32_t>(engine, column, codes, -1);
  return result;
}

}  // namespace

template <class T>
NodeRef of_codes(Engine& engine, const Column& column, const std::vector<T>& table, T missing) {
  Column source = column;
  const ColumnData from = read(engine, source);
  constexpr DType dtype = std::is_same_v<T, double>    ? DType::f64
                          : std::is_same_v<T, int64_t> ? DType::i64
                          : std::is_same_v<T, int32_t> ? DType::i32
                                                       : DType::boolean;
  NewValues to(engine, dtype, from.count);
  const int32_t* codes = from.as<int32_t>();
  T* const values = to.as<T>();
  over(engine, from.count, kRowsATask, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = codes[i] < 0 ? missing : table[static_cast<size_t>(codes[i])];
  });
  return to.node();
}
template NodeRef of_codes(Engine&, const Column&, const std::vector<double>&, double);
template NodeRef of_codes(Engine&, const Column&, const std::vector<int64_t>&, int64_t);
template NodeRef of_codes(Engine&, const Column&, const std::vector<int32_t>&, int32_t);
template NodeRef of_codes(Engine&, const Column&, const std::vector<uint8_t>&, uint8_t);

Column with_used_texts(Engine& engine, const Column& column) {
  const int64_t rows = column.size(), count = column.dictionary->size();
  if (count <= 2 * rows || count < 1024) return column;
  Column source = column;
  const ColumnData from = read(engine, source);
  const int32_t* codes = from.as<int32_t>();
  std::vector<int32_t> place(static_cast<size_t>(count), -1);
  DictionaryBuilder texts;
  NewValues to(engine, DType::i32, rows);
  int32_t* const values = to.as<int32_t>();
  for (int64_t i = 0; i < rows; ++i) {
    if (codes[i] < 0) {
      values[i] = -1;
      continue;
    }
    int32_t& own = place[static_cast<size_t>(codes[i])];
    if (own < 0) {
      own = static_cast<int32_t>(texts.size());
      texts.add((*column.dictionary)[codes[i]]);
    }
    values[i] = own;
  }
  Column result = column;
  result.values = to.node();
  result.dictionary = texts.finish(column.dictionary->is_distinct());
  return result;
}

Column map_texts(Engine& engine, const Column& column, const TextFunctionMaker& make) {
  const Column source = with_used_texts(engine, column);
  const Dictionary& texts = *source.dictionary;
  std::vector<Chunk> chunks(static_cast<size_t>(tasks_of(texts.size(), kTextsATask)));
  over(engine, texts.size(), kTextsATask, [&](int64_t task, int64_t begin, int64_t end) {
    Chunk& chunk = chunks[static_cast<size_t>(task)];
    chunk.bytes.reserve(static_cast<size_t>(texts.offsets()[end] - texts.offsets()[begin]));
    chunk.ends.reserve(static_cast<size_t>(end - begin));
    const TextFunction f = make();
    std::string out;
    for (int64_t i = begin; i < end; ++i) {
      out.clear();
      const bool there = f(texts[i], out);
      put(chunk, out, there);
    }
  });
  return with_texts(engine, source, chunks);
}

Column map_texts(Engine& engine, const Column& column, const TextFunction& f) {
  return map_texts(engine, column, TextFunctionMaker([&] { return f; }));
}

Column measure_texts(Engine& engine, const Column& column, DType dtype, const TextMeasureMaker& make) {
  const Column source = with_used_texts(engine, column);
  const Dictionary& texts = *source.dictionary;
  const auto count = static_cast<size_t>(texts.size());
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(count);
  std::atomic<bool> missing = false;
  over(engine, texts.size(), kTextsATask, [&](int64_t, int64_t begin, int64_t end) {
    const TextMeasure f = make();
    bool none = false;
    for (int64_t i = begin; i < end; ++i) {
      const auto value = f(texts[i]);
      values[static_cast<size_t>(i)] = value.value_or(kNothing);
      none |= !value;
    }
    if (none) missing = true;
  });
  const auto spread = [&](const auto& table, auto nothing) { return of_codes(engine, source, table, nothing); };
  Column result;
  result.type = number_type(dtype);
  if (dtype == DType::f64) {
    result.values = spread(values, kNothing);
    return result;
  }
  if (dtype == DType::boolean)
    result.values = spread(std::vector<uint8_t>(values.begin(), values.end()), uint8_t{0});
  else
    result.values = spread(std::vector<int64_t>(values.begin(), values.end()), int64_t{0});
  if (missing || any_missing_code(engine, source)) {
    std::vector<uint8_t> there(count);
    for (size_t i = 0; i < count; ++i) there[i] = !std::isnan(values[i]);
    const Column flags{number_type(DType::boolean), spread(there, uint8_t{0})};
    result.validity = flags.values;
  }
  return result;
}

Column measure_texts(Engine& engine, const Column& column, DType dtype, const TextMeasure& f) {
  return measure_texts(engine, column, dtype, TextMeasureMaker([&] { return f; }));
}

std::vector<Column> split_texts(Engine& engine, const Column& column, const std::function<TextParts()>& make, int columns) {
  const Column source = with_used_texts(engine, column);
  const Dictionary& texts = *source.dictionary;
  const auto tasks = static_cast<size_t>(tasks_of(texts.size(), kTextsATask));
  std::vector<std::vector<Chunk>> chunks(tasks);  // of a task, one a column
  over(engine, texts.size(), kTextsATask, [&](int64_t task, int64_t begin, int64_t end) {
    std::vector<Chunk>& own = chunks[static_cast<size_t>(task)];
    if (columns >= 0) own.resize(static_cast<size_t>(columns));
    const TextParts f = make();
    std::vector<std::optional<std::string>> parts;
    for (int64_t i = begin; i < end; ++i) {
      parts.clear();
      f(texts[i], parts);
      while (own.size() < parts.size()) {
        // A column that begins here has nothing in the texts before.
        Chunk& next = own.emplace_back();
        for (int64_t before = begin; before < i; ++before) put(next, {}, false);
      }
      for (size_t k = 0; k < own.size(); ++k) {
        const bool there = k < parts.size() && parts[k];
        put(own[k], there ? *parts[k] : std::string(), there);
      }
    }
  });
  size_t widest = columns >= 0 ? static_cast<size_t>(columns) : 0;
  for (const auto& own : chunks) widest = std::max(widest, own.size());
  std::vector<Column> results;
  for (size_t k = 0; k < widest; ++k) {
    std::vector<Chunk> of_column;
    for (size_t task = 0; task < tasks; ++task) {
      if (k < chunks[task].size()) {
        of_column.push_back(std::move(chunks[task][k]));
        continue;
      }
      Chunk nothing;
      const int64_t begin = static_cast<int64_t>(task) * kTextsATask, end = std::min(texts.size(), begin + kTextsATask);
      for (int64_t i = begin; i < end; ++i) put(nothing, {}, false);
      of_column.push_back(std::move(nothing));
    }
    results.push_back(with_texts(engine, source, of_column));
  }
  return results;
}

Column make_texts(Engine& engine, int64_t rows, const std::function<bool(int64_t row, std::string& out)>& f) {
  std::vector<Chunk> chunks(static_cast<size_t>(tasks_of(rows, kTextsATask)));
  over(engine, rows, kTextsATask, [&](int64_t task, int64_t begin, int64_t end) {
    Chunk& chunk = chunks[static_cast<size_t>(task)];
    chunk.ends.reserve(static_cast<size_t>(end - begin));
    std::string out;
    for (int64_t i = begin; i < end; ++i) {
      out.clear();
      const bool there = f(i, out);
      put(chunk, out, there);
    }
  });
  const Column plain = text_column(engine, joined(engine, chunks, rows));
  return any_missing(chunks) ? with_texts(engine, plain, chunks) : plain;
}

Column combine_texts(Engine& engine, const std::vector<Column>& columns, const RowText& f) {
  std::vector<Column> sources = columns;
  std::vector<Column*> all;
  for (Column& c : sources) all.push_back(&c);
  force(engine, all);
  std::vector<ColumnData> data;
  for (Column& c : sources) data.push_back(read(engine, c));
  return make_texts(engine, data[0].count, [&](int64_t row, std::string& out) {
    std::optional<std::string_view> few[4];
    std::vector<std::optional<std::string_view>> many(sources.size() > 4 ? sources.size() : 0);
    std::optional<std::string_view>* const texts = many.empty() ? few : many.data();
    for (size_t k = 0; k < sources.size(); ++k) {
      const int32_t code = data[k].as<int32_t>()[row];
      texts[k] = code < 0 ? std::nullopt : std::optional((*sources[k].dictionary)[code]);
    }
    return f(texts, out);
  });
}

NodeRef compare_texts(Engine& engine, const Column& column, TextOrder op, std::string_view with) {
  const Dictionary& texts = *column.dictionary;
  const auto code_compare = [&](ScalarOp scalar_op, int32_t code) {
    return graph::map(scalar_op, {column.values, graph::constant(Scalar::of_int(code, column.values->dtype), column.values->shape)});
  };
  if ((op == TextOrder::eq || op == TextOrder::ne) && texts.is_distinct()) {
    // No row has a code of -2, so a text that is not there equals nothing.
    const int32_t code = texts.find(with).value_or(-2);
    return code_compare(op == TextOrder::eq ? ScalarOp::eq : ScalarOp::ne, code);
  }
  const Column source = with_used_texts(engine, column);
  const Dictionary& used = *source.dictionary;
  std::vector<uint8_t> holds(static_cast<size_t>(used.size()));
  over(engine, used.size(), kTextsATask, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::string_view text = used[i];
      bool value = false;
      switch (op) {
        case TextOrder::eq: value = text == with; break;
        case TextOrder::ne: value = text != with; break;
        case TextOrder::lt: value = text < with; break;
        case TextOrder::le: value = text <= with; break;
        case TextOrder::gt: value = text > with; break;
        case TextOrder::ge: value = text >= with; break;
      }
      holds[static_cast<size_t>(i)] = value;
    }
  });
  return of_codes<uint8_t>(engine, source, holds, op == TextOrder::ne);
}

NodeRef compare_texts(Engine& engine, const Column& a, TextOrder op, const Column& b) {
  const std::vector<Column> common = with_common_texts(engine, {a, b});
  const NodeRef zero = graph::constant(Scalar::of_int(0, DType::i32), a.values->shape);
  const auto present = [&](const NodeRef& codes) { return graph::map(ScalarOp::ge, {codes, zero}); };
  if (op == TextOrder::eq || op == TextOrder::ne) {
    const NodeRef both =
        graph::map(ScalarOp::logical_and, {graph::map(ScalarOp::eq, {common[0].values, common[1].values}), present(common[0].values)});
    return op == TextOrder::eq ? both : graph::map(ScalarOp::logical_not, {both});
  }
  const std::vector<int32_t>& ranks = common[0].dictionary->ranks(engine);
  const NodeRef left = of_codes<int32_t>(engine, common[0], ranks, -1), right = of_codes<int32_t>(engine, common[1], ranks, -1);
  const ScalarOp scalar_op = op == TextOrder::lt   ? ScalarOp::lt
                             : op == TextOrder::le ? ScalarOp::le
                             : op == TextOrder::gt ? ScalarOp::gt
                                                   : ScalarOp::ge;
  const NodeRef there = graph::map(ScalarOp::logical_and, {present(left), present(right)});
  return graph::map(ScalarOp::logical_and, {graph::map(scalar_op, {left, right}), there});
}

}  // namespace gasell::frame
