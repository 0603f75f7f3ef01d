// Linked into every executable of a sanitizer build: the reports that are left out, all of other people's code, each with its reason. The
// runtime of the other sanitizers does not ask for them.

extern "C" {

const char* __lsan_default_suppressions() {
  return "leak:wcsdup\n";  // libedit's el_end() forgets the names that EL_ADDFN copied; nothing else here uses wide strings
}

}  // extern "C"
