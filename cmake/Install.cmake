# cmake --install: bin/roofcal, and below share/roofcal what it reads (db/catalogue.h, share_folder()).
include(GNUInstallDirs)
install(TARGETS roofcal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY db/catalogue DESTINATION ${CMAKE_INSTALL_DATADIR}/roofcal FILES_MATCHING PATTERN "*.json")
install(DIRECTORY calibrate/builtin DESTINATION ${CMAKE_INSTALL_DATADIR}/roofcal FILES_MATCHING PATTERN "*.json.gz")
install(DIRECTORY predictor/models/builtin/ DESTINATION ${CMAKE_INSTALL_DATADIR}/roofcal/models FILES_MATCHING PATTERN "*.json")
install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
