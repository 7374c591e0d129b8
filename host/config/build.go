package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/internal/lazily"
)

// builder makes an Experiment from a tree. It leaves out the parts that the key table found wrong, so
// that each mistake is reported once and all other mistakes are still found.
type builder struct {
	*problems
	root *node
	e    *Experiment
	bad  map[string]bool // top-level keys of the wrong form
	// wrong holds the parameters that have a reported mistake.
	wrong map[string]bool
	// dropped holds the parameters that could not be built. Mistakes that refer to them are not reported.
	dropped []string
	// strict refuses code of other tuners; records from before that are read without it.
	strict  bool
	reading int
}

func build(p *problems, root *node, set *settings) *Experiment {
	b := &builder{p, root, &Experiment{}, map[string]bool{}, map[string]bool{}, nil, set.reading >= strictReading,
		set.reading}
	b.e.faults = set.reading >= faultReading
	b.e.defined = set.reading >= definedReading
	b.shapes()
	if root.kind != mapKind {
		return b.e
	}
	b.identity(set)
	b.space()
	b.constraints()
	b.points()
	b.objectives()
	b.plugins()
	b.running()
	b.ending()
	b.files()
	b.templates()
	b.doubts()
	return b.e
}

// shapes checks the tree against the key table and remembers which keys are wrong.
func (b *builder) shapes() {
	if b.root.kind != mapKind {
		experiment.check(b.problems, b.root)
		return
	}
	for _, k := range experiment.keys {
		before := len(b.errs)
		if n := b.root.get(k.name); n != nil {
			k.shape.check(b.problems, n)
		}
		b.bad[k.name] = len(b.errs) > before
	}
	outer := *experiment
	outer.keys = slices.Clone(experiment.keys)
	for i := range outer.keys {
		outer.keys[i].shape = &special{test: func(*problems, *node) {}}
	}
	outer.check(b.problems, b.root)
}

// at returns the value of a key if its form is right, else the key's default, else nil.
func (b *builder) at(name string) *node {
	if n := b.root.get(name); n != nil && !b.bad[name] {
		return n
	}
	return unwritten(name, b.reading)
}

// unwritten returns the value of a key that the file leaves out, by a version of the reading rules, or nil.
func unwritten(name string, reading int) *node {
	if name == "searcher" && reading < searcherReading {
		return &node{kind: textKind, text: "random", pos: Pos{File: "default of searcher"}}
	}
	return experiment.defaultOf(name)
}

// defaultOf returns the default of a key, or nil.
func (o *object) defaultOf(name string) *node {
	for _, k := range o.keys {
		if k.name == name {
			return defaultOf(k)
		}
	}
	return nil
}

func defaultOf(k key) *node {
	if k.value == "" {
		return nil
	}
	return moved(readYAML(&problems{}, "default of "+k.name, []byte(k.value)), Pos{File: "default of " + k.name})
}

// fields is a map together with its defaults.
type fields struct {
	n     *node
	table *object
}

func (f fields) at(name string) *node {
	if n := f.n.get(name); n != nil {
		return n
	}
	return f.table.defaultOf(name)
}

func (f fields) text(name string) string  { return textOf(f.at(name)) }
func (f fields) boolean(name string) bool { return textOf(f.at(name)) == "true" }
func (f fields) integer(name string) int64 {
	i, _ := f.at(name).integer()
	return i
}

func (f fields) real(name string) *float64 {
	if x, ok := f.n.get(name).float(); ok {
		return &x
	}
	return nil
}

func textOf(n *node) string {
	if n == nil {
		return ""
	}
	return n.text
}

func (b *builder) integer(name string) int64 {
	i, _ := b.at(name).integer()
	return i
}

// texts reads a list of texts, or a single text.
func texts(n *node) []string {
	switch {
	case n == nil:
		return nil
	case n.kind != listKind:
		return []string{n.text}
	}
	var out []string
	for _, item := range n.items {
		out = append(out, item.text)
	}
	return out
}

func textMap(n *node) map[string]string {
	if n == nil {
		return nil
	}
	out := map[string]string{}
	for _, e := range n.keys {
		out[e.name] = e.value.text
	}
	return out
}

func (b *builder) identity(set *settings) {
	b.e.Name = textOf(b.at("name"))
	if u, ok := unsignedOf(b.at("seed")); ok {
		b.e.Seed = &u
	}
	n := b.root.get("trainable")
	if n == nil && !set.noTrainable {
		b.fail(b.root.pos, `key "trainable" is missing, expected a map such as {command: [python3, train.py]}`)
	}
	if n != nil && !b.bad["trainable"] {
		b.trainable(n)
	}
}

func (b *builder) trainable(n *node) {
	f := fields{n, trainable}
	t := &Trainable{Env: textMap(n.get("env")), InheritEnv: f.boolean("inherit_env"),
		Warm: f.boolean("warm"), Command: texts(n.get("command")), CWD: textOf(n.get("cwd"))}
	t.Deadline, _ = durationOf(n.get("deadline"))
	switch hasCommand, hasPlugin := n.has("command"), n.has("plugin"); {
	case hasCommand && hasPlugin:
		b.fail(n.get("plugin").pos, `found both "command" and "plugin", expected one of them`)
	case !hasCommand && !hasPlugin:
		b.fail(n.pos, `found neither "command" nor "plugin", expected one of them`)
	case hasPlugin:
		b.pluginOnly(n)
		ref := newPluginRef(f.text("plugin"), n.get("plugin").pos, n.get("options"))
		t.Plugin = &ref
	case n.has("options"):
		b.fail(n.get("options").pos, `found "options" beside "command", expected them with "plugin"`)
	}
	if m := n.get("metrics"); m != nil {
		t.Metrics = map[string]*regexp.Regexp{}
		for _, e := range m.keys {
			b.metric(e.pos, e.name)
			t.Metrics[e.name] = regexp.MustCompile(e.value.text) // the form was checked
		}
	}
	b.variables(n.get("env"))
	b.programTexts(n)
	b.e.Trainable = t
}

func (b *builder) pluginOnly(n *node) {
	for _, name := range []string{"env", "inherit_env", "metrics", "cwd", "warm"} {
		if bad := n.get(name); bad != nil {
			b.fail(bad.pos, `found %q beside "plugin", expected it with "command"`, name)
		}
	}
}

func (b *builder) objectives() {
	one, many := b.root.get("objective"), b.root.get("objectives")
	switch {
	case one != nil && many != nil:
		b.fail(many.pos, `found both "objective" and "objectives", expected one of them`)
		return
	case one == nil && many == nil:
		b.fail(b.root.pos, `key "objective" is missing, expected {metric: NAME, mode: min or max}`)
		return
	case one != nil && !b.bad["objective"]:
		b.e.Single = true
		b.e.Objectives = []Objective{{one.get("metric").text, one.get("mode").text}}
	case many != nil && !b.bad["objectives"]:
		b.manyObjectives(many)
	}
}

func (b *builder) manyObjectives(many *node) {
	seen := map[string]bool{}
	for _, o := range many.items {
		metric := o.get("metric")
		if seen[metric.text] {
			b.fail(metric.pos, "metric %s is an objective twice", quote(metric.text))
		}
		seen[metric.text] = true
		b.e.Objectives = append(b.e.Objectives, Objective{metric.text, o.get("mode").text})
	}
}

func (b *builder) plugins() {
	b.e.Searcher = refOf(b.at("searcher"))
	b.schedulers(b.at("scheduler"))
	b.executor(b.at("executor"))
	for _, n := range b.at("reporters").items {
		b.e.Reporters = append(b.e.Reporters, refOf(n))
	}
	b.e.Plugins = texts(b.at("plugins"))
	b.e.Grants = map[string]Grant{}
	for _, e := range b.at("grants").keys {
		b.e.Grants[e.name] = grantOf(e.value)
	}
	box := fields{b.at("sandbox"), experiment.find("sandbox").(*object)}
	b.e.Sandbox.Memory, _ = sizeOf(box.at("memory"))
	b.e.Sandbox.CallTimeout, _ = durationOf(box.at("call_timeout"))
	b.e.Deadlines = deadlines.Limits{}
	for _, e := range b.at("deadlines").keys {
		b.e.Deadlines[deadlines.Call(e.name)], _ = durationOf(e.value)
	}
	b.boundTwice()
}

// schedulers reads the scheduler and its base.
func (b *builder) schedulers(n *node) {
	base := n.get("base")
	if base == nil {
		b.e.Scheduler = refOf(n)
		return
	}
	b.e.Scheduler = refOf(n.without("base"))
	before := len(b.errs)
	if plugin.check(b.problems, base); len(b.errs) > before {
		return
	}
	ref := refOf(base)
	b.e.Base = &ref
}

// executor reads the executor, and the host's own keys among its options.
func (b *builder) executor(n *node) {
	b.e.Idle, b.e.HostGrace = defaultIdle, defaultHostGrace
	if d, ok := durationOf(n.get("idle")); ok {
		b.e.Idle = d
	}
	if d, ok := durationOf(n.get("host_grace")); ok {
		b.e.HostGrace = d
	}
	if x := n.get("host_address"); x != nil {
		b.e.HostAddress = x.text
	}
	if x := n.get("upload"); x != nil {
		b.e.Upload = texts(x)
	}
	if i, ok := n.get("host_port").integer(); ok {
		b.e.HostPort = int(i)
	}
	for _, k := range hostKeys {
		n = n.without(k.name)
	}
	b.e.Executor = refOf(n)
}

// boundTwice checks that a limit on running trials that is also given to the searcher is the same.
func (b *builder) boundTwice() {
	s := b.root.get("searcher")
	for _, name := range []string{"concurrency", "max_concurrent"} {
		other, ok := s.get(name).integer()
		if ok && b.root.has("concurrency") && !b.bad["concurrency"] && other != b.integer("concurrency") {
			b.fail(s.get(name).pos, "%s of the searcher is %d, but concurrency is %d: expected one bound", name, other,
				b.integer("concurrency"))
		}
	}
}

func (b *builder) running() {
	b.e.Trials, b.e.Concurrency, b.e.Repeat = b.integer("trials"), b.integer("concurrency"), b.integer("repeat")
	if r, p := b.root.get("resources"), b.root.get("placement"); r != nil && p != nil {
		b.fail(p.pos, `found both "resources" and "placement", expected one of them`)
	}
	if n := b.at("placement"); n != nil {
		f := fields{n, placement}
		b.e.Placement = &Placement{Strategy: f.text("strategy"), Workers: f.boolean("workers")}
		for _, bundle := range n.get("bundles").items {
			b.e.Placement.Bundles = append(b.e.Placement.Bundles, b.amounts(bundle, len(b.e.Placement.Bundles)))
		}
	} else {
		b.e.Resources = b.amounts(b.at("resources"), 0)
	}
	for _, name := range []string{"resources", "placement"} {
		if n := b.root.get(name); n != nil {
			b.e.Requested = &n.pos
		}
	}
	b.e.StopGrace, _ = durationOf(b.at("stop_grace"))
	b.e.Reuse = b.at("reuse").text
	b.e.StrictMetrics = b.at("strict_metrics").text == "true"
	b.e.WaitForResources = b.at("wait_for_resources").text == "true"
	b.overcommit()
	b.failures()
}

// overcommit starts one trial more than the free resources allow. It needs a plain request: a GPU
// cannot be handed out twice, and a group would wait for its other members.
func (b *builder) overcommit() {
	n := b.at("overcommit")
	if b.e.Overcommit = n.text == "true"; !b.e.Overcommit {
		return
	}
	if gpu, asked := b.e.Resources["gpu"]; asked && gpu != "0" {
		b.fail(n.pos, "found overcommit with trials that ask for gpu, which cannot be handed out twice; leave one of "+
			"them out")
	}
	if b.e.Placement != nil {
		b.fail(n.pos, "found overcommit with placement, expected one of them")
	}
	if b.e.Leased() && !b.bad["executor"] {
		b.fail(n.pos, "found overcommit with the executor %s, which grants what it has; leave overcommit out",
			quote(b.e.Executor.Name))
	}
}

// failures refuses fail_fast together with retries (B-073).
func (b *builder) failures() {
	n := b.at("failures")
	f := fields{n, failures}
	b.e.Failures = Failures{Retries: f.integer("retries"), Lost: f.integer("lost"),
		FailFast: f.text("fail_fast") != "false", Raise: f.text("fail_fast") == "raise"}
	if b.e.Failures.FailFast && b.e.Failures.Retries != 0 {
		b.fail(n.get("fail_fast").pos, "found fail_fast with retries, expected one of them")
	}
}

// formatName limits names of formats: each is the name of a folder and an item of a list in the
// environment.
var formatName = lazily.Regexp(`^[A-Za-z0-9][A-Za-z0-9_+-]{0,63}$`)

func (b *builder) formats() {
	for i, format := range b.e.Export {
		switch pos := b.at("export").pos; {
		case !formatName().MatchString(format):
			b.fail(pos, "%s is not a name of a format, expected up to 64 of A-Z a-z 0-9 _ + -, a letter or digit first",
				quote(format))
		case slices.Contains(b.e.Export[:i], format):
			b.fail(pos, "%s comes twice", quote(format))
		}
	}
}

func (b *builder) files() {
	b.e.Storage = b.at("storage").text
	b.storage()
	b.e.Export, b.e.Restore, b.e.LearnFrom = texts(b.at("export")), textOf(b.at("restore")), texts(b.at("learn_from"))
	b.formats()
	b.e.Log.On = true
	if n := logShape.canon(b.at("log")); n.kind == mapKind {
		b.logFiles(n)
		b.e.Log.Stdout, b.e.Log.Stderr = textOf(n.get("stdout")), textOf(n.get("stderr"))
	} else {
		b.e.Log.On = n.text == "true"
	}
	f := fields{b.at("checkpoint"), checkpoint}
	c := Checkpoint{Every: f.integer("every"), AtEnd: f.boolean("at_end"), Keep: f.integer("keep")}
	c.Disk, _ = sizeOf(f.at("disk"))
	if c.PausesInMemory = f.text("pauses") == "memory"; c.PausesInMemory && c.AtEnd {
		b.fail(f.n.get("pauses").pos, "found pauses: memory with at_end, expected one of them: a trial that is ended "+
			"while it is paused has no checkpoint on disk")
	}
	c.Score, c.Mode = b.score(f)
	b.e.Checkpoint = c
}

// storage checks that a URL has a known scheme and names a bucket or an absolute path.
func (b *builder) storage() {
	scheme, rest, ok := strings.Cut(b.e.Storage, "://")
	pos := b.at("storage").pos
	path, _, _ := strings.Cut(rest, "?")
	switch bucket, _, _ := strings.Cut(path, "/"); {
	case !ok:
		if url := MeantURL(b.e.Storage); url != "" {
			b.fail(pos, "found %s, expected two slashes after the colon: %s; a directory of that name is ./%s",
				quote(b.e.Storage), quote(url), b.e.Storage)
		}
	case !slices.Contains(schemes, scheme):
		b.fail(pos, "unknown storage %s, expected a directory or %s%s", quote(scheme+"://"), list(urls(), 9),
			nearest.Hint(scheme+"://", urls()))
	case scheme == "file" && path == "":
		b.fail(pos, "found %s without a path, expected a whole one, such as file:///mnt/results", quote(b.e.Storage))
	case scheme == "file" && bucket != "":
		b.fail(pos, "found %s, expected a whole path after file://, such as file:///mnt/results", quote(b.e.Storage))
	case scheme == "file" && path != rest:
		b.fail(pos, "found %s, expected a path: a shared directory has no parameters; remove %s", quote(b.e.Storage),
			rest[len(path):])
	case scheme != "file" && bucket == "":
		b.fail(pos, "found %s without a bucket, expected %s://BUCKET/PREFIX", quote(b.e.Storage), scheme)
	}
}

// MeantURL returns the URL that a user probably meant by one with a missing slash, or "".
func MeantURL(storage string) string {
	scheme, rest, ok := strings.Cut(storage, ":")
	if !ok || !slices.Contains(schemes, scheme) || strings.HasPrefix(rest, "//") {
		return ""
	}
	rest = strings.TrimLeft(rest, "/")
	if scheme == "file" {
		rest = "/" + rest
	}
	return scheme + "://" + rest
}

var schemes = []string{"file", "s3", "gs", "azblob"}

func urls() []string {
	var out []string
	for _, s := range schemes {
		out = append(out, s+"://")
	}
	return out
}

// program compiles an expression of the file; it returns nil on a mistake.
func (b *builder) program(n *node, s *expr.Scope, want expr.Type) *expr.Program {
	p, err := expr.Compile(n.text, s, want)
	if err != nil {
		b.failExpr(n, err)
		return nil
	}
	for _, name := range p.Metrics() {
		b.metric(n.pos, name)
	}
	for _, d := range expr.Doubts(n.text, s) {
		b.warn(n.at(d.Column), "%s", d.Msg)
	}
	return p
}
