# cmake --install BUILD --prefix DIR, and cpack's .deb. The tree may be moved: the page is inside the program, and
# what is not is looked for beside it (../share/roofstep).
include(GNUInstallDirs)

# The manual page and what shells complete are written by the program, from the tables that parse, as soon as it is
# linked; packed as Debian wants it. (A sanitized one takes seconds to look for leaks.)
set(help ${CMAKE_BINARY_DIR}/help)
set(program ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:roofstep>)
find_program(GZIP gzip REQUIRED)
file(MAKE_DIRECTORY ${help})
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR) # otherwise it cannot run here, nor be installed from here
  add_custom_command(TARGET roofstep POST_BUILD
    COMMAND ${program} help man > ${help}/roofstep.1
    COMMAND ${program} help bash > ${help}/roofstep.bash
    COMMAND ${program} help zsh > ${help}/_roofstep
    COMMAND ${GZIP} -9nc ${help}/roofstep.1 > ${help}/roofstep.1.gz
    COMMAND ${GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${help}/changelog.gz
    VERBATIM)
endif()
# ./roofstep builds the program alone: that is all there is to install.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# Libraries outside the system's folders are found again; of those inside the system takes care.
if(ROOFSTEP_CUDA OR NOT "${CBLAS_LIBRARY}${JANSSON_LIBRARY}" MATCHES "^/usr/lib/.*/usr/lib/")
  set_target_properties(roofstep PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
install(TARGETS roofstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET roofstep_mpi)
  install(TARGETS roofstep_mpi LIBRARY DESTINATION lib/roofstep)
endif()
install(FILES ${help}/roofstep.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${help}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${help}/roofstep.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME roofstep)
# Debian's zsh looks elsewhere for what packages bring.
install(CODE "set(ZSH_FOLDER site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(ZSH_FOLDER vendor-completions)
endif()")
install(FILES ${help}/_roofstep DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/\${ZSH_FOLDER}")
install(FILES peers/curve_file.py peers/hf_model.py peers/torch_bench.py peers/torch_blas.py peers/torch_curve.py peers/torch_ranks.py peers/torch_result.py peers/torch_step.py DESTINATION ${CMAKE_INSTALL_DATADIR}/roofstep/peers)
install(FILES tools/verify_torch.py tools/verify_hf.py tools/hf_reference.py tools/export_file.py tools/fp8_reference.py tools/torch_reference.py DESTINATION ${CMAKE_INSTALL_DATADIR}/roofstep)
# With what they link to.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "roofstep contributors <roofstep@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION "Runs a real training step of a Transformer language model and says how
long each part took, what memory it needed, and how far that is from what
the machine can do: roofstep suite ends in one page.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-torch, sqlite3, openmpi-bin")
include(CPack)
