OFI_PROVIDER([udp], [datagram endpoints over UDP sockets],
  [AS_IF([grep -q OFI_PROVIDER_INI "$srcdir"/prov/udp/*.c 2>/dev/null], [],
    [ofi_ok=no; ofi_why="its entry point is not in this tree"])])
