# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/obj/av.h \
	prov/util/obj/cntr.h \
	prov/util/obj/cq.h \
	prov/util/obj/domain.h \
	prov/util/obj/ep.h \
	prov/util/obj/eq.h \
	prov/util/obj/fabric.h \
	prov/util/obj/mr.h \
	prov/util/obj/ops.h \
	prov/util/obj/pep.h \
	prov/util/obj/poll.h \
	prov/util/obj/prog.h \
	prov/util/obj/ref.h \
	prov/util/obj/wait.h
