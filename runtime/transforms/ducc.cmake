# ducc's transforms, built twice: for any x86-64, and for those with AVX2 and FMA, which are chosen where the processor has them. Of each build one object is made that shows
# nothing but its routines: an inline function of C++'s library that is compiled for AVX2 must not become the one that the rest of the program calls.
# Sets GASELL_DUCC_OBJECTS.
set(GASELL_DUCC_OBJECTS "")
function(gasell_ducc_variant variant march)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/transforms/ducc)
  set(parts "")
  foreach(real float double)
    set(part gasell_ducc_${variant}_${real})
    add_library(${part} OBJECT ${folder}/complex.cpp ${folder}/real.cpp ${folder}/cosine.cpp)
    target_compile_definitions(${part} PRIVATE GASELL_REAL=${real})
    list(APPEND parts ${part})
  endforeach()
  add_library(gasell_ducc_${variant} OBJECT ${folder}/routines.cpp ${folder}/serial.cpp ${GASELL_DUCC_ROOT}/ducc0/infra/mav.cc)
  list(APPEND parts gasell_ducc_${variant})
  set(part_objects "")
  foreach(part ${parts})
    # Optimised in development builds, too, and nothing warned of that is not ours.
    target_compile_options(${part} PRIVATE -O2 -g0 -march=${march} -fno-gnu-unique -w)
    target_compile_definitions(${part} PRIVATE GASELL_VARIANT=${variant} DUCC0_NAMESPACE=ducc0_${variant} DUCC0_CUSTOM_LOWLEVEL_THREADING)
    target_include_directories(${part} PRIVATE ${CMAKE_BINARY_DIR}/layers/runtime ${folder})
    target_include_directories(${part} SYSTEM PRIVATE ${GASELL_DUCC_ROOT})
    list(APPEND part_objects $<TARGET_OBJECTS:${part}>)
  endforeach()
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/ducc_${variant}.o)
  add_custom_command(
    OUTPUT ${joined}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${joined} ${part_objects}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=gasell_transforms_${variant} ${joined}
    DEPENDS ${part_objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining ducc for ${march}")
  set(GASELL_DUCC_OBJECTS ${GASELL_DUCC_OBJECTS} ${joined} PARENT_SCOPE)
endfunction()
gasell_ducc_variant(baseline x86-64)
gasell_ducc_variant(v3 x86-64-v3)
set_source_files_properties(${GASELL_DUCC_OBJECTS} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
