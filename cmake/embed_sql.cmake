# Writes OUT/sql.h and OUT/sql.c from the .sql files below SOURCE.
#   <noun>/<verb>.sql      -> extern const struct sql_statement sql_<noun>_<verb>
#   migrations/NNNN_x.sql  -> an entry of sql_migrations[], in order
#   functions/x.sql        -> an entry of sql_functions[], in name order; applied again when changed
# The first line of a statement is its contract: "-- <noun>_<verb> :one|:maybe|:many|:none  what it is for".
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/*.sql)
list(SORT files)
set(header "/* Generated from sql/ by cmake/embed_sql.cmake. */\n#ifndef SQL_SQL_H\n#define SQL_SQL_H\n#include <stddef.h>\n
/** How many rows a statement returns, as its first line promises. */
enum sql_rows { SQL_NONE, SQL_ONE, SQL_MAYBE, SQL_MANY };\n
/** One statement of sql/<noun>/<verb>.sql. index is dense from 0 to SQL_STATEMENT_COUNT - 1. */
struct sql_statement {\n    const char *name;\n    const char *text;\n    enum sql_rows rows;\n    int params;\n    int index;\n};\n
/** One numbered migration or one function file. checksum is the SHA-256 of the file, in hexadecimal. */
struct sql_script {\n    int version; /* 0 for functions */\n    const char *name;\n    const char *checksum;\n    const char *text;\n};\n\n")
set(body "/* Generated from sql/ by cmake/embed_sql.cmake. */\n#include \"sql/sql.h\"\n\n")
set(all "")
set(migrations "")
set(functions "")
set(nm 0)
set(nf 0)
set(ns 0)
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} checksum)
  file(READ ${SOURCE}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  get_filename_component(verb ${file} NAME_WE)
  get_filename_component(noun ${file} DIRECTORY)
  set(id "${noun}_${verb}")
  string(APPEND body "static const unsigned char text_${id}[] = {${bytes}0};\n")
  if(noun STREQUAL "migrations")
    string(REGEX MATCH "^0*([0-9]+)_" m ${verb})
    string(APPEND migrations "    {${CMAKE_MATCH_1}, \"${verb}\", \"${checksum}\", (const char *)text_${id}},\n")
    math(EXPR nm "${nm}+1")
  elseif(noun STREQUAL "functions")
    string(APPEND functions "    {0, \"${verb}\", \"${checksum}\", (const char *)text_${id}},\n")
    math(EXPR nf "${nf}+1")
  else()
    file(STRINGS ${SOURCE}/${file} first LIMIT_COUNT 1)
    if(NOT first MATCHES "^-- ${id} :(one|maybe|many|none) ")
      message(FATAL_ERROR "sql/${file}: the first line must be '-- ${id} :one|:maybe|:many|:none  what it does', it is '${first}'")
    endif()
    string(TOUPPER ${CMAKE_MATCH_1} rows)
    file(READ ${SOURCE}/${file} text)
    set(params 0)
    string(REGEX MATCHALL "\\$[0-9]+" uses "${text}")
    foreach(use IN LISTS uses)
      string(SUBSTRING ${use} 1 -1 n)
      if(n GREATER params)
        set(params ${n})
      endif()
    endforeach()
    string(APPEND header "extern const struct sql_statement sql_${id};\n")
    string(APPEND body "const struct sql_statement sql_${id} = {\"${id}\", (const char *)text_${id}, SQL_${rows}, ${params}, ${ns}};\n")
    string(APPEND all "    &sql_${id},\n")
    math(EXPR ns "${ns}+1")
  endif()
endforeach()
string(APPEND header "\n#define SQL_STATEMENT_COUNT ${ns}\n#define SQL_MIGRATION_COUNT ${nm}\n#define SQL_FUNCTION_COUNT ${nf}\n
extern const struct sql_statement *const sql_statements[];\nextern const struct sql_script sql_migrations[];\nextern const struct sql_script sql_functions[];\n\n#endif\n")
string(APPEND body "\nconst struct sql_statement *const sql_statements[] = {\n${all}    0};\nconst struct sql_script sql_migrations[] = {\n${migrations}    {0, 0, 0, 0}};\nconst struct sql_script sql_functions[] = {\n${functions}    {0, 0, 0, 0}};\n")
file(MAKE_DIRECTORY ${OUT})
file(WRITE ${OUT}/sql.h "${header}")
file(WRITE ${OUT}/sql.c "${body}")
