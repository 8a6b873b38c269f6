# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
OFI_PROVIDER([loop], [RDM endpoints within one process, the example for provider authors], [])
