# Writes OUTPUT, a .cpp that holds the texts of ROOT/*.gsl:  cmake -DOUTPUT=prelude_texts.cpp -DROOT=compiler/functions/prelude -P embed.cmake
# A file MODULE.gsl or MODULE_PART.gsl belongs to the module MODULE ("numpy.random_integers.gsl": numpy.random), builtins.gsl to none.
file(GLOB files RELATIVE ${ROOT} ${ROOT}/*.gsl)
list(SORT files)
set(entries "")
foreach(file ${files})
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "(_.*)?\\.gsl$" "" module ${file})
  if(module STREQUAL "builtins")
    set(module "")
  endif()
  string(APPEND entries "      {\"prelude/${file}\", \"${module}\",\n       R\"gsl(${text})gsl\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by compiler/functions/embed.cmake.
#include \"compiler/functions/prelude_texts.h\"

namespace gasell::functions {

std::span<const PreludeText> prelude_texts() {
  static constexpr PreludeText kTexts[] = {
${entries}  };
  return kTexts;
}

}  // namespace gasell::functions
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
