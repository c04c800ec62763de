/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU: how many instructions each processor has begun, one line each in the file `out=` when the machine ends. A block that an
 * exception leaves is counted whole. Debian has no header for plugins; what is used of their interface (QEMU, "TCG Plugins", version 4) is
 * declared here.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_scoreboard;

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

enum { QEMU_PLUGIN_VERSION = 4, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*translated)(uint64_t id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *block, int operation, qemu_plugin_u64 entry, uint64_t value);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t id, void *data), void *data);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t bytes);
uint64_t qemu_plugin_u64_get(qemu_plugin_u64 entry, unsigned processor);
int qemu_plugin_num_vcpus(void);

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static qemu_plugin_u64 begun;
static FILE *out;

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_PLUGIN_INLINE_ADD_U64, begun, qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t id, void *data)
{
	(void)id, (void)data;
	for (int processor = 0; processor < qemu_plugin_num_vcpus(); processor++)
		fprintf(out, "%" PRIu64 "\n", qemu_plugin_u64_get(begun, (unsigned)processor));
	fclose(out);
}

int qemu_plugin_install(uint64_t id, const void *machine, int argc, char **argv)
{
	static const char option[] = "out=";

	(void)machine;
	if (argc != 1 || strncmp(argv[0], option, sizeof(option) - 1))
		return -1;
	out = fopen(argv[0] + sizeof(option) - 1, "w");
	if (!out)
		return -1;
	begun.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
