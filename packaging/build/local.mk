# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# For CMake: find_package(libfabric).  Made by make, where the directories are known as they are used.
cmakedir = $(libdir)/cmake/libfabric
cmake_DATA = packaging/build/libfabric-config.cmake packaging/build/libfabric-config-version.cmake
CLEANFILES += $(cmake_DATA)
packaging/build/libfabric-config.cmake: packaging/build/libfabric-config.cmake.in install-dirs.stamp
packaging/build/libfabric-config-version.cmake: packaging/build/libfabric-config-version.cmake.in install-dirs.stamp
$(cmake_DATA):
	$(AM_V_GEN)$(MKDIR_P) packaging/build && \
	sed -e 's|@includedir[@]|$(includedir)|g' -e 's|@libdir[@]|$(libdir)|g' -e 's|@VERSION[@]|$(VERSION)|g' \
		 -e 's|@LIBS[@]|$(LIBS)|' '$(srcdir)/$@.in' > $@

EXTRA_DIST += packaging/build/libfabric-config.cmake.in packaging/build/libfabric-config-version.cmake.in \
	packaging/build/meson/libfabric.wrap packaging/build/meson/packagefiles/libfabric/meson.build \
	packaging/test/cmake/CMakeLists.txt packaging/test/meson/meson.build packaging/test/use.c
