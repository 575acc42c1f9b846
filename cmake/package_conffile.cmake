# Runs when the package's files have been put together: what lies outside the prefix of `cmake --install`.
set(conffile ${CPACK_TEMPORARY_DIRECTORY}/etc/lockstep/lockstep.conf)
file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/etc/lockstep)
file(COPY_FILE ${CPACK_LOCKSTEP_SAMPLE} ${conffile})
file(CHMOD ${conffile} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ)
# Directories have the umask of the login that builds the package, which may be one that others may not enter.
file(GLOB_RECURSE directories LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(directory IN LISTS directories)
  if(IS_DIRECTORY ${directory})
    file(CHMOD ${directory} PERMISSIONS
        OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
