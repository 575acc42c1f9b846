# The Debian package: ./dev package. It has what `cmake --install` installs below /usr, and the sample configuration as
# /etc/lockstep/lockstep.conf, which belongs to the administrator from then on (a conffile). Its scripts make the login
# lockstep of the units. What a change here must keep: an upgrade restarts nothing (docs/how-to/upgrade.md has the order).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the Lockstep developers <developers@lockstep.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_conffile.cmake)
set(CPACK_LOCKSTEP_SAMPLE ${CMAKE_SOURCE_DIR}/config/lockstep.conf.sample)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS postgresql-client)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/conffiles ${CMAKE_SOURCE_DIR}/packaging/debian/postinst
    ${CMAKE_SOURCE_DIR}/packaging/debian/prerm ${CMAKE_SOURCE_DIR}/packaging/debian/postrm)
include(CPack)
