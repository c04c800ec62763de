/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU: how many instructions each processor has begun, one line each in the file `out=` when the machine ends; or, from the
 * socket `ask=`, in one line whenever it sends a byte. A block that an exception leaves is counted whole. Debian has no header for plugins;
 * what is used of their interface (QEMU, "TCG Plugins", version 4) is declared here.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

static void tell(char separator)
{
	for (int processor = 0; processor < qemu_plugin_num_vcpus(); processor++)
		fprintf(out, "%" PRIu64 "%c", qemu_plugin_u64_get(begun, (unsigned)processor), separator);
}

static void ended(uint64_t id, void *data)
{
	(void)id, (void)data;
	tell('\n');
	fclose(out);
}

/* Processors go on meanwhile: who wants an exact figure asks while they sleep. */
static void *answer(void *data)
{
	char question;

	(void)data;
	while (read(fileno(out), &question, 1) == 1) {
		tell(' ');
		fputc('\n', out);
		fflush(out);
	}
	return NULL;
}

static FILE *connected(const char *path)
{
	struct sockaddr_un there = { .sun_family = AF_UNIX };
	int line = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(there.sun_path, path, sizeof(there.sun_path) - 1);
	return line < 0 || connect(line, (const struct sockaddr *)&there, sizeof(there)) ? NULL : fdopen(line, "w");
}

/* What follows `name` in an argument, or NULL. */
static const char *value(const char *argument, const char *name)
{
	return strncmp(argument, name, strlen(name)) ? NULL : argument + strlen(name);
}

int qemu_plugin_install(uint64_t id, const void *machine, int argc, char **argv)
{
	const char *file = argc == 1 ? value(argv[0], "out=") : NULL, *line = argc == 1 ? value(argv[0], "ask=") : NULL;
	pthread_t thread;

	(void)machine;
	out = file ? fopen(file, "w") : line ? connected(line) : NULL;
	if (!out)
		return -1;
	begun.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	if (file)
		qemu_plugin_register_atexit_cb(id, ended, NULL);
	return line && pthread_create(&thread, NULL, answer, NULL) ? -1 : 0;
}
