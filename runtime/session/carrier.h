// How a session gives values to others and takes theirs: as parcels (parcel.h).
#pragma once

#include <map>
#include <unordered_map>

#include "runtime/session/parcel.h"

namespace gasell {

class Packing;
class Task;
class Unpacking;
struct UnpackedCode;

/// One session's side. Everything is called from the session's thread.
class Carrier {
 public:
  explicit Carrier(Session& session);
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Throws NotCarried. `tasks`: where tasks stand for their results, those that are in it.
  Parcel pack(const Value& value, std::vector<std::shared_ptr<Task>>* tasks = nullptr);
  /// The same of what will be called often: the parcel is kept while all that the function sees stays the same.
  std::shared_ptr<const Parcel> pack_callable(const Value& function);
  /// A copy of a parcel's value that others may unpack, too.
  Value unpack(const Parcel& parcel);
  /// The value of a parcel that nobody else has.
  Value open(Parcel parcel);
  /// Lets go of the variables that came with the last parcel, unless it will come again.
  void forget();
  /// Whether variables of modules become what comes in parcels: in sessions that work for another.
  bool follows = false;

  Session& session() { return session_; }
  /// For handlers of further types: another object of this session that stands under a name in a library text, and back.
  struct LibraryName {
    std::string path, name;
  };
  const LibraryName* library_name(const Value& object);
  Value library_object(const LibraryName& name);

 private:
  friend class Packing;
  friend class Unpacking;
  struct Kept;
  /// What was made of functions that will come again.
  void keep(const std::shared_ptr<UnpackedCode>& made);
  GlobalScope& scope_of(const CarriedCode::Scope& scope);
  std::shared_ptr<const FunctionCode> code_of(const FunctionText& text, GlobalScope& scope);
  const FunctionEffects& effects_of(const FunctionCode& code);

  Session& session_;
  std::unordered_map<const void*, std::pair<std::shared_ptr<const void>, FunctionEffects>> effects_;  // by tree
  std::map<std::pair<const void*, GlobalScope*>, std::shared_ptr<const FunctionCode>> codes_;         // by tree and variables
  std::unordered_map<const Object*, std::pair<Value, LibraryName>> library_names_;
  std::unordered_map<const Object*, uint64_t> class_ids_;
  std::unordered_map<uint64_t, std::pair<Value, bool>> own_classes_;  // by number; whether it came from elsewhere
  std::unordered_map<const CarriedCode*, std::shared_ptr<UnpackedCode>> made_;
  std::shared_ptr<UnpackedCode> shown_;  // whose variables are in the modules
  std::unordered_map<const Object*, std::shared_ptr<Kept>> kept_;
};

/// A variable of a module that holds a text, or "".
std::string text_variable(GlobalScope& scope, std::string_view name);

/// The carrier of a session, made where there is none.
Carrier& carrier_of(Session& session);

/// Runs the text of the library at this path in a session.
using LibraryLoader = void (*)(Interpreter& in, const std::string& path);
void set_library_loader(LibraryLoader loader);

}  // namespace gasell
