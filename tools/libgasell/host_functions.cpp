// Functions and objects of the program as values of a session.
#include <algorithm>

#include "runtime/device/device.h"
#include "runtime/functions/host_function.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "tools/array_values.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

using Kind = ParameterType::Kind;

static_assert(sizeof(gasell_failure) == sizeof(functions::HostFailure), "C's failure is the runtime's");

/// Numbers that arrays are made of, element by element: each argument an array of this shape, or one number for all.
class Broadcast {
 public:
  Broadcast(gasell_session& session, const std::vector<ParameterType>& parameters, std::span<const Value> values) {
    for (const Value& value : values) {
      const std::optional<Array> array = array_of(value);
      if (array && array->rank() > 0) shape_ = graph::broadcast_shapes({shape_, array->shape()});
    }
    for (size_t k = 0; k < values.size(); ++k) {
      const DType dtype = parameters[k].type.dtype;
      const std::optional<Array> array = array_of(values[k]);
      if (array && array->rank() > 0) {
        const Array whole(graph::cast(graph::broadcast_to(array->node(), shape_), dtype));
        columns_.push_back({whole.elements(session.engine), {}, size_of(dtype)});
      } else {
        Column one{{}, {}, 0};
        from_value(session, values[k], parameters[k], one.number.data());
        columns_.push_back(one);
      }
    }
  }
  const graph::Shape& shape() const { return shape_; }
  void* address(size_t argument, int64_t element) {
    Column& column = columns_[argument];
    return column.width ? const_cast<char*>(column.elements.data) + element * column.width : column.number.data();
  }

 private:
  struct Column {
    Array::Elements elements;
    alignas(16) std::array<char, 16> number;
    int64_t width;  // 0: a number
  };
  graph::Shape shape_;
  std::vector<Column> columns_;
};

class Defined final : public functions::HostFunction {
 public:
  Defined(gasell_session& session, std::string name, CallSignature signature, gasell_callback callback, void* context)
      : session_(session), name_(std::move(name)), signature_(std::move(signature)), callback_(callback), context_(context) {
    const auto is_real = [](const ParameterType& p) { return p.kind == Kind::nothing || !is_complex(p.type.dtype); };
    if (!signature_.is_of_numbers() || !is_real(signature_.result) || signature_.parameters.size() > 64 ||
        !std::all_of(signature_.parameters.begin(), signature_.parameters.end(), is_real))
      return;
    functions::HostCall call;
    call.name = name_;
    for (const ParameterType& p : signature_.parameters) call.parameters.push_back(p.type.dtype);
    if (signature_.result.kind == Kind::number) call.result = signature_.result.type.dtype;
    call.callback = reinterpret_cast<int (*)(void*, void*, void* const*, functions::HostFailure*)>(callback);
    call.context = context;
    numbers_ = std::move(call);
  }
  ~Defined() override {
    if (release_) release_(context_);
  }
  /// The binding has succeeded: from now on the context is released with this.
  void arm(gasell_release release) { release_ = release; }

  const functions::HostCall* call_of_numbers() const override { return numbers_ ? &*numbers_ : nullptr; }
  std::string repr(Interpreter&) override { return "<host function " + name_ + ">"; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__name__") return make_str(name_);
    return Object::get_attribute(in, name);
  }

  Value call(Interpreter& in, Arguments args) override {
    if (!args.keywords.empty()) raise("TypeError", name_ + "() takes no keyword arguments");
    const size_t wanted = signature_.parameters.size();
    if (args.positional.size() != wanted)
      raise("TypeError", name_ + "() takes " + std::to_string(wanted) + " positional argument" + (wanted == 1 ? "" : "s") + " but " +
                             std::to_string(args.positional.size()) + (args.positional.size() == 1 ? " was" : " were") + " given");
    const bool elementwise = signature_.is_of_numbers() && signature_.result.kind == Kind::number;
    const auto has_axes = [](const Value& v) {
      const std::optional<Array> array = array_of(v);
      return array && array->rank() > 0;
    };
    try {
      if (elementwise && std::any_of(args.positional.begin(), args.positional.end(), has_axes)) return for_elements(in, args.positional);
      return once(args.positional);
    } catch (const InvalidArgument& wrong) {
      raise("TypeError", name_ + "(): " + wrong.message);
    }
  }

 private:
  void call_back(void* result, void* const* arguments) const {
    gasell_failure failure;
    failure.kind[0] = failure.message[0] = '\0';
    if (callback_(context_, result, arguments, &failure) == 0) return;
    functions::HostFailure told;
    std::memcpy(&told, &failure, sizeof told);
    throw functions::error_of(told, name_);
  }

  Value for_elements(Interpreter& in, std::span<const Value> values) {
    Broadcast numbers(session_, signature_.parameters, values);
    const DType dtype = signature_.result.type.dtype;
    const int64_t count = graph::size_of(numbers.shape());
    const auto storage = std::dynamic_pointer_cast<HostStorage>(session_.engine.device().allocate(count * size_of(dtype)));
    char* to = static_cast<char*>(storage->write());
    std::vector<void*> addresses(values.size());
    for (int64_t i = 0; i < count; ++i, to += size_of(dtype)) {
      if (i % 1024 == 0 && in.engine().interrupted()) throw Interrupted();
      for (size_t k = 0; k < values.size(); ++k) addresses[k] = numbers.address(k, i);
      call_back(to, addresses.data());
    }
    return value_of(Array(graph::buffer(storage, dtype, numbers.shape(), graph::contiguous_strides(numbers.shape()), 0)));
  }

  /// What an argument is at an address, while the callback runs.
  struct Passed {
    alignas(16) std::array<char, 16> number;
    Array::Elements elements;
    std::vector<int64_t> shape, strides;
    Array::Memory memory;
    std::optional<Array> array;
    gasell_view view;
    std::string text;
    const char* chars;
    gasell_value* object = nullptr;
    gasell_value own{};
  };

  void* pass(const ParameterType& type, const Value& value, Passed& to) {
    switch (type.kind) {
      case Kind::number: from_value(session_, value, type, to.number.data()); return to.number.data();
      case Kind::text:
        if (!value.as<Str>()) raise("TypeError", name_ + "() takes a str there, not '" + type_of(value).name + "'");
        to.text = value.as<Str>()->value;
        to.chars = to.text.c_str();
        return &to.chars;
      case Kind::object:
        to.own = gasell_value{&session_, value, {}};
        to.object = &to.own;
        return &to.object;
      case Kind::array: break;
      case Kind::nothing:
      case Kind::automatic: return nullptr;
    }
    to.array = array_of(value);
    if (!to.array || to.array->dtype() != type.type.dtype || to.array->rank() != type.type.rank)
      raise("TypeError", name_ + "() takes " + functions::describe(type.type) + " there, not " +
                             (to.array ? functions::describe(functions::Type::array_of(to.array->dtype(), to.array->rank()))
                                       : "'" + type_of(value).name + "'"));
    to.shape = to.array->shape();
    to.view.shape = to.shape.data();
    const bool contiguous = type.type.layout == functions::Layout::c;
    if (type.type.read_only && contiguous) {
      to.elements = to.array->elements(session_.engine);
      to.view.data = const_cast<char*>(to.elements.data);
      to.view.strides = nullptr;
      return &to.view;
    }
    const Array* const one[] = {&*to.array};
    settle(session_.engine, one, {!type.type.read_only});
    to.memory = to.array->memory(!type.type.read_only);
    if (contiguous && to.memory.strides != graph::contiguous_strides(to.shape))
      raise("ValueError", name_ + "() writes into a contiguous array there");
    to.view.data = to.memory.data;
    to.view.strides = to.memory.strides.data();
    return &to.view;
  }

  Value once(std::span<const Value> values) {
    std::vector<Passed> passed(values.size());
    std::vector<void*> addresses;
    for (size_t k = 0; k < values.size(); ++k) addresses.push_back(pass(signature_.parameters[k], values[k], passed[k]));
    switch (signature_.result.kind) {
      case Kind::number: {
        alignas(16) std::array<char, 16> result{};
        call_back(result.data(), addresses.data());
        return to_value(session_, signature_.result, result.data());
      }
      case Kind::object: {
        gasell_value* given = nullptr;
        call_back(&given, addresses.data());
        if (!given) return {};
        require(given->session == &session_, "it returned a value of another session");
        const Value value = given->value;
        gasell_value_free(given);
        return value;
      }
      case Kind::text: {
        const char* text = nullptr;
        call_back(&text, addresses.data());
        return text ? make_str(text) : Value();
      }
      default: call_back(nullptr, addresses.data()); return {};
    }
  }

  gasell_session& session_;
  const std::string name_;
  const CallSignature signature_;
  const gasell_callback callback_;
  void* const context_;
  gasell_release release_ = nullptr;
  std::optional<functions::HostCall> numbers_;
};

/// An object of the program's that scripts cannot look into.
class Handle final : public Object {
 public:
  Handle(void* object, std::string type_name, void* context) : object(object), type_name(std::move(type_name)), context_(context) {}
  ~Handle() override {
    if (release_) release_(context_);
  }
  void arm(gasell_release release) { release_ = release; }
  const Type& type() const override {
    static const Type t{"handle", "builtins", &object_type()};
    return t;
  }
  std::string repr(Interpreter&) override { return "<" + type_name + " handle>"; }

  void* const object;
  const std::string type_name;

 private:
  void* const context_;
  gasell_release release_ = nullptr;
};

}  // namespace

gasell_status gasell_define(gasell_session* session, const char* name, const char* signature, gasell_callback callback,
                            gasell_release release, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(signature && callback, "gasell_define wants a signature and a callback");
    CallSignature parsed = parse_signature(signature);
    require(!parsed.is_open(), "a callback's result has a type: \"auto\" is of scripts' functions");
    require(parsed.result.kind != Kind::array, "a callback returns no array: give it one to write into");
    const Value function = Value::make<Defined>(*session, name, std::move(parsed), callback, context);
    session->host_functions.push_back(function);
    session->interpreter.set_global(name, function);
    function.as<Defined>()->arm(release);
  });
}

gasell_status gasell_bind_handle(gasell_session* session, const char* name, void* object, const char* type_name, gasell_release release,
                                 void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(object && type_name && *type_name, "a handle wants an object and the name of its type");
    const Value handle = Value::make<Handle>(object, type_name, context);
    session->interpreter.set_global(name, handle);
    handle.as<Handle>()->arm(release);
  });
}

gasell_status gasell_value_handle(const gasell_value* value, const char* type_name, void** object, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && type_name && object, "gasell_value_handle wants a value, the name of a type and a place for the object");
    *object = nullptr;
    const auto* handle = value->value.as<Handle>();
    if (!handle || handle->type_name != type_name)
      throw Error("TypeError", "a value of type '" + (handle ? handle->type_name : type_of(value->value).name) + "' is no " + type_name);
    *object = handle->object;
  });
}

namespace gasell::c_abi {

bool is_handle(const Value& value) { return value.as<Handle>() != nullptr; }

}  // namespace gasell::c_abi
