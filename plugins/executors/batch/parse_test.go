package batch

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

const noValue = "error {gpu} has no value here: put what belongs to it into {? ?}"

func TestTemplates(t *testing.T) {
	v := values{"cpu": {"4"}, "script": {"/a b/s.sh"}, "args": {"-q", "x y"}, "none": nil, "time": {"1:00:00"}}
	known := []string{"cpu", "gpu", "script", "args", "none", "time"}
	for text, want := range map[string]string{
		"qsub -l nodes=1:ppn={cpu} {script}":                 "qsub|-l|nodes=1:ppn=4|/a b/s.sh",
		"  qsub\t{args}\n{script} ":                          "qsub|-q|x y|/a b/s.sh",
		"qsub {none} {script}":                               "qsub|/a b/s.sh",
		"q -l n={cpu}{?:g={gpu}?}{?:t={time}?} {?-g {gpu}?}": "q|-l|n=4:t=1:00:00",
		"q {?-M {cpu}MB -R r[mem={cpu}MB]?} x":               "q|-M|4MB|-R|r[mem=4MB]|x",
		`q "a {cpu}" 'b"c' d\ e "" "\"" 'f\g'`:               `q|a 4|b"c|d e||"|f\g`,
		`flux jobs -o "{{id}};{{x}}" {{cpu}}`:                "flux|jobs|-o|{id};{x}|{cpu}",
		`awk '{print $1}' {`:                                 "awk|{print $1}|{",
		"q --name=ä{cpu}":                                    "q|--name=ä4",
		"q x{gpu}":                                           noValue,
		"q {gpu}":                                            noValue,
		"":                                                   "error it has no words",
		"ä {cpus}": "error at its column 3, {cpus} is unknown; known: {cpu}, {gpu}, {script}, {args}, {none}, " +
			"{time}; for a text in braces write {{cpus}}",
		"bsub < {script}": "error at its column 6, < needs a shell, and commands are run without one: quote it, " +
			"or write sh -c '...'",
		"q 'x":               "error at its column 1, a quotation mark ' has no other",
		"q {?-g {gpu}":       "error at its column 3, {? has no ?}",
		"q {?-g {?{gpu}?}?}": "error at its column 8, {? cannot be inside of another, or of quotation marks",
		"q ?}":               "error at its column 3, ?} has no {?",
	} {
		parsed, err := parseTemplate(text, known)
		var words []string
		if err == nil {
			words, err = parsed.expand(v)
		}
		got := strings.Join(words, "|")
		if err != nil {
			got = "error " + err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// Mistakes of the options are one line, with what is allowed.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `option "system" is missing; allowed: condor, flux, lsf, pbs, sge, or the options submit, status ` +
			`and cancel`,
		`{"system": "pb"}`: `option "system" is "pb"; allowed: `,
		`{"submit": "x {script}"}`: `option "status" is missing; allowed: a command, or name the batch system ` +
			`with the option ` +
			`system`,
		`{"system": "pbs", "submit": "qsub {scrpt}"}`: `option "submit" is wrong at its column 6, {scrpt} is ` +
			`unknown; known: {name}, `,
		`{"system": "pbs", "submit": "qsub x"}`: `option "submit" is "qsub x"; allowed: a command with ` +
			`{script}, the job's script`,
		`{"system": "pbs", "cancel": "qdel all"}`: `option "cancel" is "qdel all"; allowed: a command with ` +
			`{id}, the job's id`,
		`{"system": "pbs", "running": "("}`: `option "running" is "("; allowed: a regular expression (RE2); `,
		`{"system": "pbs", "time": "4 hours"}`: `option "time" is "4 hours"; allowed: a time from 1m, such as ` +
			`4h, 90m or 1d12h`,
		`{"system": "pbs", "time": "1m"}`:         `option "notice" is 60; allowed: less than time, which is 1m`,
		`{"system": "pbs", "resources": ["cpu"]}`: `option "resources" is ["cpu"]; allowed: names of `,
		`{"system": "pbs", "shell": "bash"}`: `option "shell" is "bash"; allowed: the path of a shell, such as ` +
			`/bin/bash`,
		`{"submit": "qsub {script}", "args": ["-q", "x"]}`: `option "args" is ["-q","x"]; allowed: arguments ` +
			`only if submit has {args}`,
		`{"submit": "qsub {script}", "time": "2h"}`: `option "time" is "2h"; allowed: a time only if submit has ` +
			`{time}, `,
	} {
		_, err := read([]byte(text))
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// The examples of the contract with users.
func TestDefaults(t *testing.T) {
	p, err := read([]byte(`{"submit": "qsub -l nodes={nodes}:ppn={cpu} {script}", "status": "qstat {id}",
		"cancel": "qdel {id}"}`))
	if err != nil || p.gangs() || p.canList {
		t.Errorf("%+v, %v", p, err)
	}
	for name := range systems {
		if name == other {
			continue
		}
		p, err := read([]byte(fmt.Sprintf(`{"system": %q, "time": "1d12h", "args": ["-q", "long"]}`, name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if gangs := name == "flux"; p.gangs() != gangs || !p.canList || p.time != 36*time.Hour {
			t.Errorf("%s: gangs %v, lists %v, %v", name, p.gangs(), p.canList, p.time)
		}
	}
}

// submits are the commands of the known systems for a trial with everything, and with nothing.
func TestSubmits(t *testing.T) {
	whole := []sdk.Amount{{Name: "cpu", Value: 3.5}, {Name: "gpu", Value: 2}, {Name: "memory", Value: 1<<33 + 1}}
	for name, want := range map[string][2]string{
		"pbs": {"qsub -N a-1 -l select=1:ncpus=4:mem=8193mb:ngpus=2 -l place=scatter -l walltime=36:00:00 -j oe " +
			"-o /d/a-1.log /d/a-1.sh",
			"qsub -N a-1 -l select=1:ncpus=1 -l place=scatter -j oe -o /d/a-1.log /d/a-1.sh"},
		"lsf": {"bsub -J a-1 -n 4 -R span[ptile=4] -M 8193MB -R rusage[mem=8193MB] -gpu num=2 -W 2160 -o " +
			"/d/a-1.log /bin/sh /d/a-1.sh",
			"bsub -J a-1 -n 1 -R span[ptile=1] -o /d/a-1.log /bin/sh /d/a-1.sh"},
		"sge": {"qsub -terse -N a-1 -S /bin/sh -pe smp 4 -l h_vmem=2049M -l gpu=2 -l h_rt=36:00:00 -j y -o " +
			"/d/a-1.log /d/a-1.sh",
			"qsub -terse -N a-1 -S /bin/sh -pe smp 1 -j y -o /d/a-1.log /d/a-1.sh"},
		"condor": {"condor_submit -terse universe=vanilla executable=/bin/sh transfer_executable=false " +
			"arguments=a-1.sh " +
			"transfer_input_files=/d/a-1.sh should_transfer_files=YES batch_name=a-1 output=/d/a-1.log " +
			"error=/d/a-1.log " +
			"request_cpus=4 request_memory=8193 request_gpus=2 " +
			"periodic_remove=JobStatus == 2 && time() - EnteredCurrentStatus > 129600 /dev/null -queue 1",
			"condor_submit -terse universe=vanilla executable=/bin/sh transfer_executable=false arguments=a-1.sh " +
				"transfer_input_files=/d/a-1.sh should_transfer_files=YES batch_name=a-1 output=/d/a-1.log " +
				"error=/d/a-1.log " +
				"request_cpus=1 /dev/null -queue 1"},
		"flux": {"flux batch --job-name=a-1 -N1 -n1 -c4 -g2 -t2160m --output=/d/a-1.log /d/a-1.sh",
			"flux batch --job-name=a-1 -N1 -n1 -c1 --output=/d/a-1.log /d/a-1.sh"},
	} {
		for i, c := range []struct {
			options string
			amounts []sdk.Amount
		}{{`, "time": "36h"`, whole}, {"", nil}} {
			p, err := read([]byte(`{"system": "` + name + `"` + c.options + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if name == "flux" { // it has no memory
				c.amounts = c.amounts[:min(2, len(c.amounts))]
			}
			n, err := p.needs(of("a-1", c.amounts...))
			if err != nil {
				t.Fatal(err)
			}
			words, err := p.submit.expand(p.values("a-1", "/d", n))
			if got := strings.Join(words, " "); err != nil || got != want[i] {
				t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want[i])
			}
		}
	}
}

// The output of the batch systems, as in their manuals, is understood.
func TestPatterns(t *testing.T) {
	for name, c := range map[system]struct {
		submitted, id string
		states        map[string]state
		hosts         map[string]string
	}{
		"pbs": {"1234.pbs01\n", "1234.pbs01", map[string]state{
			"Job Id: 1.p\n    Job_Name = a-1\n    job_state = Q\n":                        pending,
			"Job Id: 1.p\n    job_state = H\n":                                            pending,
			"Job Id: 1.p\n    job_state = R\n    exec_host = n1/0*4+n2/0*4\n":             running,
			"Job Id: 1.p\n    job_state = F\n    exec_host = n1/0\n    Exit_status = 0\n": ended,
			"qstat: Unknown Job Id 1.p":                                                   ended,
			"qstat: 1.p Job has finished, use -x or -H to obtain historical information":  ended,
			"Connection refused\nqstat: cannot connect to server p (errno=15010)":         unknown,
		}, map[string]string{"    exec_host = node-1/0*4+node-2/\n\t0*4\n": "node-1 node-2",
			"exec_host = n1/0+n1/1": "n1"}},
		"lsf": {"Job <42> is submitted to default queue <normal>.\n", "42", map[string]state{
			"PEND;-\n": pending, "RUN;4*hostA:4*hostB\n": running, "SSUSP;hostA\n": running, "EXIT;hostA\n": ended,
			"DONE;hostA": ended, "Job <42> is not found": ended, "batch system daemon not responding ... still " +
				"trying": unknown,
		}, map[string]string{"RUN;4*hostA:4*hostB\n": "hostA hostB", "PEND;-": ""}},
		"sge": {"77\n", "77", map[string]state{
			"     77 0.55500 a-1        me           qw    11/20/2026 10:00:00                                 " +
				"   1": pending,
			"     77 0.55500 a-1        me           Eqw   11/20/2026 10:00:00                                 " +
				"   1": pending,
			"     77 0.55500 a-1        me           r     11/20/2026 10:00:00 all.q@node3.cluster             " +
				"   1": running,
			"     77 0.55500 a-1        me           dr    11/20/2026 10:00:00 all.q@node3.cluster             " +
				"   1": running,
			"denied: job \"77\" does not exist": ended, "error: commlib error: got select error": unknown,
		}, map[string]string{"77 0.5 a-1 me r 11/20/2026 10:00:00 all.q@node3.cluster 1": "node3.cluster"}},
		"condor": {"12.0 - 12.0\n", "12", map[string]state{
			"1 undefined\n": pending, "2 slot1_1@node7\n": running, "5 undefined\n": pending, "4 undefined\n": ended,
			"Couldn't find/remove all jobs in cluster 12": ended, "-- Failed to fetch ads from: " +
				"<10.0.0.1:9618>": unknown,
		}, map[string]string{"2 slot1_1@node7\n": "node7", "1 undefined\n": ""}},
		"flux": {"ƒ2oeqVkz\n", "ƒ2oeqVkz", map[string]state{
			"S;\n": pending, "D;": pending, "R;node1\n": running, "C;node1": running, "CD;node1\n": ended,
			"CA;\n":                             ended,
			"flux-jobs: ERROR: JobID x unknown": ended, "flux-jobs: ERROR: Unable to connect to Flux": unknown,
			"flux-cancel: ERROR: job is inactive": ended,
		}, map[string]string{"R;node1\n": "node1"}},
		other: {"Submitted batch job 9\n", "9", map[string]state{
			"9 R n1": running, "PENDING": pending, "9 COMPLETED": ended, "RUNNING": running, "?": unknown,
		}, nil},
	} {
		text, err := json.Marshal(map[string]any{"system": name, "submit": "x {script}", "status": "x {id}",
			"cancel": "x {id}"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := read(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := &executor{plan: p}
		if got := found(p.id, c.submitted); got != c.id {
			t.Errorf("%s: the id is %q", name, got)
		}
		for text, want := range c.states {
			if got := e.stateIn(text); got != want {
				t.Errorf("%s: %q is %d, want %d", name, text, got, want)
			}
		}
		for text, want := range c.hosts {
			if got := strings.Join(e.hostsIn(text), " "); got != want {
				t.Errorf("%s: %q has the nodes %q, want %q", name, text, got, want)
			}
		}
	}
}

// The states of Grid Engine's table (sge_status), and lists of nodes.
func TestStatesAndNodes(t *testing.T) {
	opened := func(name string) *executor {
		p, err := read([]byte(`{"system": "` + name + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return &executor{plan: p}
	}
	sge := opened("sge")
	for want, letters := range map[state]string{pending: "qw hqw hRwq Rq Eqw Ehqw EhRqw",
		running: "r t Rr Rt s ts S tS T tT Rs Rts RS RtS RT RtT dr dt dRr dRt ds dS dT dRs dRS dRT"} {
		for _, l := range strings.Fields(letters) {
			line := fmt.Sprintf("     77 0.55500 a-1        me           %-5s 11/20/2026 10:00:00 all.q@n3   1", l)
			if got := sge.stateIn(line); got != want {
				t.Errorf("%s is %d, want %d", l, got, want)
			}
		}
	}
	flux := opened("flux")
	for text, want := range map[string]string{"R;node[08-09,11],login1\n": "node08 node09 node11 login1",
		"R;n[1-2]x[3,4]": "n1x3 n1x4 n2x3 n2x4", "R;n[9-10]": "n9 n10", "R;n[1-99999999]": "", "R;n[a-b]": "",
		"R;n[1": "n[1"} {
		if got := strings.Join(flux.hostsIn(text), " "); got != want {
			t.Errorf("%q has the nodes %q, want %q", text, got, want)
		}
	}
}

// docs/BATCH.md has the templates of the systems as they are.
func TestDocumentedTemplates(t *testing.T) {
	text, err := os.ReadFile("../../../docs/BATCH.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range systems {
		if name == other {
			continue
		}
		_, section, found := strings.Cut(string(text), "\n### `"+string(name)+"`")
		if !found {
			t.Errorf("docs/BATCH.md has no section about %s", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for key, value := range map[string]string{"submit": s.Submit, "status": s.Status, "cancel": s.Cancel,
			"list": s.List, "launch": s.Launch} {
			if want := key + ": " + value + "\n"; value != "" && !strings.Contains(unwrapped(section), want) {
				t.Errorf("docs/BATCH.md does not say of %s:\n%s", name, want)
			}
		}
	}
}

// unwrapped joins lines that continue.
func unwrapped(text string) string { return strings.ReplaceAll(text, "\n    ", " ") }

// A list of all jobs: a line begins with the job's id; a job that is not in two lists has ended.
func TestLists(t *testing.T) {
	p, err := read([]byte(`{"system": "sge"}`))
	if err != nil {
		t.Fatal(err)
	}
	e := &executor{plan: p}
	text := "job-ID prior name user state\n------\n   7 0.5 a-1 me r 11/20/2026 10:00:00 q@n1 1\n  70 0.5 b me " +
		"qw 11/20/2026 1\n"
	for id, want := range map[string]state{"7": running, "70": pending, "0": absent, "job-ID": unknown} {
		if got, _ := e.inLines(text, id); got != want {
			t.Errorf("%s is %d, want %d", id, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		note string
		gpus int
		want []string
	}{
		{"n1|0,1", 2, []string{"0", "1"}}, {"n1|", 2, []string{"0", "1"}}, {"n1|3,GPU-a", 2, []string{"3", "GPU-a"}},
		{"n1|5", 0, nil}, {"n1", 1, []string{"0"}}, {"n1|1,2,3", 2, []string{"0", "1"}},
	} {
		if got := place(strings.Split(c.note, "|"), c.gpus); got.Node != "n1" || !slices.Equal(got.Devices, c.want) {
			t.Errorf("%s: %+v", c.note, got)
		}
	}
}

// FuzzRecord: no file in the place of the record makes the executor panic, or use another name than one
// that it writes.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{``, `{}`, `{"format":"tunehost batch ` +
		`jobs","version":1,"leases":{"a-1":{"id":"7","bundles":1}}}`,
		`{"format":"tunehost batch jobs","version":1,"leases":{"../x":{"id":"7","bundles":1}}}`,
		`{"format":"tunehost batch jobs","version":1,"leases":{"a-1":null}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		leases, err := decode([]byte(text))
		for name, l := range leases {
			if err != nil || l == nil || !plainName(name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
