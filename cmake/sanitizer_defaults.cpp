// Linked into every executable of a sanitizer build: the reports that are left out, all of other people's code, each with its reason. The
// runtime of the other sanitizers does not ask for them.

extern "C" {

// Arrow and OpenBLAS come without ThreadSanitizer's marks, and it sees a part of what they do: their calls of memset and operator
// delete, not the atomics that order them. Only their races are left out: "called_from_lib" would leave out their locks too, and then
// every mutex of theirs that our threads meet is reported.
const char* __tsan_default_suppressions() {
  return "race:libarrow.so\n"
         "race:libparquet.so\n"
         "race:libopenblas64.so\n";
}

}  // extern "C"
