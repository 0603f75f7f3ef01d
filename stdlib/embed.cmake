# Writes OUTPUT, a .cpp that holds the texts of the library's .gsl files, of the lists of names and of the examples:
#   cmake -DOUTPUT=library_texts.cpp -DROOT=stdlib -P embed.cmake
# A file stdlib/FOLDER/PART.gsl belongs to the module FOLDER ("numpy/linalg": numpy.linalg); a folder with a small letter below a module of the library's own is a package of
# that module ("_pandas/columns": _pandas), whose order tests/layers/text_packages.txt says. Its public names are what `def NAME(`, `class NAME` and `NAME = ` at the
# beginning of a line bind and does not open with an underscore, Dask's `_meta`, and the slots (`def __add__(`); they are listed beside the text, so that a look-up parses nothing.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.gsl)
list(SORT files)
set(entries "")
foreach(file ${files})
  file(READ ${ROOT}/${file} text)
  string(REGEX MATCHALL "\n(def ([a-zA-Z]|__[a-z])[A-Za-z0-9_]*\\(|class [a-zA-Z][A-Za-z0-9_]*[(:]|([a-zA-Z]|_meta)[A-Za-z0-9_]* = )" openings "\n${text}")
  set(names "")
  foreach(opening ${openings})
    string(REGEX REPLACE "\n(def |class )?([A-Za-z0-9_]+).*" "\\2" name "${opening}")
    string(APPEND names " ${name}")
  endforeach()
  get_filename_component(folder ${file} DIRECTORY)
  string(REGEX REPLACE "^(_[a-z]+)/[a-z_]+$" "\\1" folder ${folder})
  string(REPLACE "/" "." module ${folder})
  string(APPEND entries "      {\"${module}\", \"${file}\", \"${names} \",\n       R\"gsl(${text})gsl\"sv},\n")
endforeach()
set(names "")
foreach(file names.txt numpy/names.txt pandas/names.txt sklearn/names.txt matplotlib/names.txt)
  file(READ ${ROOT}/${file} text)
  string(APPEND names "${text}")
endforeach()
file(READ ${ROOT}/former_names.txt former)
set(examples "")
file(GLOB files ${ROOT}/examples/*.txt)
list(SORT files)
foreach(file ${files})
  file(READ ${file} text)
  string(APPEND examples "      R\"txt(${text})txt\"sv,\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by stdlib/embed.cmake.
#include \"stdlib/library.h\"

namespace gasell {

using namespace std::string_view_literals;  // which know the lengths of the texts, so that the compiler does not count their characters

std::span<const LibraryFile> library_files() {
  static constexpr LibraryFile kFiles[] = {
${entries}  };
  return kFiles;
}

std::string_view public_names() {
  return R\"txt(${names})txt\";
}

std::span<const std::string_view> example_texts() {
  static constexpr std::string_view kTexts[] = {
${examples}  };
  return kTexts;
}

std::string_view former_names() {
  return R\"txt(${former})txt\";
}

}  // namespace gasell
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
