// SPDX-License-Identifier: Apache-2.0
// Job files: what a small one comes to, and what a bad one is told, at which place.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/scenario/plan_file.h>
#include <weft/workload/plan_memory.h>

#include "scenario_files.h"
#include "scenario_reader.h"

static struct plan_file file;

#define MODEL "name: a\nmodel: {layers: 32, hidden: 4096, heads: 32, ffn: 11008, vocab: 32000}\n"
#define SMALL MODEL "step: {sequence: 4096}\n"
#define MOE \
	"name: a\nmodel: {layers: 4, hidden: 64, heads: 8, vocab: 100, experts: 8, " \
	"experts_per_token: 2, expert_ffn: 64}\nstep: {sequence: 64}\n"

static int read_text(const char *job, struct refusal *refusal)
{
	return plan_file_read(&file, "job.yaml", job, strlen(job), refusal);
}

static void a_file_of_three_lines_is_a_job(void **)
{
	struct refusal refusal = {0};
	assert_int_equal(read_text(SMALL, &refusal), 0);
	const struct plan *plan = &file.plan;
	assert_string_equal(plan->architecture->name, "a");
	assert_int_equal(plan->architecture->kv_heads, 32);
	assert_int_equal(plan->architecture->head_dim, 128);
	assert_int_equal(architecture_params(plan->architecture), UINT64_C(6738415616)); // Llama 7B
	assert_int_equal(plan_ranks(plan), 1);
	assert_int_equal(plan->parallel.grad_bytes, 2);
	assert_true(plan->parallel.has_distributed_optimizer);
	assert_string_equal(plan->parallel.order, "tp-cp-ep-dp-pp");
}

// Without a rank of queries a matrix of the whole width makes them, as in DeepSeek-V2-Lite.
static void latent_queries_need_no_rank(void **)
{
	static const char job[] =
		"name: a\nmodel: {layers: 1, hidden: 64, heads: 8, head_dim: 8, ffn: 16, vocab: 1, "
		"kv_rank: 16, rope_dim: 4, value_dim: 8}\nstep: {sequence: 8}\n";
	struct refusal refusal = {0};
	assert_int_equal(read_text(job, &refusal), 0);
	uint64_t attention = 64 * 8 * (8 + 4) + 64 * (16 + 4) + 16 + 8 * 16 * (8 + 8) + 8 * 8 * 64;
	uint64_t rest = 3 * 64 * 16 + 2 * 64 + 2 * 64 + 64; // feed-forward, norms, words, last norm
	assert_int_equal(architecture_params(file.plan.architecture), attention + rest);
}

static void times_have_the_origin_that_the_file_says(void **)
{
	struct refusal refusal = {0};
	assert_int_equal(read_text(SMALL "times: {forward: 1ms, backward: 2ms}\n", &refusal), 0);
	assert_int_equal(file.plan.timing.rests_on, INPUT_ASSUMED);
	assert_int_equal(read_text(SMALL "times: {forward: 1ms, backward: 2ms}\ninputs:\n"
					 "  - {of: model, origin: fact, text: paper}\n"
					 "  - {of: step times, origin: calibrated, text: my log}\n",
				   &refusal),
			 0);
	assert_int_not_equal(file.plan.timing.rests_on, INPUT_ASSUMED);
	assert_string_equal(file.plan.timing.origin, "my log");
	assert_int_equal(file.plan.input_count, 2);
	assert_ptr_equal(plan_input_of(&file.plan, "step.sequence"), &file.inputs[1]);
	assert_ptr_equal(plan_input_of(&file.plan, "times"), &file.inputs[1]);
	assert_null(plan_input_of(&file.plan, "timesheet"));
	assert_ptr_equal(plan_input_of(&file.plan, "model.layers"), &file.inputs[0]);
	assert_int_equal(read_text(SMALL "times: {forward: 1ms, backward: 2ms}\ninputs:\n"
					 "  - {of: times, origin: assumed, text: all}\n"
					 "  - {of: times.forward, origin: fact, text: its own}\n",
				   &refusal),
			 0);
	assert_string_equal(file.plan.timing.origin, "its own"); // before that of its section
	assert_int_not_equal(file.plan.timing.rests_on, INPUT_ASSUMED);
}

// A device gives its memory, its domain and its rates, and times where the file has none.
static void a_device_says_what_the_file_does_not(void **)
{
	struct refusal refusal = {0};
	const struct site *site = &file.plan.site;
	assert_int_equal(read_text(SMALL "times: {device: H100}\n", &refusal), 0);
	assert_string_equal(site->device->name, "H100");
	assert_int_equal(site->memory_bytes, UINT64_C(80000000000));
	assert_int_equal(site->domain, 8);
	assert_int_equal(site->domain_Bps, UINT64_C(450000000000));
	assert_int_equal(site->nic_bps, UINT64_C(400000000000));
	assert_string_equal(file.plan.timing.origin,
			    "roofline of H100 at 40 % of its rates in bf16");
	assert_int_equal(file.plan.timing.rests_on, INPUT_ASSUMED);
	ps_t forward_ps = file.plan.timing.forward_ps;
	assert_int_equal(read_text(SMALL "times: {device: H100, efficiency: 80%}\n"
					 "domain: {gpus: 4, rate: 1TB/s, nic_rate: 100Gb/s, "
					 "memory: 96GiB}\n",
				   &refusal),
			 0);
	assert_in_range(2 * file.plan.timing.forward_ps, forward_ps - 64, forward_ps + 64);
	assert_int_equal(site->domain, 4);
	assert_int_equal(site->domain_Bps, UINT64_C(1000000000000));
	assert_int_equal(site->nic_bps, UINT64_C(100000000000));
	assert_int_equal(site->memory_bytes, UINT64_C(96) << 30);
	assert_int_equal(
		read_text(SMALL "times: {device: H100, forward: 1ms, backward: 2ms}\n", &refusal),
		0);
	assert_int_equal(file.plan.timing.forward_ps, PS_PER_MS);
	assert_false(plan_has_roofline(&file.plan));
}

// A cell has its share of all layers; embedding and output stand beside those of the first and
// last.
static void measured_layers_are_times_of_cells(void **)
{
	struct refusal refusal = {0};
	const struct plan *plan = &file.plan;
	assert_int_equal(read_text(MOE "times: {device: H100, measured: [{part: expert_layer, "
				       "forward: 3ms, backward: 5ms}, {part: output, forward: "
				       "1ms, backward: 2ms}, {part: embedding, forward: 7us, "
				       "backward: 8us}]}\ncut: {pp: 2}\ninputs:\n  - {of: "
				       "times.measured, origin: calibrated, text: my list}\n",
				   &refusal),
			 0);
	assert_int_equal(plan->timing.forward_ps, 6 * PS_PER_MS); // two of four layers
	assert_int_equal(plan->timing.backward_ps, 10 * PS_PER_MS);
	assert_int_equal(plan_ends_ps(plan, 0, 0, false), 7 * PS_PER_US);
	assert_int_equal(plan_ends_ps(plan, 0, 0, true), 8 * PS_PER_US);
	assert_int_equal(plan_ends_ps(plan, 1, 0, true), 2 * PS_PER_MS);
	assert_int_equal(plan_loss_ppb(plan), 0);
	assert_false(plan_has_roofline(plan));
	assert_int_not_equal(plan->timing.rests_on, INPUT_ASSUMED);
	assert_string_equal(plan->timing.origin, "my list");
}

// The words of times.device are the names of the table.
static void each_device_may_be_named(void **)
{
	for (uint32_t i = 0; accelerator_at(i) != NULL; i++) {
		struct refusal refusal = {0};
		char job[512];
		snprintf(job, sizeof(job), SMALL "times: {device: %s}\n", accelerator_at(i)->name);
		assert_int_equal(read_text(job, &refusal), 0);
		assert_ptr_equal(file.plan.site.device, accelerator_at(i));
		assert_true(file.plan.timing.forward_ps > 0);
	}
}

static const struct {
	const char *text;
	uint32_t line, column;
	const char *reason;
} bad[] = {
	// no job at all
	{"", 1, 1, "the file is empty; a job file has at least name, model and step.sequence"},
	{"- a\n", 1, 1, "a job file is a mapping of keys such as `model:`, not a list"},
	{"a\n", 1, 1, "not a single value"},
	{"name: a\n\tmodel: {}\n", 2, 1, "not YAML"},
	{SMALL "---\nname: b\n", 4, 1, "a second document begins here; a job file is one"},
	{"name: a\n\x01\n", 2, 1, "a job file is text"},
	{"name: \xff\n", 1, 7, "a job file is UTF-8 text"},
	// keys
	{SMALL "nmae: b\n", 4, 1, "there is no key nmae; did you mean name?"},
	{SMALL "modle: {}\n", 4, 1, "there is no key modle; did you mean model?"},
	{SMALL "model.layers: 3\n", 4, 1, "is not a key in a file: write model: {layers: ...}"},
	{SMALL "cut: {tpp: 2}\n", 4, 7, "there is no key cut.tpp; did you mean cut.tp?"},
	{SMALL "cut: {layers: 2}\n", 4, 7, "did you mean model.layers?"},
	{SMALL "cut: {micro_batches: 2}\n", 4, 7, "did you mean step.micro_batches?"},
	{SMALL "cut: {tensor: 2}\n", 4, 7, "there is no key cut.tensor; did you mean cut.tp?"},
	{SMALL "cut: {sp: true}\n", 4, 7, "did you mean cut.tp, whose ranks share the sequence"},
	{SMALL "parallel: {tp: 2}\n", 4, 1, "no key parallel; did you mean cut?"},
	{SMALL "fabric: {nics: 8}\n", 4, 1, "did you mean a scenario, whose traffic.model names"},
	{MODEL "step: {seq_len: 8}\n", 3, 8, "no key step.seq_len; did you mean step.sequence?"},
	{MODEL "step: {sequence: 8, global_batch: 8}\n", 3, 21, "mean step.micro_batches, of one"},
	{SMALL "domain: {size: 8}\n", 4, 10, "no key domain.size; did you mean domain.gpus?"},
	{SMALL "cut: 3\n", 4, 6, "cut: a mapping of keys is expected, not a single value"},
	{SMALL "cut: [tp]\n", 4, 6, "cut: a mapping of keys is expected, not a list"},
	{SMALL "cut: {tp: 2, tp: 4}\n", 4, 14, "the key tp appears twice; it was first on line 4"},
	{SMALL "cut: {tp: {a: 1}}\n", 4, 11, "cut.tp: a count is expected, not a mapping"},
	{SMALL "<<: {}\n", 4, 1, "merge keys are not read"},
	{SMALL "cut: {tp: !!int 2}\n", 4, 11, "a tag has no meaning in a job file"},
	// what is missing
	{"model: {layers: 1}\n", 1, 1, "name is missing"},
	{"name: a\nstep: {sequence: 64}\n", 1, 1, "model.layers is missing"},
	{MODEL, 1, 1, "step.sequence is missing"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, vocab: 9}\nstep: {sequence: 8}\n", 1, 1,
	 "model.ffn: a model without experts needs a feed-forward"},
	{SMALL "times: {forward: 1ms}\n", 4, 18, "times.backward is missing; times.forward needs"},
	{SMALL "published: {step: 1s}\n", 4, 19, "published.source is missing"},
	{SMALL "inputs:\n  - {of: model, text: b}\n", 5, 5, "inputs[].origin is missing"},
	// values
	{SMALL "cut: {tp: 0}\n", 4, 11, "cut.tp: `0` is too small; it may be 1 to 1048576"},
	{SMALL "cut: {tp: -1}\n", 4, 11, "is negative"},
	{SMALL "cut: {tp: 2.5}\n", 4, 11, "a count is whole"},
	{SMALL "cut: {tp: two}\n", 4, 11, "`two` is not a count"},
	{SMALL "cut: {tp: \"2\"}\n", 4, 11, "a text in quotes; write a count without quotes"},
	{SMALL "cut: {tp: 010}\n", 4, 11, "octal"},
	{SMALL "cut: {tp: 1e3}\n", 4, 11, "without an exponent"},
	{SMALL "cut: {dp: 2000000}\n", 4, 11, "too large"},
	{SMALL "wire: {gradients: 2}\n", 4, 19, "`2` has no unit"},
	{SMALL "wire: {gradients: 32B}\n", 4, 19, "too large; it may be 1B to 16B"},
	{SMALL "wire: {parameters: bf16}\n", 4, 20, "`bf16` is not a size"},
	{SMALL "wire: {gradients: fp32}\n", 4, 19, "`fp32` is not a size; write 4B"},
	{SMALL "times: {device: h100}\n", 4, 17, "Trainium2; did you mean H100?"},
	{SMALL "reduce: {kind: FSDP}\n", 4, 16, "local; did you mean fsdp?"},
	{SMALL "times: {device: H100, efficiency: 40}\n", 4, 35,
	 "`40` is too large; it may be 0.001 to 1; parts of 100 end in %"},
	{MODEL "step: {sequence: 8, recompute: selective}\n", 3, 32,
	 "selective recomputation counts as none"},
	{SMALL "times: {forward: 5, backward: 2ms}\n", 4, 18, "`5` has no unit; a time needs"},
	{SMALL "times: {forward: 5msec, backward: 2ms}\n", 4, 18, "not a unit here; write ms"},
	{SMALL "times: {forward: 0s, backward: 2ms}\n", 4, 18, "write none, or 1ps to"},
	{SMALL "reduce: {aligned: 1}\n", 4, 19, "is not a flag; write true or false"},
	{SMALL "reduce: {bucket: 128MiB}\n", 4, 18, "a count has no unit"},
	{"name: a\nmodel: {norm: batch}\n", 2, 15,
	 "`batch` is not known here; it may be: rms, lay"},
	{"name: ''\n", 1, 7, "a text is expected, but there is none"},
	{SMALL "inputs:\n  - {of: model, origin: guess, text: b}\n", 5, 25, "it may be: fact, ass"},
	// what has no effect
	{SMALL "times: {other: 1ms}\n", 4, 9,
	 "times.other has no effect here; it needs times.forw"},
	{SMALL "times: {efficiency: 50%}\n", 4, 9,
	 "times.efficiency has no effect here; it needs times.device"},
	{SMALL "times: {device: H100, precision: fp8, forward: 1ms, backward: 2ms}\n", 4, 23,
	 "times.precision has no effect here; it needs times from times.device, not given"},
	{SMALL "times: {device: A100, precision: fp8}\n", 4, 34,
	 "times.precision: A100 has no published rate in fp8"},
	{SMALL "times: {device: P100}\n", 4, 17, "`P100` is not known here; it may be: none, A1"},
	{SMALL "times: {device: H100, efficiency: 120%}\n", 4, 35, "too large"},
	{SMALL "times: {device: H100, efficiency: 0.01%}\n", 4, 35, "too small"},
	{SMALL "domain: {rate: 450}\n", 4, 16, "`450` has no unit; a rate needs"},
	{SMALL "domain: {gpus: 0}\n", 4, 16, "`0`"},
	{SMALL "domain: {memory: 80}\n", 4, 18, "`80` has no unit"},
	{SMALL "step: {sequence: 4096, recompute: half}\n", 4, 1, "the key step appears twice"},
	{MODEL "step: {sequence: 4096, recompute: half}\n", 3, 35,
	 "`half` is not known here; it may be: none, full"},
	{SMALL "published: {source: b}\n", 4, 13, "no effect here; it needs published.step"},
	{SMALL "cut: {ep: 2}\n", 4, 7, "cut.ep has no effect here; it needs model.experts"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, vocab: 9, ffn: 8, rope_dim: 8}\n"
	 "step: {sequence: 8}\n",
	 2, 60, "model.rope_dim has no effect here; it needs model.kv_rank"},
	{SMALL "inputs:\n  - {of: cut, origin: fact, text: b}\n", 5, 10,
	 "nothing of `cut` is given"},
	{SMALL "inputs:\n  - {of: model.lay, origin: fact, text: b}\n", 5, 10, "`model.lay`"},
	{SMALL "reduce: {prefetch: 2}\n", 4, 10,
	 "no effect here; it needs reduce.kind zero-3 or fsdp"},
	{SMALL "reduce: {kind: fsdp, bucket: 9}\n", 4, 22,
	 "needs reduce.kind megatron, zero-1 or zero"},
	{SMALL "reduce: {kind: zero-2, aligned: true}\n", 4, 24, "it needs reduce.kind megatron"},
	{SMALL "reduce: {within: 2}\n", 4, 10, "it needs reduce.kind zero-3 or fsdp"},
	{SMALL "reduce: {kind: fsdp, within: 3}\ncut: {dp: 8}\n", 4, 30,
	 "reduce.within: 8 ranks are not a whole number of shards of 3"},
	{MOE "reduce: {kind: fsdp, within: 2}\ncut: {dp: 8}\n", 4, 30,
	 "reduce.within: a model with experts has shards of all ranks"},
	{SMALL "reduce: {sync: each}\n", 4, 10, "reduce.sync has no effect here; it needs reduce."},
	{SMALL "reduce: {kind: fsdp2}\n", 4, 16,
	 "it may be: megatron, ddp, zero-1, zero-2, zero-3"},
	{SMALL "times: {measured: [{part: output, forward: 1ms, backward: 1ms}]}\n", 4, 19,
	 "times.measured: layer is missing; the model has such layers"},
	{SMALL "times: {measured: [{part: layer, forward: 1ms}]}\n", 4, 20,
	 "times.measured[].backward is missing"},
	{SMALL "times:\n  measured:\n    - {part: layer, forward: 1ms, backward: 1ms}\n"
	       "    - {part: expert_layer, forward: 1ms, backward: 1ms}\n",
	 7, 14, "times.measured[].part: the model has no expert_layer"},
	{SMALL "times:\n  measured:\n    - {part: layer, forward: 1ms, backward: 1ms}\n"
	       "    - {part: layer, forward: 1ms, backward: 1ms}\n",
	 7, 14, "times.measured[].part: layer appears twice"},
	{SMALL "times: {forward: 1ms, backward: 1ms, measured: [{part: layer, forward: 1ms, "
	       "backward: 1ms}]}\n",
	 4, 38, "times.measured has no effect here; times.forward is given"},
	{SMALL "inputs:\n  - {of: model, origin: fact, text: a}\n"
	       "  - {of: step model, origin: assumed, text: b}\n",
	 6, 10, "inputs[].of: `model` has its origin already"},
	{SMALL "inputs: [{of: step step, origin: fact, text: a}]\n", 4, 15,
	 "inputs[].of: `step` has its origin already"},
	// what does not fit together
	{SMALL "reduce: {kind: zero-3}\ncut: {pp: 2}\n", 5, 11,
	 "cut.pp: 2 stages: DeepSpeed's pipelines take no ZeRO beyond 1; fsdp goes with stages"},
	{SMALL "reduce: {kind: zero-2}\ncut: {pp: 2}\n", 5, 11, "DeepSpeed's pipelines take no"},
	{SMALL "reduce: {kind: fsdp, reshard: 2}\n", 4, 31, "it may be: auto, true, false"},
	{MODEL "step: {sequence: 64, micro_batches: 2}\nreduce: {kind: zero-1}\n"
	       "cut: {pp: 2, vpp: 2}\n",
	 5, 19, "cut.vpp: 2 chunks a stage: ZeRO's gathers"},
	{SMALL "reduce: {every: 4}\n", 4, 10, "it needs reduce.kind local"},
	{SMALL "reduce: {kind: local, sync: each}\n", 4, 23, "other than megatron and local"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, kv_heads: 3, ffn: 8, vocab: 9}\n"
	 "step: {sequence: 8}\n",
	 2, 52, "model.kv_heads: 8 heads do not divide by 3 heads of keys and values"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, kv_heads: 2, kv_rank: 16, ffn: 8, "
	 "value_dim: 8, vocab: 9}\nstep: {sequence: 8}\n",
	 2, 52, "model.kv_heads has no effect beside model.kv_rank"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, bias: true, "
	 "ffn_bias: true}\nstep: {sequence: 8}\n",
	 2, 82, "model.ffn_bias has no effect beside model.bias"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, bias: true, "
	 "qkv_bias: true}\nstep: {sequence: 8}\n",
	 2, 82, "model.qkv_bias has no effect beside model.bias"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, bias: true, "
	 "attention_bias: true}\nstep: {sequence: 8}\n",
	 2, 88, "model.attention_bias has no effect beside model.bias"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, qkv_bias: true, "
	 "attention_bias: true}\nstep: {sequence: 8}\n",
	 2, 70, "model.qkv_bias has no effect beside model.attention_bias"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, experts: 4, "
	 "experts_per_token: 1, expert_ffn: 8, shared_gate: true}\nstep: {sequence: 8}\n",
	 2, 109, "model.shared_gate has no effect here; it needs model.shared_ffn"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, kv_rank: 16, "
	 "value_dim: 8, rope_dim: 4, qkv_bias: true}\nstep: {sequence: 8}\n",
	 2, 110, "model.qkv_bias has no effect beside model.kv_rank"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, ffn: 8, vocab: 9, output_bias: 2}\n"
	 "step: {sequence: 8}\n",
	 2, 73, "model.output_bias: `2` is too large; it may be 1 to 1"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, kv_rank: 16, ffn: 8, vocab: 9}\n"
	 "step: {sequence: 8}\n",
	 2, 51, "model.kv_rank: latent attention needs the width of a value, value_dim"},
	{"name: a\nmodel: {layers: 2, hidden: 64, heads: 8, vocab: 9, ffn: 8, dense_layers: 3, "
	 "experts: 4, experts_per_token: 1, expert_ffn: 8}\nstep: {sequence: 8}\n",
	 2, 74, "model.dense_layers: 3 layers without experts are more than all 2"},
	{"name: a\nmodel: {layers: 4, hidden: 64, heads: 8, vocab: 9, ffn: 8, expert_every: 5, "
	 "experts: 4, experts_per_token: 1, expert_ffn: 8}\nstep: {sequence: 8}\n",
	 2, 74, "model.expert_every: each 5-th of 4 layers has experts: none has"},
	{"name: a\nmodel: {layers: 4, hidden: 64, heads: 8, vocab: 9, expert_every: 2, "
	 "experts: 4, experts_per_token: 1, expert_ffn: 8}\nstep: {sequence: 8}\n",
	 2, 66, "model.expert_every: layers between those with experts need a feed-forward"},
	{SMALL "cut: {tp: 3}\n", 2, 42, "model.heads: 32 heads do not divide by 3 tensor ranks"},
	{SMALL "cut: {tp: 64}\n", 2, 42, "model.heads: 32 heads do not divide by 64"},
	{SMALL "cut: {cp: 3}\n", 3, 18, "step.sequence: a sequence of 4096 tokens does not divide"},
	{SMALL "cut: {pp: 5}\n", 2, 17, "model.layers: 32 layers do not divide by 5 cells"},
	{SMALL "cut: {vpp: 2}\n", 4, 12, "cut.vpp: 2 chunks a stage need more than one stage"},
	{MODEL "step: {sequence: 64, micro_batches: 3}\ncut: {pp: 2, vpp: 2}\n", 3, 37,
	 "step.micro_batches: interleaved: 3 micro-batches must divide by 2 stages"},
	{SMALL "cut: {layers_first: 2}\n", 4, 21, "cut.layers_first: one cell has all layers"},
	{SMALL "cut: {pp: 2, layers_last: 32}\n", 4, 27, "the first and last cell have all 32"},
	{SMALL "cut: {tp: 32, dp: 1048576}\n", 4, 19, "cut.dp: a job has at most 1048576 ranks"},
	{"name: a\nmodel: {layers: 4, hidden: 64, heads: 8, vocab: 100, experts: 6, expert_ffn: "
	 "8}\n"
	 "step: {sequence: 8}\n",
	 2, 63, "model.experts: of 6 experts a token goes to 1 to 6 (experts_per_token), not 0"},
	{"name: a\nmodel: {layers: 4, hidden: 64, heads: 8, vocab: 100, experts: 6, "
	 "experts_per_token: 2}\nstep: {sequence: 8}\n",
	 2, 63, "model.experts: 6 experts need their width, expert_ffn"},
	{MOE "cut: {ep: 3, dp: 3}\n", 2, 63,
	 "model.experts: 8 experts do not divide by 3 expert ranks"},
	{MOE "cut: {ep: 4, dp: 2}\n", 4, 11, "cut.ep: 2 ranks of a stage do not divide by 4"},
	{SMALL "cut: {etp: 2}\n", 4, 7, "cut.etp has no effect here; it needs model.experts"},
	{MOE "cut: {etp: 3, dp: 3}\n", 4, 12,
	 "cut.etp: an expert of 64 does not divide by 3 ranks"},
	{MOE "cut: {ep: 4, etp: 2, dp: 4}\n", 4, 19,
	 "cut.etp: 4 ranks of a stage do not divide by 4 of experts x 2 that cut one"},
	{SMALL "cut: {schedule: zb-h2}\n", 4, 17, "`zb-h2` is not known here; it may be: 1f1b"},
	{SMALL "cut: {schedule: dualpipe}\n", 4, 17,
	 "`dualpipe` is not known here; it may be: 1f1b, zb-h1; DualPipe is not: micro-batches "
	 "enter at both ends"},
	{SMALL "cut: {schedule: interleaved}\n", 4, 17, "1f1b with cut.vpp above 1"},
	{SMALL "reduce: {kind: hsdp}\n", 4, 16, "HSDP is fsdp with reduce.within"},
	{SMALL "cut: {schedule: zb-h1}\n", 4, 7,
	 "cut.schedule has no effect here; it needs cut.pp"},
	{SMALL "times: {forward: 1ms, backward: 2ms, weights: 40%}\n", 4, 38,
	 "times.weights has no effect here; it needs cut.schedule zb-h1"},
	{SMALL "cut: {pp: 2, schedule: zb-h1}\n", 4, 24,
	 "zb-h1 needs as many micro-batches as stages: 1 of 2"},
	{MODEL "step: {sequence: 64, micro_batches: 4}\n"
	       "cut: {pp: 2, vpp: 2, schedule: zb-h1}\n",
	 4, 32, "zb-h1 has one chunk a stage, not 2"},
	{MODEL "step: {sequence: 64, micro_batches: 4}\n"
	       "cut: {pp: 2, schedule: zb-h1}\nreduce: {kind: fsdp}\n",
	 4, 24, "zb-h1 goes with reduce.kind megatron, ddp, zero-1 or local"},
	{SMALL "cut: {order: tp-cp-xx-dp}\n", 4, 20, "cut.order: an order is made of"},
	{SMALL "cut: {pp: 2, order: tp-dp}\n", 4, 26, "cut.order: the order lacks a dimension"},
	{"name: a\nmodel: {layers: 2, hidden: 100, heads: 8, ffn: 8, vocab: 9}\n"
	 "step: {sequence: 8}\n",
	 2, 40, "model.heads: a width of 100 does not divide by 8 heads; give model.head_dim"},
};

static void a_bad_file_is_refused_at_its_place(void **)
{
	assert_true(sizeof(bad) / sizeof(*bad) >= 60);
	uint32_t failed = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct refusal refusal = {0};
		int rc = read_text(bad[i].text, &refusal);
		if (rc == -EINVAL && refusal.line == bad[i].line &&
		    refusal.column == bad[i].column && strcmp(refusal.file, "job.yaml") == 0 &&
		    strstr(refusal.text, bad[i].reason) != NULL)
			continue;
		failed++;
		print_error("%s\nrc %d, %s:%u:%u: %s; expected %u:%u: %s\n", bad[i].text, rc,
			    refusal.file, refusal.line, refusal.column, refusal.text, bad[i].line,
			    bad[i].column, bad[i].reason);
	}
	assert_int_equal(failed, 0);
}

static void the_documentation_lists_every_key(void **)
{
	uint32_t keys = 0, rows = 0;
	source_read("docs/job-file.md");
	for (const struct scenario_key *key = plan_file_table.keys; key->path != NULL;
	     key++, keys++) {
		char row[512];
		snprintf(row, sizeof(row), "\n| `%s` | %s | `%s` | %s |\n", key->path, key->unit,
			 key->value, key->text);
		if (strstr(text, row) == NULL)
			fail_msg("docs/job-file.md lacks:%s", row);
	}
	for (const char *at = text; (at = strstr(at, "\n| `")) != NULL; at++)
		rows++;
	assert_int_equal(rows, keys);
}
