# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
OFI_PROVIDER([shm], [RDM endpoints between processes of one host], [])
