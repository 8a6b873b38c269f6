/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The parameters of the core, for fi_info -e.  Code outside the core that uses a shared
 * parameter defines it with a NULL provider where it reads it.
 */

#include "core/param.h"

static const struct {
	const char *name;
	enum fi_param_type type;
	const char *help;
} own[] = {
	{ "provider", FI_PARAM_STRING,
	  "Providers to use, comma separated; ^ in front means all but these; "
	  "core;layer names a layered one (default: all)" },
	{ "provider_path", FI_PARAM_STRING,
	  "Where to look for loadable providers: directories, colon separated; "
	  "+FILE prefers one file; @ in front: the first of a name wins, not the "
	  "newest (default: " PROVDLDIR ")" },
	{ "hook", FI_PARAM_STRING,
	  "Hooks to put round every fabric that is opened, with ; between: "
	  "ofi_hook_trace, ofi_hook_perf, ofi_hook_profile, ofi_hook_fault (default: none)" },
	{ "addr_format", FI_PARAM_STRING,
	  "Offer only endpoints whose addresses have this format: FI_SOCKADDR, FI_SOCKADDR_IN, "
	  "FI_SOCKADDR_IN6, FI_SOCKADDR_IB, FI_ADDR_IB_UD, FI_ADDR_EFA, FI_ADDR_PSMX3, "
	  "FI_ADDR_OPX, FI_ADDR_CXI, FI_ADDR_STR (default: all)" },
	{ "log_level", FI_PARAM_STRING,
	  "Lines to log: none, warn, trace, info, debug (default: warn)" },
	{ "log_prov", FI_PARAM_STRING,
	  "Providers to log, comma separated; ^ in front means all but these "
	  "(default: all)" },
	{ "log_subsys", FI_PARAM_STRING,
	  "Subsystems to log, comma separated; ^ in front means all but these: "
	  "core, fabric, domain, ep_ctrl, ep_data, av, cq, eq, mr, cntr "
	  "(default: all)" },
	{ "log_interval", FI_PARAM_INT,
	  "Milliseconds between two lines of a kind that could come often "
	  "(default: 2000)" },
	{ "log_location", FI_PARAM_STRING,
	  "Where the log goes: stderr, stdout, a file that does not exist yet, or "
	  "a directory, for ofi_<pid>.log in it (default: stderr)" },
	{ "log_location_mode", FI_PARAM_INT,
	  "Access mode of a new log file, octal (default: 0600)" },
	{ "inspect", FI_PARAM_STRING,
	  "1: the user's fi_top may look at the endpoints of a process, and peers that have proven a key may ask "
	  "it what it waits for; all: peers without a key may, too; 0: there is neither a socket nor a thread for "
	  "it (default: 1)" },
	{ "unexp_peer_max", FI_PARAM_SIZE_T,
	  "Bytes that one peer can make an endpoint use for messages without a receive, "
	  "requests that wait, and answers: beyond, nothing more is read from it; from a quarter on "
	  "the endpoint asks its peers to announce further messages (default: 268435456; at least 262144)" },
	{ "unexp_header_max", FI_PARAM_SIZE_T,
	  "Bytes that the headers of messages without a receive of one peer may take, announced "
	  "ones included: beyond, its connection is ended (default: 4000000000)" },
	{ "unexp_max", FI_PARAM_SIZE_T,
	  "The same for all peers of an endpoint together; 65536 bytes of each are read "
	  "whatever the others use (default: 1073741824)" },
	{ "security", FI_PARAM_STRING,
	  "Protection of connections: none, auth (who sent a byte, and that it is unaltered) or encrypt "
	  "(and that no other reads it); what cannot protect is not offered (default: encrypt with a key, "
	  "else none; fi_security(7))" },
	{ "auth_key_file", FI_PARAM_STRING,
	  "File with the key of a job, of fi_keygen(1): its endpoints talk with holders of the key alone "
	  "(default: none)" },
	{ "tls_cert", FI_PARAM_STRING,
	  "File with a certificate (PEM), and those of CAs between it and the one that peers trust: endpoints "
	  "talk with those alone that have one, too, in place of a key (default: none; fi_security(7))" },
	{ "tls_key", FI_PARAM_STRING,
	  "File with the private key of FI_TLS_CERT, which only its owner may read (default: none)" },
	{ "tls_ca", FI_PARAM_STRING,
	  "File with the certificates of CAs that peers' certificates come from (default: none)" },
	{ "tls_crl", FI_PARAM_STRING,
	  "File with the lists of certificates that these CAs have revoked, of each one (default: not looked at)" },
	{ "tls_peers", FI_PARAM_STRING,
	  "Names that clients' certificates may have, or patterns with * and ?, with commas between "
	  "(default: all of FI_TLS_CA)" },
	{ "conn_retry", FI_PARAM_INT,
	  "Milliseconds for which an RDM endpoint of tcp, rxm or shm retries a connect that was refused, so "
	  "that a peer that is just being restarted is reached; 0: the refusal is reported at once "
	  "(default: 1000)" },
	{ "spin_us", FI_PARAM_SIZE_T,
	  "Microseconds that a blocking call polls before it sleeps, at most, and that a thread "
	  "polls in vain before each few polls yield the processor; 0: at once (default: 50)" },
	{ "prefer_sysconfig", FI_PARAM_BOOL,
	  "Let " SYSCONFDIR "/libfabric/libfabric.conf win over the environment "
	  "(default: no)" },
};

void core_param_define_own(void)
{
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		fi_param_define(NULL, own[i].name, own[i].type, "%s", own[i].help);
}
