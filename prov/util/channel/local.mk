# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/channel/chan.c \
	prov/util/channel/chan.h \
	prov/util/channel/handshake.c \
	prov/util/channel/handshake.h \
	prov/util/channel/hold.c \
	prov/util/channel/hold.h \
	prov/util/channel/poller.c \
	prov/util/channel/poller.h \
	prov/util/channel/select.c \
	prov/util/channel/select.h \
	prov/util/channel/simultaneous.h
