OFI_PROVIDER([udp], [datagram endpoints over UDP sockets], [])
