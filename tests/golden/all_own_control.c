// SPDX-License-Identifier: Apache-2.0
// A congestion control of one's own, added as docs/howto/add-a-congestion-control.md says: rows in
// the table. It runs under its name on the transports that its row names, is refused by name on
// others, and is never replaced. This program has a table of its own in the place of
// lib/cc/table.c.

#include <errno.h>

#include "../rig.h"

#include "../../lib/cc/algorithms.h"

static uint64_t acks;

static void own_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	(void)now;
	cc->window_bytes = 3 * config->mtu_bytes;
	cc->rate_bps = 0;
	cc->wake_at = PS_NEVER;
}

static void own_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	acks += ack->newly_bytes > 0;
}

#define OWN(word, on) \
	{ \
		.name = word, .transports = on, .keys = CC_KEYS_TARGET, .init = own_init, \
		.on_ack = own_on_ack, .on_loss = cc_on_loss_none, .on_cnp = cc_on_cnp_none, \
		.on_time = cc_on_time_none, .on_sent = cc_on_sent_none, .aims = cc_aims_of_config, \
		CC_SENDER_ALONE \
	}

static const struct cc_ops own_both = OWN("own_both", CC_ON_MRC | CC_ON_RC);
static const struct cc_ops own_mrc = OWN("own_mrc", CC_ON_MRC);
static const struct cc_ops own_none = OWN("own_none", 0);

#define ADDRESS(name) &cc_##name,
#define NAME(name) #name,
const struct cc_ops *const cc_all[] = {CC_ALL(ADDRESS) & own_both, &own_mrc, &own_none, NULL};
const char *const cc_names[] = {CC_ALL(NAME) "own_both", "own_mrc", "own_none", NULL};

#define FABRIC "name: own\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
#define INCAST FABRIC "queue: {trim: false}\ntraffic: {kind: incast, senders: 5, bytes: 200kB}\n"

// Runs and returns the digest; what the result says ran is `name`.
static uint64_t run_named(const char *transport, const char *name)
{
	static struct rig rig;
	char kind[32], algorithm[48];
	snprintf(kind, sizeof(kind), "transport.kind=%s", transport);
	snprintf(algorithm, sizeof(algorithm), "cc.algorithm=%s", name);
	rig_run(&rig, INCAST, (const char *const[]){kind, algorithm, NULL});
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_string_equal(rig.world_instance.world.transport.cc.name, name);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	return digest;
}

static void one_runs_under_its_name_on_both_transports(void **)
{
	static const char *const kinds[] = {"mrc", "rc"};
	for (uint32_t i = 0; i < 2; i++) {
		acks = 0;
		uint64_t own = run_named(kinds[i], "own_both");
		assert_true(acks > 40); // of 5 x 200 kB in windows of 12 kB
		acks = 0;
		assert_true(own != run_named(kinds[i], "fixed"));
		assert_int_equal(acks, 0);
	}
}

static void refused(const char *yaml, const char *const *sets, const char *says)
{
	static struct rig rig;
	int rc = rig_build(&rig, yaml, sets);
	if (rc != -EINVAL || strstr(rig.refusal.text, says) == NULL)
		fail_msg("%d: %s, not: %s", rc, rig.refusal.text, says);
}

static void one_is_refused_by_name_where_its_row_has_no_transport(void **)
{
	run_named("mrc", "own_mrc");
	refused(INCAST, (const char *const[]){"transport.kind=rc", "cc.algorithm=own_mrc", NULL},
		"own_mrc does not run on transport.kind rc, which has no SACKs; set one that does: "
		"fixed, dcqcn, own_both");
	refused(INCAST, (const char *const[]){"cc.algorithm=own_none", NULL},
		"own_none does not run on transport.kind mrc");
	// in the file, where no default is in force
	refused(FABRIC "transport: {kind: rc}\ncc: {algorithm: own_mrc}\n"
		       "traffic: {kind: tornado, bytes: 9kB}\n",
		NULL, "own_mrc does not run on transport.kind rc");
}

static void keys_are_those_of_its_row(void **)
{
	static struct rig rig;
	const char *const reads[] = {"cc.algorithm=own_mrc", "cc.target_delay=9us",
				     "cc.max_window=99kB", NULL};
	assert_int_equal(rig_build(&rig, INCAST, reads), 0);
	world_instance_free(&rig.world_instance);
	refused(INCAST, (const char *const[]){"cc.algorithm=own_mrc", "cc.fi=9kB", NULL},
		"cc.fi has no effect here; it needs cc.algorithm nscc or nscc_rccc");
	refused(INCAST, (const char *const[]){"cc.algorithm=own_mrc", "cc.window=99kB", NULL},
		"cc.window has no effect here; it needs cc.algorithm fixed");
	refused(INCAST, (const char *const[]){"cc.algorithm=dctcp", "cc.target_delay=9us", NULL},
		"it needs cc.algorithm nscc or swift or nscc_rccc or own_both or own_mrc or "
		"own_none");
}

// A row says what other files ask for by these fields.
static void rows_are_whole(void **)
{
	for (const struct cc_ops *const *ops = cc_all; (*ops)->transports != 0; ops++) {
		assert_ptr_equal(cc_find((*ops)->name), *ops);
		assert_string_equal((*ops)->name, cc_names[ops - cc_all]);
		assert_true(!(*ops)->has_rate || (*ops)->transports == CC_ON_RC);
		assert_true(!(*ops)->has_credit || (*ops)->transports == CC_ON_MRC);
		assert_true((*ops)->has_credit || !(*ops)->is_credit_alone);
		assert_int_equal((*ops)->has_credit, ((*ops)->keys & CC_KEYS_CREDIT) != 0);
	}
}
