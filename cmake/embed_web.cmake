# embed_web(TARGET DIR): adds to TARGET a table of all files below DIR, console/assets.h's asset_table, with their bytes; .incbin, so that a large file costs the
# compiler nothing. A file that was changed, added or removed is embedded anew.
function(embed_web target dir)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${dir} ${dir}/*)
  list(SORT files)
  set(bytes "")
  set(rows "")
  set(paths "")
  set(i 0)
  foreach(file IN LISTS files)
    string(APPEND bytes "__asm__(\".pushsection .rodata\\n\"\n    \".global asset_${i}\\nasset_${i}:\\n.incbin \\\"${dir}/${file}\\\"\\n\"\n    \".global asset_${i}_end\\nasset_${i}_end:\\n.byte 0\\n\"\n    \".popsection\\n\");\n")
    string(APPEND externs "extern const char asset_${i}[], asset_${i}_end[];\n")
    string(APPEND rows "    {\"${file}\", asset_${i}, asset_${i}_end},\n")
    list(APPEND paths ${dir}/${file})
    math(EXPR i "${i}+1")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/web.c)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* Generated from ${dir} by cmake/embed_web.cmake. */
#include \"console/assets.h\"

#include <stddef.h>

@bytes@@externs@
const struct asset_bytes asset_table[] = {
@rows@    {NULL, NULL, NULL},
};
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE ${out})
endfunction()
