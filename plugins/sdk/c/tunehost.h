/* Write searchers for tunehost in C, as WebAssembly modules, without a library.
 *
 * It supports searchers only: a trainable in C is a program, which prints its results or reports
 * them with `tunehost report` or over the report channel, other values beside them
 * (docs/REFERENCE.md).
 *
 * A searcher includes this file once and defines
 *
 *     const th_info th_plugin;              its description
 *     const char *th_open(void);            checks th_problem and the options; NULL: no error
 *     void th_observe(const th_event *e);   receives each event, in order
 *     int th_suggest(const th_request *r, double *point);
 *
 * th_suggest sets a value for each parameter (NaN: it does not exist here) and returns
 * TH_READY, TH_WAIT or TH_EXHAUSTED. Its answer must depend only on the problem, the
 * options, the events and the request's seed. An error is one line for the user.
 * dice.c, beside this file, is a complete searcher; `tunehost plugins docs c --to DIR` writes both.
 *
 * The interface of modules is ../abi/abi.go; the messages are ../proto/tunehost/v1. Build:
 *
 *     clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -s -o x.wasm x.c
 *
 * with clang and wasm-ld (in Debian: apt-get install clang lld), or with Zig (pip install ziglang):
 *
 *     python3 -m ziglang cc -target wasm32-freestanding -O2 -nostdlib -Wl,--no-entry -s -o x.wasm x.c
 */
#ifndef TUNEHOST_H
#define TUNEHOST_H

#include <stddef.h>
#include <stdint.h>

#define TH_NAN __builtin_nan("")

enum { TH_READY, TH_WAIT, TH_EXHAUSTED };
enum { TH_REAL = 1, TH_INT, TH_NORMAL, TH_CHOICE, TH_ORDINAL };
enum {
	TH_TRIAL_ADDED = 1, TH_TRIAL_STARTED, TH_RESULT_REPORTED, TH_TRIAL_PAUSED, TH_TRIAL_COMPLETED,
	TH_TRIAL_FAILED, TH_TRIAL_REMOVED, TH_CHECKPOINT_SAVED, TH_TRIAL_REQUEUED, TH_EXPERIMENT_ENDED,
	TH_SEARCH_ENDED
};
enum { TH_DEBUG, TH_INFO, TH_WARN, TH_ERROR };

/* Text or bytes; not terminated by a zero byte. */
typedef struct { const uint8_t *at; size_t n; } th_bytes;

typedef struct { size_t n; const double *at; } th_numbers;

/* The description of the plugin. options is a JSON Schema. */
typedef struct { const char *name, *version, *summary, *options; } th_info;

typedef struct {
	th_bytes name;
	int kind;
	double low, high;      /* of TH_REAL and TH_INT, both included */
	int log;
	double step;           /* 0: none */
	double mean, sd;       /* of TH_NORMAL */
	uint32_t choices;      /* how many */
	int conditional;       /* it exists only under a condition */
} th_param;

typedef struct {
	size_t n;
	th_param *params;
	int constrained;       /* some points are not allowed */
	uint64_t seed, trials, concurrency;
	th_bytes options;      /* a JSON object, or nothing */
} th_problem_t;

typedef struct {
	uint64_t number, iteration;
	int kind;
	uint32_t trial, attempt;
	th_numbers point;      /* of TH_TRIAL_ADDED */
	th_numbers losses;     /* smaller is better; never NaN */
	int again;             /* a restarted trial reports this iteration once more; only with th_again */
} th_event;

typedef struct {
	uint32_t trial;
	uint64_t seed;
	th_numbers given;      /* coordinates other than NaN are laid over the answer; perhaps empty */
} th_request;

/* The problem that the searcher was opened with. */
static th_problem_t th_problem;

/* Set it to 1 in th_open to receive results of a restarted trial also for iterations that the trial had reported
 * before. Without it, each iteration is told once. */
static int th_again;

/* What the author defines. */
extern const th_info th_plugin;
const char *th_open(void);
void th_observe(const th_event *e);
int th_suggest(const th_request *r, double *point);

/* ---- Functions that compilers call implicitly. Weak: a library may define its own. They
 * are no_builtin, or the compiler could turn each of them into a call of itself. ---- */

#define TH_SUPPORT __attribute__((weak, no_builtin)) __attribute__((visibility("hidden")))

TH_SUPPORT void *memcpy(void *to, const void *from, size_t n) {
	uint8_t *a = to;
	const uint8_t *b = from;
	while (n--) *a++ = *b++;
	return to;
}

TH_SUPPORT void *memmove(void *to, const void *from, size_t n) {
	uint8_t *a = to;
	const uint8_t *b = from;
	if (a <= b) return memcpy(to, from, n);
	while (n--) a[n] = b[n];
	return to;
}

TH_SUPPORT void *memset(void *to, int byte, size_t n) {
	for (uint8_t *a = to; n--; a++) *a = (uint8_t)byte;
	return to;
}

TH_SUPPORT int memcmp(const void *x, const void *y, size_t n) {
	const uint8_t *a = x, *b = y;
	for (; n--; a++, b++)
		if (*a != *b) return *a - *b;
	return 0;
}

TH_SUPPORT size_t strlen(const char *s) {
	size_t n = 0;
	while (s[n]) n++;
	return n;
}

/* ---- Memory: th_keep allocates for the whole run, th_take for the current call. ---- */

extern uint8_t __heap_base;

static uintptr_t th_top, th_kept;

static void *th_take(size_t n) {
	if (!th_top) th_top = th_kept = (uintptr_t)&__heap_base;
	uintptr_t at = (th_top + 15) & ~(uintptr_t)15, end = at + n;
	size_t have = __builtin_wasm_memory_size(0) << 16;
	if (end < at) __builtin_trap();
	if (end > have && __builtin_wasm_memory_grow(0, (end - have + 0xffff) >> 16) == (size_t)-1) __builtin_trap();
	th_top = end;
	__builtin_memset((void *)at, 0, n);
	return (void *)at;
}

/* Memory for the whole run; everything allocated so far is kept, too. */
static void *th_keep(size_t n) {
	void *at = th_take(n);
	th_kept = th_top;
	return at;
}

/* ---- The host ---- */

__attribute__((import_module("tunehost_v1"), import_name("log")))
void th_host_log(int level, const void *at, size_t n);

static inline void th_log(int level, const char *line) { th_host_log(level, line, strlen(line)); }

/* Checks the options of a plugin that has none; NULL: none were given. For use in th_open. */
static inline const char *th_no_options(void) {
	static const char none[] = "{}";
	size_t seen = 0;
	for (size_t i = 0; i < th_problem.options.n; i++) {
		uint8_t c = th_problem.options.at[i];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
		if (seen == 2 || c != none[seen++]) return "it has no options";
	}
	return NULL;
}

/* ---- Numbers ---- */

/* A random number in [0, 1) (splitmix64); *state begins as the request's seed. */
static inline double th_uniform(uint64_t *state) {
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* The natural logarithm of x > 0. */
static double th_ln(double x) {
	double e = 0, s, sum = 0;
	while (x > 1.4142135623730951) x /= 2, e++;
	while (x < 0.7071067811865476) x *= 2, e--;
	s = (x - 1) / (x + 1);
	for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * (s * s);
	return e * 0.6931471805599453 + 2 * s * (1 + sum);
}

/* e to the x, for |x| < 700. */
static double th_exp(double x) {
	double k = __builtin_floor(x / 0.6931471805599453 + 0.5), r = x - k * 0.6931471805599453, sum = 1;
	for (int n = 14; n >= 1; n--) sum = 1 + sum * r / n;
	for (; k > 0; k--) sum *= 2;
	for (; k < 0; k++) sum /= 2;
	return sum;
}

static inline double th_clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* The value of a real, integer or choice at u, a position in [0, 1], so that a uniform u
 * gives a sample. Integers on a logarithmic scale have the probability of their interval. */
static double th_from_unit(const th_param *p, double u) {
	double low = p->low, high = p->high;
	if (p->kind == TH_CHOICE || p->kind == TH_ORDINAL) low = 0, high = (double)p->choices - 1;
	if (p->kind == TH_REAL) {
		double x = p->log ? th_exp(th_ln(low) + u * (th_ln(high) - th_ln(low))) : low + u * (high - low);
		return th_clamp(x, low, high);
	}
	if (p->log) {
		double a = th_ln(low - 0.5), b = th_ln(high + 0.5);
		return th_clamp(__builtin_floor(th_exp(a + u * (b - a)) + 0.5), low, high);
	}
	return th_clamp(low + __builtin_floor(u * (high - low + 1)), low, high);
}

/* ---- Protocol Buffers ---- */

typedef struct { const uint8_t *at, *end; int bad; } th_reader;
typedef struct { uint32_t number; uint64_t value; th_bytes bytes; } th_field;

static uint64_t th_varint(th_reader *r) {
	uint64_t x = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (r->at == r->end) break;
		uint8_t b = *r->at++;
		x |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) return x;
	}
	r->bad = 1;
	return 0;
}

/* Reads the next field; 0 at the end of the message, or if it is malformed (bad). */
static int th_next(th_reader *r, th_field *f) {
	if (r->at == r->end || r->bad) return 0;
	uint64_t key = th_varint(r), n = 0;
	*f = (th_field){.number = (uint32_t)(key >> 3)};
	switch (key & 7) {
	case 0: f->value = th_varint(r); return !r->bad;
	case 1: n = 8; break;
	case 2: n = th_varint(r); break;
	case 5: n = 4; break;
	default: r->bad = 1;
	}
	if (r->bad || n > (uint64_t)(r->end - r->at)) return r->bad = 1, 0;
	f->bytes = (th_bytes){r->at, (size_t)n};
	if ((key & 7) == 1) __builtin_memcpy(&f->value, r->at, 8);
	r->at += n;
	return 1;
}

static inline th_reader th_read(th_bytes b) { return (th_reader){b.at, b.at + b.n, 0}; }

static inline double th_double(const th_field *f) {
	double x;
	__builtin_memcpy(&x, &f->value, 8);
	return x;
}

/* Packed numbers, copied to aligned memory. */
static th_numbers th_doubles(th_bytes b) {
	double *to = th_take(b.n);
	__builtin_memcpy(to, b.at, b.n / 8 * 8);
	return (th_numbers){b.n / 8, to};
}

/* The numbers of a message Point. */
static th_numbers th_point(th_bytes message) {
	th_reader r = th_read(message);
	th_numbers p = {0, 0};
	for (th_field f; th_next(&r, &f);)
		if (f.number == 1) p = th_doubles(f.bytes);
	return p;
}

/* The answer: its bytes and its capacity. */
static struct { uint8_t *at; size_t n, room; } th_out;

static void th_put(const void *at, size_t n) {
	if (th_out.n + n > th_out.room) {
		size_t room = 2 * (th_out.n + n) + 256;
		uint8_t *more = th_take(room);
		__builtin_memcpy(more, th_out.at, th_out.n);
		th_out.at = more, th_out.room = room;
	}
	__builtin_memcpy(th_out.at + th_out.n, at, n);
	th_out.n += n;
}

static void th_put_varint(uint64_t x) {
	uint8_t b[10];
	int n = 0;
	do b[n++] = (uint8_t)(x & 0x7f) | (x > 0x7f) << 7; while (x >>= 7);
	th_put(b, (size_t)n);
}

static void th_put_bytes(uint32_t field, const void *at, size_t n) {
	th_put_varint(field << 3 | 2);
	th_put_varint(n);
	th_put(at, n);
}

static void th_put_text(uint32_t field, const char *s) { th_put_bytes(field, s, strlen(s)); }

/* ---- The calls ---- */

static void th_read_param(th_param *p, th_bytes message) {
	th_reader r = th_read(message);
	for (th_field f; th_next(&r, &f);) switch (f.number) {
		case 1: p->name = f.bytes; break;
		case 2: p->kind = (int)f.value; break;
		case 3: p->low = th_double(&f); break;
		case 4: p->high = th_double(&f); break;
		case 5: p->log = f.value != 0; break;
		case 6: p->step = th_double(&f); break;
		case 7: p->mean = th_double(&f); break;
		case 8: p->sd = th_double(&f); break;
		case 9: p->choices++; break;
		case 11: p->conditional = 1; break;
		}
}

static void th_read_space(th_bytes message) {
	th_reader count = th_read(message), r = count;
	for (th_field f; th_next(&count, &f);) th_problem.n += f.number == 1;
	th_problem.params = th_take(th_problem.n * sizeof(th_param));
	size_t i = 0;
	for (th_field f; th_next(&r, &f);) {
		if (f.number == 1) th_read_param(&th_problem.params[i++], f.bytes);
		else th_problem.constrained = 1; /* a constraint, or one that only the host knows */
	}
}

static void th_read_problem(th_bytes message) {
	th_reader r = th_read(message);
	for (th_field f; th_next(&r, &f);) switch (f.number) {
		case 1: th_read_space(f.bytes); break;
		case 3: th_problem.seed = f.value; break;
		case 4: th_problem.trials = f.value; break;
		case 5: th_problem.concurrency = f.value; break;
		}
}

static const char *th_call_open(th_bytes request) {
	th_reader r = th_read(request);
	th_problem = (th_problem_t){0};
	th_again = 0;
	for (th_field f; th_next(&r, &f);) switch (f.number) {
		case 1: th_read_problem(f.bytes); break;
		case 2: th_problem.options = f.bytes; break;
		case 3: return "a snapshot was given to a plugin that does not support snapshots";
		}
	th_keep(0); /* the request as well, for the names */
	const char *why = th_open();
	const uint8_t again[] = {9 << 3, 1}; /* Traits: again, or none */
	if (!why) th_put_bytes(1, again, th_again ? sizeof again : 0);
	return why;
}

static void th_call_observe(th_bytes message) {
	th_reader r = th_read(message);
	th_event e = {0};
	for (th_field f; th_next(&r, &f);) switch (f.number) {
		case 1: e.number = f.value; break;
		case 2: e.kind = (int)f.value; break;
		case 3: e.trial = (uint32_t)f.value; break;
		case 4: e.attempt = (uint32_t)f.value; break;
		case 5: e.iteration = f.value; break;
		case 6: e.point = th_point(f.bytes); break;
		case 7: e.losses = th_doubles(f.bytes); break;
		case 12: e.again = f.value != 0; break;
		}
	th_observe(&e);
}

/* Answers one request; its result is th_suggest's. */
static int th_call_request(th_bytes message) {
	th_reader r = th_read(message);
	th_request q = {0};
	for (th_field f; th_next(&r, &f);) switch (f.number) {
		case 1: q.trial = (uint32_t)f.value; break;
		case 2: q.seed = f.value; break;
		case 3: q.given = th_point(f.bytes); break;
		}
	size_t size = th_problem.n * sizeof(double);
	double *p = th_take(size);
	int status = th_suggest(&q, p);
	if (status != TH_READY) return status;
	for (size_t i = 0; i < th_problem.n && i < q.given.n; i++)
		if (q.given.at[i] == q.given.at[i]) p[i] = q.given.at[i];
	uint8_t head[12];
	size_t n = 0;
	head[n++] = 1 << 3 | 2;
	for (size_t x = size; ; x >>= 7) {
		head[n++] = (uint8_t)(x & 0x7f) | (x > 0x7f) << 7;
		if (x <= 0x7f) break;
	}
	th_put_varint(1 << 3 | 2);
	th_put_varint(n + size);
	th_put(head, n);
	th_put(p, size);
	return TH_READY;
}

static const char *th_call_suggest(th_bytes request) {
	th_reader events = th_read(request), requests = events;
	for (th_field f; th_next(&events, &f);)
		if (f.number == 1) th_call_observe(f.bytes);
	int status = TH_READY;
	for (th_field f; status == TH_READY && th_next(&requests, &f);)
		if (f.number == 2) status = th_call_request(f.bytes);
	if (events.bad) return "malformed message";
	if (status != TH_READY) th_put_varint(2 << 3), th_put_varint((uint64_t)status);
	return NULL;
}

static void th_call_describe(void) {
	const char *fields[] = {"searcher", th_plugin.name, th_plugin.version, th_plugin.summary, th_plugin.options};
	for (uint32_t i = 0; i < 5; i++) th_put_text(i + 1, fields[i]);
	uint8_t *info = th_out.at + 1;
	size_t n = th_out.n - 1;
	th_out.n = 1, th_out.room = 0; /* written anew, one level deeper */
	th_put_bytes(1, info, n);
}

static int th_is(th_bytes method, const char *name) {
	return method.n == strlen(name) && !__builtin_memcmp(method.at, name, method.n);
}

/* Writes the answer's message to th_out and returns 0, or a status with its reason. */
static uint8_t th_call(th_bytes method, th_bytes request, const char **why) {
	static int opened;
	if (th_is(method, "/tunehost.v1.SearcherService/DescribeSearcher")) return th_call_describe(), 0;
	if (th_is(method, "/tunehost.v1.SearcherService/OpenSearcher")) {
		opened = !(*why = th_call_open(request));
		return *why ? 3 : 0;
	}
	if (!th_is(method, "/tunehost.v1.SearcherService/Suggest")) return *why = "there is no such method", 12;
	if (!opened) return *why = "the plugin was not opened", 9;
	return (*why = th_call_suggest(request)) ? 3 : 0;
}

#define TH_EXPORT(name) __attribute__((export_name(name), used))

TH_EXPORT("tunehost_abi") int th_abi(void) { return 1; }

/* The host's buffer is the first allocation of a call. */
TH_EXPORT("tunehost_alloc") void *th_alloc(size_t n) {
	if (th_kept) th_top = th_kept;
	return th_take(n);
}

TH_EXPORT("tunehost_invoke") uint64_t th_invoke(const uint8_t *at, size_t n) {
	const char *why = "the call names no method";
	uint8_t status = 3, ok = 0;
	size_t name = n < 2 ? n : at[0] | (size_t)at[1] << 8;
	th_out.at = 0, th_out.n = th_out.room = 0;
	th_put(&ok, 1);
	if (name + 2 <= n) status = th_call((th_bytes){at + 2, name}, (th_bytes){at + 2 + name, n - 2 - name}, &why);
	if (status) {
		th_out.n = 0;
		th_put(&status, 1);
		th_put(why, strlen(why));
	}
	return (uint64_t)(uintptr_t)th_out.at << 32 | th_out.n;
}

#endif
