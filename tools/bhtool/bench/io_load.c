/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux's program for `bench io`, without a library: messages of one size through sockets, or blocks of a disc, counted and timed.
 *
 *   io-load send SIZE COUNT ADDRESS                UDP to a station that nobody is: what sending costs
 *   io-load udp SIZE COUNT ADDRESS [NAMESPACE]     sends and receives, a batch at a time
 *   io-load tcp SIZE COUNT ADDRESS [NAMESPACE]     the same over one connection
 *   io-load read|write SIZE COUNT FILE             past the page cache, one after the other
 *   io-load move INTERFACE NAMESPACE               gives an interface, by its number, to a network namespace
 *
 * The receiver has ADDRESS, which is in NAMESPACE (a file of /proc/PID/ns), so that one Linux with two cards is both ends of a cable.
 * Numbers are decimal, an address is a.b.c.d. Prints `io-load: HEX bytes in HEX ns`, or `io-load: WHAT failed: HEX`, and then ends with
 * status 1.
 *
 * Declared here is what is used of Linux' interface (include/uapi/linux), by the numbers of three processors (syscalls(2), "Architecture
 * calling conventions" of syscall(2)).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
enum {
	READ = 63,
	WRITE = 64,
	OPENAT = 56,
	CLOCK = 113,
	EXIT = 93,
	SETNS = 268,
	SOCKET = 198,
	BIND = 200,
	LISTEN = 201,
	ACCEPT = 242,
	CONNECT = 203,
	SENDTO = 206,
	RECVFROM = 207,
	SETSOCKOPT = 208,
	O_DIRECT = 0x10000
};
#define ENTRY "mov x0, sp\n\tbl begin"
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d,
			 x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
#elif defined(__arm__)
enum {
	READ = 3,
	WRITE = 4,
	OPENAT = 322,
	CLOCK = 263,
	EXIT = 1,
	SETNS = 375,
	SOCKET = 281,
	BIND = 282,
	LISTEN = 284,
	ACCEPT = 366,
	CONNECT = 283,
	SENDTO = 290,
	RECVFROM = 292,
	SETSOCKOPT = 294,
	O_DIRECT = 0x10000
};
#define ENTRY "mov r0, sp\n\tbl begin"
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c, r3 __asm__("r3") = d,
			 r4 __asm__("r4") = e, r5 __asm__("r5") = f;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
	return r0;
}
#else
enum {
	READ = 0,
	WRITE = 1,
	OPENAT = 257,
	CLOCK = 228,
	EXIT = 60,
	SETNS = 308,
	SOCKET = 41,
	BIND = 49,
	LISTEN = 50,
	ACCEPT = 288,
	CONNECT = 42,
	SENDTO = 44,
	RECVFROM = 45,
	SETSOCKOPT = 54,
	O_DIRECT = 0x4000
};
#define ENTRY "mov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin"
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#endif

enum {
	AT_FDCWD = -100,
	O_WRONLY = 1,
	CLOCK_MONOTONIC = 1,
	CLONE_NEWNET = 0x40000000,
	AF_INET = 2,
	AF_NETLINK = 16,
	SOCK_STREAM = 1,
	SOCK_DGRAM = 2,
	SOCK_RAW = 3,
	SOL_SOCKET = 1,
	SO_REUSEADDR = 2,
	SO_RCVTIMEO = 20,
	MSG_DONTWAIT = 0x40,
	RTM_NEWLINK = 16,
	NLM_F_REQUEST = 1,
	NLM_F_ACK = 4,
	IFLA_NET_NS_FD = 28,
	EAGAIN = 11,
};

enum { PORT = 0x0b1a, LARGEST = 1 << 16, IN_FLIGHT = 16, TIMEOUT_S = 20 };

struct address {
	uint16_t family, port; /* the latter, and the host, most significant byte first */
	uint32_t host;
	uint8_t zero[8];
};

struct time {
	long s, ns;
};

static _Alignas(4096) uint8_t out[LARGEST], in[LARGEST];

#define TELL(text) call(WRITE, 1, (long)(text), sizeof(text) - 1, 0, 0, 0)

static void tell_hex(uint64_t number)
{
	char digits[16];

	for (int place = 0; place < 16; place++)
		digits[place] = "0123456789abcdef"[number >> 4 * (15 - place) & 15];
	call(WRITE, 1, (long)digits, sizeof(digits), 0, 0, 0);
}

static _Noreturn void end(int status)
{
	for (;;)
		call(EXIT, status, 0, 0, 0, 0, 0);
}

static _Noreturn void fail(const char *what, size_t bytes, long result)
{
	TELL("io-load: ");
	call(WRITE, 1, (long)what, (long)bytes, 0, 0, 0);
	TELL(" failed: ");
	tell_hex((uint64_t)-result);
	TELL("\n");
	end(1);
}

static long checked(long result, const char *what, size_t bytes)
{
	if (result < 0)
		fail(what, bytes, result);
	return result;
}
#define CHECK(result, what) checked(result, what, sizeof(what) - 1)

static uint64_t now(void)
{
	struct time time = { 0 };

	CHECK(call(CLOCK, CLOCK_MONOTONIC, (long)&time, 0, 0, 0, 0), "clock_gettime");
	return (uint64_t)time.s * 1000000000 + (uint64_t)time.ns;
}

/* Up to `end`, or to what is no digit. */
static const char *number(const char *text, uint32_t *found)
{
	for (*found = 0; *text >= '0' && *text <= '9'; text++)
		*found = *found * 10 + (uint32_t)(*text - '0');
	return text;
}

static uint32_t decimal(const char *text)
{
	uint32_t found;

	number(text, &found);
	return found;
}

static struct address address_of(const char *text)
{
	struct address address = { .family = AF_INET, .port = PORT };
	uint32_t part;

	for (int place = 0; place < 4; place++) {
		text = number(text, &part) + 1;
		address.host |= part << 8 * place;
	}
	return address;
}

static long open_file(const char *path, int flags)
{
	return CHECK(call(OPENAT, AT_FDCWD, (long)path, flags, 0, 0, 0), "open");
}

static long socket(int family, int kind)
{
	return CHECK(call(SOCKET, family, kind, 0, 0, 0, 0), "socket");
}

/* A receiver that gives up after a while: what is lost is told, and not waited for. */
static long bound(int kind, const struct address *address)
{
	long file = socket(AF_INET, kind);
	struct time patience = { TIMEOUT_S, 0 };
	int yes = 1; /* the connection before this one is not forgotten yet */

	CHECK(call(SETSOCKOPT, file, SOL_SOCKET, SO_REUSEADDR, (long)&yes, sizeof(yes), 0), "setsockopt");
	CHECK(call(SETSOCKOPT, file, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof(patience), 0), "setsockopt");
	CHECK(call(BIND, file, (long)address, sizeof(*address), 0, 0, 0), "bind");
	return file;
}

static long connected(long file, const struct address *address)
{
	CHECK(call(CONNECT, file, (long)address, sizeof(*address), 0, 0, 0), "connect");
	return file;
}

/* A socket stays in the namespace in which it was made. */
static void enter(const char *namespace)
{
	if (namespace)
		CHECK(call(SETNS, open_file(namespace, 0), CLONE_NEWNET, 0, 0, 0, 0), "setns");
}

static long transmit(long file, uint32_t size, int flags)
{
	return call(SENDTO, file, (long)out, size, flags, 0, 0);
}

static long receive(long file)
{
	return CHECK(call(RECVFROM, file, (long)in, sizeof(in), 0, 0, 0), "receive");
}

static uint64_t send_to_nobody(uint32_t size, uint32_t count, const struct address *address)
{
	long file = connected(socket(AF_INET, SOCK_DGRAM), address);

	for (uint32_t sent = 0; sent < count; sent++)
		CHECK(transmit(file, size, 0), "send");
	return (uint64_t)size * count;
}

/* As many at a time as a socket has room for. */
static uint64_t exchange_datagrams(uint32_t size, uint32_t count, const struct address *address, const char *namespace)
{
	long sender = socket(AF_INET, SOCK_DGRAM), receiver;
	uint32_t batch = size * IN_FLIGHT <= LARGEST ? IN_FLIGHT : 1;
	uint64_t bytes = 0;

	enter(namespace);
	receiver = bound(SOCK_DGRAM, address);
	connected(sender, address);
	for (uint32_t done = 0; done < count; done += batch) {
		for (uint32_t one = 0; one < batch; one++)
			CHECK(transmit(sender, size, 0), "send");
		for (uint32_t one = 0; one < batch; one++)
			bytes += (uint64_t)receive(receiver);
	}
	return bytes;
}

/* Writes until there is no room, then reads: one process is both ends. */
static uint64_t exchange_stream(uint32_t size, uint32_t count, const struct address *address, const char *namespace)
{
	long sender = socket(AF_INET, SOCK_STREAM), listener, receiver, sent;
	uint64_t left = (uint64_t)size * count, bytes = 0;

	enter(namespace);
	listener = bound(SOCK_STREAM, address);
	CHECK(call(LISTEN, listener, 1, 0, 0, 0, 0), "listen");
	connected(sender, address);
	receiver = CHECK(call(ACCEPT, listener, 0, 0, 0, 0, 0), "accept");
	while (bytes < (uint64_t)size * count) {
		while (left && (sent = transmit(sender, left < size ? (uint32_t)left : size, MSG_DONTWAIT)) != -EAGAIN)
			left -= (uint64_t)CHECK(sent, "send");
		bytes += (uint64_t)receive(receiver);
	}
	return bytes;
}

static uint64_t transfer_blocks(bool is_read, uint32_t size, uint32_t count, const char *path)
{
	long file = open_file(path, O_DIRECT | (is_read ? 0 : O_WRONLY));
	uint64_t bytes = 0;

	for (uint32_t done = 0; done < count; done++)
		bytes += (uint64_t)CHECK(call(is_read ? READ : WRITE, file, (long)(is_read ? in : out), size, 0, 0, 0), "a block");
	return bytes;
}

/* rtnetlink(7) */
static void move(uint32_t interface, const char *namespace)
{
	struct {
		uint32_t length;
		uint16_t type, flags;
		uint32_t sequence, sender;
		uint8_t family, pad;
		uint16_t kind;
		uint32_t index, interface_flags, change;
		uint16_t attribute_length, attribute;
		uint32_t namespace;
	} request = { .length = sizeof(request),
		      .type = RTM_NEWLINK,
		      .flags = NLM_F_REQUEST | NLM_F_ACK,
		      .index = interface,
		      .attribute_length = 8,
		      .attribute = IFLA_NET_NS_FD,
		      .namespace = (uint32_t)open_file(namespace, 0) };
	long file = socket(AF_NETLINK, SOCK_RAW);

	CHECK(call(SENDTO, file, (long)&request, sizeof(request), 0, 0, 0), "asking");
	receive(file);
	CHECK(*(int32_t *)(in + 16), "moving"); /* an error of 0 is an acknowledgement */
}

static uint64_t work(long count, char **words)
{
	uint32_t size = decimal(words[2]), times = decimal(words[3]);
	struct address address = address_of(words[4]);
	const char *namespace = count > 5 ? words[5] : NULL;

	switch (words[1][0]) {
	case 's':
		return send_to_nobody(size, times, &address);
	case 'u':
		return exchange_datagrams(size, times, &address, namespace);
	case 't':
		return exchange_stream(size, times, &address, namespace);
	default:
		return transfer_blocks(words[1][0] == 'r', size, times, words[4]);
	}
}

__attribute__((used)) static _Noreturn void begin(long *stack)
{
	char **words = (char **)(stack + 1);
	uint64_t start, bytes;

	if (*stack == 4 && words[1][0] == 'm') {
		move(decimal(words[2]), words[3]);
		end(0);
	}
	if (*stack < 5 || decimal(words[2]) > LARGEST)
		fail("reading the arguments", 21, 0);
	start = now();
	bytes = work(*stack, words);
	start = now() - start;
	TELL("io-load: ");
	tell_hex(bytes);
	TELL(" bytes in ");
	tell_hex(start);
	TELL(" ns\n");
	end(0);
}

__asm__(".globl _start\n_start:\n\t" ENTRY "\n");
