# embed_web(TARGET DIR): adds to TARGET a table of all files below DIR, console/assets.h's asset_table, with their bytes. A file that was
# changed, added or removed is embedded again.
include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)

function(embed_web target dir)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${dir} ${dir}/*)
  list(SORT files)
  set(bytes "")
  set(rows "")
  set(paths "")
  set(i 0)
  foreach(file IN LISTS files)
    embed_bytes(text asset_${i} ${dir}/${file})
    string(APPEND bytes "${text}")
    string(APPEND rows "    {\"${file}\", asset_${i}, end_of_asset_${i}},\n")
    list(APPEND paths ${dir}/${file})
    math(EXPR i "${i}+1")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/web.c)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* Generated from ${dir} by cmake/embed_web.cmake. */
#include \"console/assets.h\"

#include <stddef.h>

@bytes@
const struct asset_bytes asset_table[] = {
@rows@    {NULL, NULL, NULL},
};
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE ${out})
endfunction()
