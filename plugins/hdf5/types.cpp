// Types of elements, in files and in memory.
#include <cstdio>
#include <cstring>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

struct NamedMember {
  const char* name;
  int8_t value;
};
constexpr NamedMember kTruths[] = {{"FALSE", 0}, {"TRUE", 1}};

bool is_big_endian(hid_t type) { return H5Tget_order(type) == H5T_ORDER_BE; }

/// Memory of the library's as a text.
std::string taken(char* text) {
  std::string result = text ? text : "";
  H5free_memory(text);
  return result;
}

/// Whether an enumeration is that of truth values.
bool is_truth(hid_t type) {
  if (H5Tget_nmembers(type) != 2 || H5Tget_size(type) != 1) return false;
  for (unsigned k = 0; k < 2; ++k) {
    int8_t value = -1;
    if (taken(H5Tget_member_name(type, k)) != kTruths[k].name || H5Tget_member_value(type, k, &value) < 0 || value != kTruths[k].value)
      return false;
  }
  return true;
}

/// Whether a compound is a pair r and i of floats of the same size.
bool is_complex(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  size_t size = 0;
  for (unsigned k = 0; k < 2; ++k) {
    if (taken(H5Tget_member_name(type, k)) != (k == 0 ? "r" : "i") || H5Tget_member_class(type, k) != H5T_FLOAT) return false;
    const Handle member(H5Tget_member_type(type, k), H5Tclose);
    if (k == 1 && H5Tget_size(member) != size) return false;
    size = H5Tget_size(member);
  }
  return size == 4 || size == 8;
}

Hdf5Type foreign(const char* name) {
  Hdf5Type result{kHdf5Foreign, 0, 0, {}};
  std::snprintf(result.name, sizeof result.name, "%s", name);
  return result;
}

Hdf5Type describe_integer(hid_t type) {
  const auto bytes = static_cast<int64_t>(H5Tget_size(type));
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return foreign("integers of other sizes than 1, 2, 4 and 8 bytes");
  return {H5Tget_sign(type) == H5T_SGN_NONE ? kHdf5Unsigned : kHdf5Signed, bytes, is_big_endian(type), {}};
}

Hdf5Type describe_float(hid_t type) {
  const auto bytes = static_cast<int64_t>(H5Tget_size(type));
  if (bytes == 4 || bytes == 8) return {kHdf5Float, bytes, is_big_endian(type), {}};
  return foreign(bytes == 2 ? "float16" : "floats of other sizes than 4 and 8 bytes");
}

hid_t native(const Hdf5Type& type) {
  if (type.kind == kHdf5Float) return type.bytes == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const bool is_signed = type.kind == kHdf5Signed;
  switch (type.bytes) {
    case 1: return is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
    case 2: return is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    case 4: return is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    default: return is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
}

}  // namespace

Hdf5Type describe(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return describe_integer(type);
    case H5T_FLOAT: return describe_float(type);
    case H5T_STRING: return {kHdf5Text, H5Tis_variable_str(type) > 0 ? 0 : static_cast<int64_t>(H5Tget_size(type)), 0, {}};
    case H5T_ENUM: {
      if (is_truth(type)) return {kHdf5Boolean, 1, 0, {}};
      const Handle base(H5Tget_super(type), H5Tclose);
      return describe_integer(base);
    }
    case H5T_COMPOUND: {
      if (!is_complex(type)) return foreign("compound types");
      const Handle member(H5Tget_member_type(type, 0), H5Tclose);
      return {kHdf5Complex, 2 * static_cast<int64_t>(H5Tget_size(member)), is_big_endian(member), {}};
    }
    case H5T_ARRAY: return foreign("array types");
    case H5T_VLEN: return foreign("sequences of varying lengths");
    case H5T_REFERENCE: return foreign("references");
    case H5T_OPAQUE: return foreign("opaque types");
    case H5T_BITFIELD: return foreign("bit fields");
    case H5T_TIME: return foreign("times");
    default: return foreign("types that libhdf5 does not know");
  }
}

Handle memory_type(const Hdf5Type& type) {
  constexpr const char* kWhat = "Unable to make a type";
  if (type.kind == kHdf5Boolean) {
    Handle truth(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    for (const NamedMember& member : kTruths) checked(H5Tenum_insert(truth, member.name, &member.value), kHdf5Type, kWhat);
    return truth;
  }
  if (type.kind == kHdf5Complex) {
    const auto half = static_cast<size_t>(type.bytes / 2);
    const hid_t part = half == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    Handle pair(H5Tcreate(H5T_COMPOUND, 2 * half), H5Tclose);
    checked(H5Tinsert(pair, "r", 0, part), kHdf5Type, kWhat);
    checked(H5Tinsert(pair, "i", half, part), kHdf5Type, kWhat);
    return pair;
  }
  if (type.kind == kHdf5Text || type.kind == kHdf5Foreign) throw Failure{kHdf5Type, "No conversion path to numbers"};
  return Handle(H5Tcopy(native(type)), H5Tclose);
}

Handle text_type() {
  Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  checked(H5Tset_size(text, H5T_VARIABLE), kHdf5Type, "Unable to make a type");
  checked(H5Tset_cset(text, H5T_CSET_UTF8), kHdf5Type, "Unable to make a type");
  return text;
}

Handle file_type(const Hdf5Type& type) { return type.kind == kHdf5Text ? text_type() : memory_type(type); }

}  // namespace gasell::plugin
