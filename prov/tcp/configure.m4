OFI_PROVIDER([tcp], [message and RDM endpoints over TCP sockets],
  [AS_IF([grep -q OFI_PROVIDER_INI "$srcdir"/prov/tcp/*.c 2>/dev/null], [],
    [ofi_ok=no; ofi_why="its entry point is not in this tree"])])
