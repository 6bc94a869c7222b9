// SPDX-License-Identifier: Apache-2.0
// libpcap's live devices. A build without it refuses.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/ports/sniff.h>

#ifdef HAS_LIBPCAP

#include <pcap/pcap.h>
#include <poll.h>

#define WAIT_MS 100

// What a device has, as what a file says: they differ where systems differ.
static uint16_t link_of(int type)
{
	return type == DLT_RAW ? 101 : (uint16_t)type;
}

static int refuse_with(struct refusal *refusal, int rc, const char *device, const char *why)
{
	snprintf(refusal->file, sizeof(refusal->file), "%s", device);
	snprintf(refusal->text, sizeof(refusal->text), "%s", why);
	return rc;
}

static int activate(pcap_t *handle, const struct sniff_choice *choice, struct sniff *ret,
		    struct refusal *refusal)
{
	pcap_set_snaplen(handle, (int)choice->snap_bytes);
	pcap_set_promisc(handle, !choice->is_plain);
	pcap_set_timeout(handle, WAIT_MS);
	pcap_set_buffer_size(handle, (int)choice->buffer_bytes);
	ret->has_ns = pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO) == 0;
	int rc = pcap_activate(handle);
	if (rc < 0) {
		const char *why = pcap_geterr(handle);
		return refuse_with(refusal, -ENODEV, choice->device,
				   why[0] != '\0' ? why : pcap_statustostr(rc));
	}
	ret->link = link_of(pcap_datalink(handle));
	char error[PCAP_ERRBUF_SIZE];
	if (pcap_setnonblock(handle, 1, error) < 0)
		return refuse_with(refusal, -ENODEV, choice->device, error);
	return 0;
}

static int set_filter(pcap_t *handle, const struct sniff_choice *choice, struct refusal *refusal)
{
	struct bpf_program program;
	if (choice->filter == NULL)
		return 0;
	if (pcap_compile(handle, &program, choice->filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return refuse_with(refusal, -EINVAL, "--filter", pcap_geterr(handle));
	int rc = pcap_setfilter(handle, &program) < 0
		? refuse_with(refusal, -EINVAL, "--filter", pcap_geterr(handle))
		: 0;
	pcap_freecode(&program);
	return rc;
}

int sniff_open(struct sniff *ret, const struct sniff_choice *choice, struct refusal *refusal)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	memset(ret, 0, sizeof(*ret));
	pcap_t *handle = pcap_create(choice->device, error);
	if (handle == NULL)
		return refuse_with(refusal, -ENODEV, choice->device, error);
	int rc = activate(handle, choice, ret, refusal);
	if (rc == 0)
		rc = set_filter(handle, choice, refusal);
	if (rc < 0)
		pcap_close(handle);
	else
		ret->handle = handle;
	return rc;
}

int sniff_next(struct sniff *sniff, struct sniff_frame *ret)
{
	struct pcap_pkthdr *head;
	const uint8_t *bytes;
	int got = pcap_next_ex(sniff->handle, &head, &bytes);
	if (got == 0) { // waiting in there has no end where nothing comes
		struct pollfd poll_of = {pcap_get_selectable_fd(sniff->handle), POLLIN, 0};
		poll(&poll_of, poll_of.fd >= 0, WAIT_MS);
		got = pcap_next_ex(sniff->handle, &head, &bytes);
	}
	if (got == 0)
		return 0;
	if (got < 0) {
		snprintf(sniff->why, sizeof(sniff->why), "%s", pcap_geterr(sniff->handle));
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
	pcap_stats(sniff->handle, &counts);
	*ret_received = counts.ps_recv;
	*ret_dropped = (uint64_t)counts.ps_drop + counts.ps_ifdrop;
}

void sniff_close(struct sniff *sniff)
{
	pcap_close(sniff->handle);
}

#else

int sniff_open(struct sniff *ret, const struct sniff_choice *choice, struct refusal *refusal)
{
	(void)ret, (void)choice;
	return refuse(refusal, -ENOTSUP, "this build has no libpcap, which capture needs", 0, 0, 0);
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
