// Linked into every executable of a sanitizer build: the reports that are left out, all of other people's code, each with its reason. The runtime
// of the other sanitizers does not ask for them.

extern "C" {

// oneTBB comes uninstrumented; what its tasks do is reported (runtime/device/thread_sanitizer.h tells where they begin and end).
const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n"  // its atomics are not seen, so its own memory seems to be freed while others compare it
         "race_top:/oneapi/tbb/\n";     // the same for the part of it that its headers bring into our objects
}

const char* __lsan_default_suppressions() {
  return "leak:wcsdup\n";  // libedit's el_end() forgets the names that EL_ADDFN copied; nothing else here uses wide strings
}

}  // extern "C"
