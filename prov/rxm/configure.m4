# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
OFI_PROVIDER([rxm], [RDM endpoints over any provider's MSG endpoints], [])
