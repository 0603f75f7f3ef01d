// Linked into every executable of a ThreadSanitizer build: reports that are left out. Only oneTBB, which comes uninstrumented; what its tasks do is
// reported (runtime/device/thread_sanitizer.h tells where they begin and end).

extern "C" const char* __tsan_default_suppressions();

const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n"   // its atomics are not seen, so its own memory seems to be freed while others compare it
         "race_top:/oneapi/tbb/\n";       // the same for the part of it that its headers bring into our objects
}
