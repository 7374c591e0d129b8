package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/internal/lazily"
)

var objective = &object{
	like: "{metric: accuracy, mode: max}",
	keys: []key{
		{name: "metric", what: "name of the metric, parts of nested ones joined with /", shape: metricName},
		{name: "mode", what: "whether less or more is better", shape: oneOf("min", "max")},
	},
	required: []string{"metric", "mode"},
}

// single is the objective of the key objective.
var single = func() *object {
	one := *objective
	one.list = "several objectives are written objectives: [{metric: accuracy, mode: max}, {metric: loss, mode: min}]"
	return &one
}()

var amounts = &object{
	like: "{cpu: 2, gpu: 1}",
	keys: []key{
		{name: "cpu", what: "CPUs, fractions too", shape: amount},
		{name: "gpu", what: "GPUs; with less than 1, trials share a GPU", shape: amount},
		{name: "memory", what: "memory in bytes, or such as 4GiB", shape: amount},
	},
	extra: amount,
}

// bundle is a set of amounts that must not be empty.
type bundle struct{ *object }

func (s bundle) check(p *problems, n *node) {
	s.object.check(p, n)
	if n.kind == mapKind && len(n.keys) == 0 {
		p.fail(n.pos, "found a bundle without resources, expected amounts such as {cpu: 1}")
	}
}

func (s bundle) schema() map[string]any {
	out := s.object.schema()
	out["minProperties"] = 1
	return out
}

var placement = &object{
	like: "{bundles: [{cpu: 1}, {cpu: 1}]}",
	keys: []key{
		{name: "bundles", what: "what each part of a trial needs; all parts start together",
			shape: &listOf{item: bundle{amounts}, some: true, like: " such as [{cpu: 1}, {cpu: 1}]"}},
		{name: "strategy", what: "how bundles are spread over nodes",
			shape: oneOf("pack", "spread", "strict_pack", "strict_spread"), value: `"pack"`},
		{name: "workers", what: "start the command once for each bundle", shape: boolean, value: "false"},
	},
	required: []string{"bundles"},
}

var bound = &object{like: "{above: 1}", keys: []key{
	{name: "above", what: "holds beyond this value", shape: real},
	{name: "below", what: "holds under this value", shape: real},
}}

var plateau = &object{like: "{last: 10, std: 0.001}", keys: []key{
	{name: "metric", what: "the metric; the objective's by default", shape: metricName},
	{name: "mode", what: "whether less or more is better", shape: oneOf("min", "max")},
	{name: "std", what: "the standard deviation under which values count as level", shape: notNegative, value: "0.001"},
	{name: "last", what: "how many values count: a trial's last ones, an experiment's best ones",
		shape: integer(2), value: "10"},
	{name: "grace", what: "how many values must come first", shape: integer(0), value: "0"},
	{name: "patience", what: "how often it must hold in a row beyond the first time", shape: integer(0), value: "0"},
}}

var stop = &object{
	like: "{iteration: 100}",
	keys: []key{
		{name: "when", what: "an expression over metrics, iteration, time and parameters", shape: condition},
		{name: "iteration", what: "the last iteration of a trial", shape: integer(1)},
		{name: "training_iteration", what: "the same as iteration", shape: integer(1)},
		{name: "time", what: "the running time of a trial; 0: no limit", shape: duration},
		{name: "time_total_s", what: "the same as time", shape: duration},
		{name: "plateau", what: "the metric no longer changes", shape: plateau},
		{name: "plugin", what: "an additional scheduler plugin that only stops trials",
			shape: plugin},
	},
	extra: &either{bound, isMap, real},
}

var budget = &object{like: "{time: 2h}", keys: []key{
	{name: "time", what: "the experiment's running time, over all resumes; 0: no limit", shape: duration},
	{name: "trials_failed", what: "how many trials may fail", shape: small(1)},
	{name: "plateau", what: "the best values no longer change", shape: plateau},
	{name: "when", what: "an expression over time, trials, trials_failed, results and best", shape: condition},
}}

var checkpoint = &object{like: "{every: 10}", keys: []key{
	{name: "every", what: "iterations between checkpoints; 0: only on request", shape: integer(0), value: "0"},
	{name: "at_end", what: "whether one is made when the trial ends", shape: boolean, value: "false"},
	{name: "keep", what: "how many are kept for each trial; 0: all", shape: small(0), value: "0"},
	{name: "score", what: "the metric that decides which are kept", shape: metricName},
	{name: "mode", what: "whether a lower or a higher score is better; the objective's where score is its metric, " +
		"else max", shape: oneOf("min", "max")},
	{name: "disk", what: "the disk space that checkpoints may use; the newest of each trial stays; 0: no limit",
		shape: size},
	{name: "pauses", what: "where the state of a paused trial is kept",
		shape: oneOf("disk", "memory"), value: `"disk"`},
}}

var failures = &object{like: "{retries: 3}", keys: []key{
	{name: "lost", what: "how often a trial may lose its machine before that counts as a failure",
		shape: small(0), value: "10"},
	{name: "retries", what: "how often a failed trial is started again; -1: no limit", shape: small(-1),
		value: "0"},
	{name: "fail_fast", what: "stop all trials at the first failure; raise: exit at once",
		shape: oneOf("false", "true", "raise"), value: "false"},
}}

var trainable = &object{like: "{command: [python3, train.py]}", keys: []key{
	{name: "command", what: "the program and its arguments",
		shape: &listOf{item: word, some: true, like: " such as [python3, train.py]"}},
	{name: "cwd", what: "where it starts, relative to the file; by default the trial's directory",
		shape: text},
	{name: "env", what: "environment variables", shape: &object{extra: word}},
	{name: "inherit_env", what: "whether it inherits the user's environment", shape: boolean, value: "true"},
	{name: "metrics", what: "regular expressions that find metrics in its output", shape: &object{extra: pattern}},
	{name: "deadline", what: "how long it may be silent before it counts as hung", shape: duration},
	{name: "warm", what: "whether python SCRIPT starts once, imports what the script imports, and is forked for " +
		"each trial", shape: boolean, value: "false"},
	{name: "plugin", what: "a trainable plugin, instead of a command", shape: text},
	{name: "options", what: "options of the plugin", shape: anyMap},
}}

var grant = &object{like: "{read: [data]}", keys: []key{
	{name: "read", what: "folders that it may read", shape: &listOf{item: text}},
	{name: "write", what: "folders that it may write", shape: &listOf{item: text}},
	{name: "env", what: "variables that it may see", shape: &listOf{item: text}},
	{name: "clock", what: "whether it sees the time", shape: boolean, value: "false"},
}}

// deadlineKeys has a key for each call with a deadline.
func deadlineKeys() *object {
	o := &object{like: "{suggest: 5m}"}
	for _, r := range deadlines.Table {
		o.keys = append(o.keys, key{name: string(r.Call), what: "the time in which " + r.What, shape: someTime})
	}
	return o
}

var anyMap = &special{
	test: func(p *problems, n *node) {
		if n.kind != mapKind {
			p.fail(n.pos, "found %s, expected a map", n.describe())
		}
	},
	json: func() map[string]any { return map[string]any{"type": "object"} },
}

// plugin is NAME, or {plugin: NAME or PATH, OPTION: …}.
var plugin = &special{
	test: func(p *problems, n *node) {
		name := n
		if n.kind == mapKind {
			if name = n.get("plugin"); name == nil {
				p.fail(n.pos, `key "plugin" is missing, expected {plugin: NAME, OPTION: …}`)
				return
			}
		}
		if !isText(name) {
			p.fail(name.pos, "found %s, expected the name or the path of a plugin", name.describe())
		}
	},
	json: func() map[string]any {
		return map[string]any{"anyOf": []any{text.schema(),
			map[string]any{"type": "object", "properties": map[string]any{"plugin": text.schema()},
				"required": []any{"plugin"}}}}
	},
	norm: func(n *node) *node {
		if n.kind == mapKind {
			return n
		}
		return &node{kind: mapKind, pos: n.pos, keys: []entry{{"plugin", n.pos, n}}}
	},
}

// hostKeys are the host's own keys among the options of an executor.
var hostKeys = []struct {
	name, what string
	shape      shape
	standard   any
}{
	{"idle", "how long a lease that no trial uses is kept for the next one", duration, defaultIdle.String()},
	{"host_grace", "how long agents and leases wait for a host that has died, at least 5s", grace,
		defaultHostGrace.String()},
	{"host_address", "the name or address, or host:port, by which nodes of the cluster reach this host; the host's " +
		"own addresses are tried as well", address, nil},
	{"upload", "files and folders, relative to this file and in its folder, that are sent to nodes that do not have " +
		"them", &listOf{item: uploaded, like: " such as [train.py, data/]"}, nil},
	{"host_port", "the port on which the host listens for its agents; without it the first host of the experiment " +
		"takes a free one, and the next ones the same", port, nil},
}

// executor is a plugin, with keys of the host's among its options.
var executor = &special{
	test: func(p *problems, n *node) {
		plugin.check(p, n)
		for _, k := range hostKeys {
			if x := n.get(k.name); x != nil {
				k.shape.check(p, x)
			}
		}
		if name := n.get("plugin"); n.kind == mapKind && name != nil && name.text == LocalExecutor && len(n.keys) > 1 {
			p.fail(n.pos, "found options of the executor local, which has none; write executor: local")
		}
	},
	json: func() map[string]any {
		schema := plugin.schema()
		properties := schema["anyOf"].([]any)[1].(map[string]any)["properties"].(map[string]any)
		for _, k := range hostKeys {
			of := maps.Clone(k.shape.schema())
			if of["description"] = k.what; k.standard != nil {
				of["default"] = k.standard
			}
			properties[k.name] = of
		}
		return schema
	},
	norm: plugin.norm,
}

// grace is a duration that is longer than the time between two signs of life of a host.
var grace = &scalar{expected: "a time of at least 5s, such as 10m or 2h, or a number of seconds",
	ok:   func(n *node) bool { d, ok := durationOf(n); return ok && d >= minHostGrace },
	json: duration.json}

// uploaded is a name in the folder of the file.
var uploaded = &scalar{expected: "the name of a file or folder in the folder of this file, such as train.py or data/",
	ok: func(n *node) bool {
		return n.kind == textKind && filepath.IsLocal(n.text) && !strings.ContainsRune(n.text, 0)
	},
	json: map[string]any{"type": "string", "pattern": `^[^/]`}}

// port is a port of TCP.
var port = &scalar{expected: "a port, a whole number from 1 to 65535",
	ok:   func(n *node) bool { i, ok := n.integer(); return ok && i >= 1 && i <= 65535 },
	json: map[string]any{"type": "integer", "minimum": 1, "maximum": 65535}}

// address is a name or an address, with or without a port.
var address = &scalar{expected: "a host name or an address of this machine, such as login1 or 10.0.0.7, or host:port",
	ok:   func(n *node) bool { return n.kind == textKind && addressForm().MatchString(n.text) },
	json: map[string]any{"type": "string", "pattern": addressText}}

const addressText = `^([0-9A-Za-z._-]{1,253}(:[0-9]{1,5})?|[0-9A-Fa-f:.]{2,45}|\[[0-9A-Fa-f:.]{2,45}\]:[0-9]{1,5})$`

var addressForm = lazily.Regexp(addressText)

var logShape = &either{&object{keys: []key{
	{name: "stdout", what: "file of the standard output", shape: text},
	{name: "stderr", what: "file of the standard error output", shape: text},
}}, isMap, oneLog}

// oneLog turns logs on or off, or names one file for both outputs.
var oneLog = &special{
	test: func(p *problems, n *node) {
		if n.kind != boolKind && !isText(n) || slices.Contains([]string{"yes", "no", "on", "off"},
			strings.ToLower(n.text)) {
			p.fail(n.pos, "found %s, expected true, false, or the name of a file for both outputs", n.describe())
		}
	},
	json: func() map[string]any { return map[string]any{"type": []any{"boolean", "string"}, "pattern": `\S`} },
	norm: func(n *node) *node {
		if n.kind == boolKind {
			return n
		}
		return &node{kind: mapKind, pos: n.pos, keys: []entry{{"stdout", n.pos, n}, {"stderr", n.pos, n}}}
	},
}

// Letters of any script are allowed, with their marks. The length is in bytes, as in file systems.
const (
	namePattern       = `^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.@+=, -]*$`
	maxExperimentName = 200
)

// nameForm is compiled when it is needed: every process of tunehost, plugins too, would pay for its tables.
var nameForm = lazily.Regexp(namePattern)

// isName reports whether a text can be the name of an experiment.
func isName(text string) bool {
	return len(text) <= maxExperimentName && nameForm().MatchString(text) && strings.TrimRight(text, " .") == text
}

var experimentName = &scalar{
	expected: "a name for a directory: letters, digits, spaces and _ . - @ + = , of at most 200 bytes, " +
		"with a letter, a digit or _ first and no space or . last",
	ok: func(n *node) bool { return n.kind <= textKind && isName(n.text) },
	json: map[string]any{"type": []any{"string", "number", "boolean"}, "pattern": namePattern,
		"maxLength": maxExperimentName},
	norm: asText, about: wrongInName}

// wrongInName names the first character that a name must not have. Those that it may have stand for themselves after a
// letter.
func wrongInName(text string) string {
	for _, r := range text {
		if !nameForm().MatchString("a" + string(r)) {
			return ", in which " + quote(string(r)) + " is not allowed"
		}
	}
	return ""
}

var version = &special{
	test: func(p *problems, n *node) {
		if i, ok := n.integer(); !ok || i != 1 {
			p.fail(n.pos, "found %s, expected version 1, the only one that this tunehost knows", n.describe())
		}
	},
	json: func() map[string]any { return map[string]any{"const": 1} },
}

var trialCount = &scalar{expected: "a whole number from 1 on, or -1 for no bound", most: maxInteger,
	ok: func(n *node) bool { i, ok := n.integer(); return ok && (i == -1 || i >= 1) },
	json: map[string]any{"anyOf": []any{map[string]any{"const": -1},
		map[string]any{"type": "integer", "minimum": 1, "maximum": maxInteger}}}}

var repeats = &scalar{expected: "a whole number from 1 to 1000",
	ok:   func(n *node) bool { i, ok := n.integer(); return ok && i >= 1 && i <= 1000 },
	json: map[string]any{"type": "integer", "minimum": 1, "maximum": 1000}}

// experiment is the table of keys.
var experiment = &object{
	keys: []key{
		{"version", "version of this format", version, "", Different},
		{"name", "name of the experiment and of its directory; by default the file's name", experimentName, "",
			Ignored},
		{"seed", "the seed of every random choice; by default drawn once", unsigned, "", Ignored},
		{"objective", "what is optimised", single, "", Different},
		{"objectives", "several objectives, instead of one",
			&listOf{item: objective, some: true, like: " such as [{metric: loss, mode: min}, {metric: seconds, mode: " +
				"min}]"}, "", Different},
		{"constraints", "expressions over parameters that must hold", &listOf{item: condition, single: true}, "[]",
			Ignored},
		{"trainable", "what is trained: {command: [...]}, or {plugin: NAME, options: {...}}", trainable, "", Taken},
		{"space", "the parameters", spaceShape, "{}", Ignored},
		{"points", "partial or whole assignments that run first", &listOf{item: anyMap, like: " such as [{lr: 0.1}]"},
			"[]", Ignored},
		{"searcher", "chooses the parameters of each trial", plugin, `"auto"`, Ignored},
		{"scheduler", "decides which trials continue", plugin, `"fifo"`, Ignored},
		{"reporters", "plugins that receive what happens", &listOf{item: plugin, like: " such as [jsonl, csv]"},
			`["jsonl","csv"]`, Taken},
		{"executor", "where trials run: local, or an executor plugin, which allocates leases of a cluster", executor,
			`"local"`, Taken},
		{"trials", "number of samples, times the grid; -1: no limit", trialCount, "1", Taken},
		{"concurrency", "how many trials run at a time; 0: as many as resources allow", small(0), "0", Taken},
		{"resources", "what each trial needs", amounts, `{"cpu":"1"}`, Taken},
		{"placement", "groups of resources, instead of resources", placement, "", Taken},
		{"stop", "when a trial ends: metric: value to reach, {above: x} or {below: x}, and the keys here", stop, "",
			Taken},
		{"budget", "when the experiment ends", budget, "", Taken},
		{"checkpoint", "when checkpoints are made and which are kept", checkpoint, `{}`, Taken},
		{"restore", "a checkpoint from which every trial starts", text, "", Ignored},
		{"learn_from", "experiments whose results the searcher learns from", &listOf{item: text, single: true}, "[]",
			Ignored},
		{"failures", "what happens to failed trials", failures, `{}`, Taken},
		{"stop_grace", "time that a stopped trial has to clean up", duration, `"10s"`, Taken},
		{"reuse", "whether processes serve several trials", oneOf("auto", "true", "false"), `"auto"`, Taken},
		{"repeat", "runs of each suggestion with different seeds; the mean counts", repeats, "1", Ignored},
		{"strict_metrics", "whether a missing metric fails the trial", boolean, "true", Taken},
		{"overcommit", "whether one trial at a time may start beyond the free resources", boolean, "false", Taken},
		{"wait_for_resources", "whether trials wait for resources that do not exist yet", boolean, "false", Taken},
		{"storage", "directory or URL of the results", text, `"./results"`, Ignored},
		{"log", "whether, or to which files, output is written", logShape, "true", Taken},
		{"export", "formats of models that are written when a trial ends", &listOf{item: text, single: true}, "[]",
			Taken},
		{"trial_name", "template over {number} {id} and {NAME} of parameters", text, "", Ignored},
		{"plugins", "further folders with plugins", &listOf{item: text, single: true}, "[]", Taken},
		{"sandbox", "limits of plugins in the sandbox", &object{keys: []key{
			{name: "memory", what: "memory of one plugin", shape: size, value: `"256MiB"`},
			{name: "call_timeout", what: "time that one call may take", shape: duration, value: `"30s"`},
		}}, "{}", Taken},
		{"deadlines", "how long a call of a plugin may take", deadlineKeys(), "{}", Taken},
		{"grants", "what a plugin may use beyond the sandbox", &object{extra: grant}, "{}", Taken},
	},
	required: []string{"version"},
}

func isKey(name string) bool { return experiment.find(name) != nil }

func isPluginKey(name string) bool {
	return name == "searcher" || name == "scheduler" || name == "executor"
}
