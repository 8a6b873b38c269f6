OFI_PROVIDER([tcp], [message and RDM endpoints over TCP sockets], [])
