# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
OFI_PROVIDER([rxd], [RDM and MSG endpoints over any provider's datagrams], [])
