# Runs when the package's files have been put together: what lies outside the prefix of `cmake --install`.
set(conffile ${CPACK_TEMPORARY_DIRECTORY}/etc/lockstep/lockstep.conf)
file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/etc/lockstep)
file(COPY_FILE ${CPACK_LOCKSTEP_SAMPLE} ${conffile})
file(CHMOD ${conffile} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ)
