// SPDX-License-Identifier: Apache-2.0
// libpcap's live devices. A build without its header, or a system without it, refuses.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/ports/sniff.h>

#ifdef HAS_LIBPCAP

#include <dlfcn.h>
#include <pcap/pcap.h>
#include <poll.h>

// Loaded when a device is opened: it brings a dozen libraries, which an analysis would wait for.
#define FUNCTIONS(ROW) \
	ROW(create) \
	ROW(set_snaplen) \
	ROW(set_promisc) \
	ROW(set_timeout) \
	ROW(set_buffer_size) \
	ROW(set_tstamp_precision) \
	ROW(activate) \
	ROW(geterr) \
	ROW(statustostr) \
	ROW(datalink) \
	ROW(setnonblock) \
	ROW(close) \
	ROW(compile) \
	ROW(setfilter) \
	ROW(freecode) \
	ROW(next_ex) \
	ROW(get_selectable_fd) \
	ROW(stats)

static struct {
#define ROW(name) __typeof__(&pcap_##name) name;
	FUNCTIONS(ROW)
#undef ROW
} live;
static const char *const names[] = {
#define ROW(name) "pcap_" #name,
	FUNCTIONS(ROW)
#undef ROW
};

static int load(struct refusal *refusal)
{
	static const char *const libraries[] = {"libpcap.so.1", "libpcap.so.0.8", "libpcap.so"};
	void *library = NULL;
	for (size_t i = 0; library == NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *function = library != NULL ? dlsym(library, names[i]) : NULL;
		if (function == NULL)
			return refuse(refusal, -ENODEV,
				      "this system has no libpcap, which capture needs");
		memcpy((char *)&live + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}

#define WAIT_MS 100

// What a device has, as what a file says: they differ where systems differ.
static uint16_t link_of(int type)
{
	return type == DLT_RAW ? 101 : (uint16_t)type;
}

static int activate(pcap_t *handle, const struct sniff_choice *choice, struct sniff *ret,
		    struct refusal *refusal)
{
	live.set_snaplen(handle, (int)choice->snap_bytes);
	live.set_promisc(handle, !choice->is_plain);
	live.set_timeout(handle, WAIT_MS);
	live.set_buffer_size(handle, (int)choice->buffer_bytes);
	ret->has_ns = live.set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO) == 0;
	int rc = live.activate(handle);
	if (rc < 0) {
		const char *why = live.geterr(handle);
		return refuse_file(refusal, -ENODEV, choice->device,
				   why[0] != '\0' ? why : live.statustostr(rc));
	}
	ret->link = link_of(live.datalink(handle));
	char error[PCAP_ERRBUF_SIZE];
	if (live.setnonblock(handle, 1, error) < 0)
		return refuse_file(refusal, -ENODEV, choice->device, error);
	return 0;
}

static int set_filter(pcap_t *handle, const struct sniff_choice *choice, struct refusal *refusal)
{
	struct bpf_program program;
	if (choice->filter == NULL)
		return 0;
	if (live.compile(handle, &program, choice->filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return refuse_file(refusal, -EINVAL, "--filter", live.geterr(handle));
	int rc = live.setfilter(handle, &program) < 0
		? refuse_file(refusal, -EINVAL, "--filter", live.geterr(handle))
		: 0;
	live.freecode(&program);
	return rc;
}

int sniff_open(struct sniff *ret, const struct sniff_choice *choice, struct refusal *refusal)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	memset(ret, 0, sizeof(*ret));
	int rc = load(refusal);
	if (rc < 0)
		return rc;
	pcap_t *handle = live.create(choice->device, error);
	if (handle == NULL)
		return refuse_file(refusal, -ENODEV, choice->device, error);
	rc = activate(handle, choice, ret, refusal);
	if (rc == 0)
		rc = set_filter(handle, choice, refusal);
	if (rc < 0)
		live.close(handle);
	else
		ret->handle = handle;
	return rc;
}

int sniff_next(struct sniff *sniff, struct sniff_frame *ret)
{
	struct pcap_pkthdr *head;
	const uint8_t *bytes;
	int got = live.next_ex(sniff->handle, &head, &bytes);
	if (got == 0) { // waiting in there has no end where nothing comes
		struct pollfd poll_of = {live.get_selectable_fd(sniff->handle), POLLIN, 0};
		poll(&poll_of, poll_of.fd >= 0, WAIT_MS);
		got = live.next_ex(sniff->handle, &head, &bytes);
	}
	if (got == 0)
		return 0;
	if (got < 0) {
		snprintf(sniff->why, sizeof(sniff->why), "%s", live.geterr(sniff->handle));
		return -EIO;
	}
	*ret = (struct sniff_frame){
		.bytes = bytes,
		.captured = head->caplen,
		.original = head->len,
		.at_ns = (int64_t)head->ts.tv_sec * 1000000000 +
			(int64_t)head->ts.tv_usec * (sniff->has_ns ? 1 : 1000),
	};
	return 1;
}

void sniff_counts(const struct sniff *sniff, uint64_t *ret_received, uint64_t *ret_dropped)
{
	struct pcap_stat counts = {0};
	live.stats(sniff->handle, &counts);
	*ret_received = counts.ps_recv;
	*ret_dropped = (uint64_t)counts.ps_drop + counts.ps_ifdrop;
}

void sniff_close(struct sniff *sniff)
{
	live.close(sniff->handle);
}

#else

int sniff_open(struct sniff *ret, const struct sniff_choice *choice, struct refusal *refusal)
{
	(void)ret, (void)choice;
	return refuse(refusal, -ENOTSUP, "this build has no libpcap, which capture needs");
}

int sniff_next(struct sniff *sniff, struct sniff_frame *ret)
{
	(void)sniff, (void)ret;
	return -EIO;
}

void sniff_counts(const struct sniff *sniff, uint64_t *ret_received, uint64_t *ret_dropped)
{
	(void)sniff;
	*ret_received = *ret_dropped = 0;
}

void sniff_close(struct sniff *sniff)
{
	(void)sniff;
}

#endif
