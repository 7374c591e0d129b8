/* dice: random points of real, integer and choice parameters. */

#include "tunehost.h"

const th_info th_plugin = {
	"dice", "1.0.0", "Draws random points, in C.",
	"{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {}}",
};

const char *th_open(void) {
	const char *why = th_no_options();
	if (why) return why;
	if (th_problem.constrained) return "dice knows no constraints: use another searcher";
	for (size_t i = 0; i < th_problem.n; i++) {
		const th_param *p = &th_problem.params[i];
		if (p->conditional) return "dice knows no conditions: use another searcher";
		if (p->kind == TH_NORMAL || p->step != 0) return "dice knows no normal and no stepped parameters: use another searcher";
	}
	return NULL;
}

void th_observe(const th_event *e) { (void)e; }

int th_suggest(const th_request *r, double *point) {
	uint64_t state = r->seed;
	for (size_t i = 0; i < th_problem.n; i++) point[i] = th_from_unit(&th_problem.params[i], th_uniform(&state));
	return TH_READY;
}
