package slurm

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/internal/shelltext"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// options are the user's settings for the jobs.
type options struct {
	Partition  string
	Time       string
	Notice     float64
	Args       []string
	Setup      string
	GPU        string
	Memory     float64
	Program    string
	Pool       pool
	Connection way
	Send       bool
	Commands   float64

	limit time.Duration // Time; 0: none
	salt  salt          // if Connection is stdio
}

// pool is the source of leases.
type pool string

const (
	auto       pool = "auto"
	jobs       pool = "jobs"
	allocation pool = "allocation"
)

// maxCommand bounds the time of a command; the call of the host that waits for it has a limit too.
const maxCommand = 3600

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.String("partition", &o.Partition, "",
			"The partition of the jobs (sbatch --partition). Empty: the cluster's default."),
		option.String("time", &o.Time, "",
			"The time limit of each job: a duration such as 90m, 4h or 2d, or as Slurm writes it, such as 4:00:00 or "+
				"1-12. Trials continue in another job when it ends. Empty: the partition's."),
		option.Float("notice", &o.Notice, 60, option.From(0).To(86400),
			"Seconds before the time limit at which trials save and leave; less than time."),
		option.Of("args", &o.Args, nil, option.List(option.NonEmpty()),
			"More arguments of sbatch, such as --account=lab; in an allocation, of srun."),
		option.String("setup", &o.Setup, "",
			"Lines of bash that run on the first node of each job before trials, such as: module load cuda. "+
				"A line that fails ends the job."),
		option.Of("gpu", &o.GPU, "gpu", option.NonEmpty(),
			"The generic resource (gres) of Slurm that a GPU is, such as gpu or gpu:a100."),
		option.Float("memory_gib", &o.Memory, 0, option.From(0),
			"GiB of memory of each bundle that requests none; 0: the cluster's default."),
		option.String("program", &o.Program, "",
			"The path of the tunehost program on the nodes. Empty: the same as here."),
		option.Bool("send", &o.Send, false,
			"Send the program to the nodes, where they do not have it at the same path: once to each, to /tmp."),
		option.Enum("pool", &o.Pool, auto,
			"Where leases come from: jobs (each lease is a job), allocation (the job in which tunehost runs), or "+
				"auto: the allocation if tunehost runs in one.", auto, jobs, allocation),
		option.Enum("connection", &o.Connection, dial,
			"How agents on the nodes and the host are connected: dial (agents connect to the host), or stdio (through "+
				"srun, where the network does not let them).", dial, stdio),
		option.Float("command_timeout", &o.Commands, 60, option.From(1).To(maxCommand),
			"Seconds after which a command of Slurm is killed and tried again."),
	}
})

// read reads the options of an experiment.
func read(text []byte) (options, error) {
	o, err := declared.Read(text)
	if err != nil {
		return o, err
	}
	for _, check := range []func() error{o.checkTime, o.checkArgs, o.checkNames, o.checkSetup, o.checkPool} {
		if err := check(); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (o *options) checkTime() error {
	if o.Time == "" {
		return nil
	}
	limit, ok := parseTime(o.Time)
	if !ok || limit < time.Minute {
		return option.Wrong("time", o.Time, "at least a minute, such as 90m, 4h, 2d, 4:00:00 or 1-12")
	}
	o.limit = limit
	if o.notice() >= limit {
		return option.Wrong("notice", o.Notice, "less than time, which is %v", o.Time)
	}
	return nil
}

func (o *options) notice() time.Duration { return time.Duration(o.Notice * float64(time.Second)) }

func (o *options) timeout() time.Duration { return time.Duration(o.Commands * float64(time.Second)) }

// word matches names of Slurm, which become arguments of commands.
var word = lazily.Regexp(`^[A-Za-z0-9_.,:+-]*$`)

func (o *options) checkNames() error {
	for name, value := range map[string]string{"partition": o.Partition, "gpu": o.GPU} {
		if !word().MatchString(value) || strings.HasPrefix(value, "-") {
			return option.Wrong(name, value, "letters, digits and _.,:+-")
		}
	}
	if o.Program != "" && (!strings.HasPrefix(o.Program, "/") || strings.ContainsRune(o.Program, 0)) {
		return option.Wrong("program", o.Program, "an absolute path")
	}
	if o.Send && o.Program != "" {
		return option.Wrong("program", o.Program, "no program with send: true, which chooses the path itself")
	}
	return nil
}

// checkSetup finds an open quote before a job waits for nodes.
func (o *options) checkSetup() error {
	if strings.ContainsRune(o.Setup, 0) {
		return option.Wrong("setup", o.Setup, "text without NUL characters")
	}
	if said := shelltext.Mistake(o.Setup, shelltext.Bash, []string{"bash", "-n"}); said != "" {
		return option.Wrong("setup", o.Setup, "lines of bash, which says of these: %s", said)
	}
	return nil
}

func (o *options) checkPool() error {
	if o.Pool == allocation && os.Getenv("SLURM_JOB_ID") == "" {
		return option.Wrong("pool", o.Pool, "jobs, because tunehost runs in no allocation (SLURM_JOB_ID is not set)")
	}
	return nil
}

// inside reports whether leases are steps of the allocation in which the host runs.
func (o *options) inside() bool {
	return o.Pool == allocation || o.Pool == auto && os.Getenv("SLURM_JOB_ID") != ""
}

// ownArguments are the arguments of sbatch that this plugin sets, by long and short name, with what is
// said of them.
var ownArguments = []struct{ long, short, instead string }{
	{"partition", "p", "set the option partition"},
	{"time", "t", "set the option time"},
	{"signal", "", "set the option notice"},
	{"ntasks", "n", "set resources or placement"},
	{"nodes", "N", "set resources or placement"},
	{"cpus-per-task", "c", "set resources"},
	{"mem", "", "set resources"},
	{"mem-per-cpu", "", "set resources"},
	{"mem-per-gpu", "", "set resources"},
	{"gres", "", "set resources, and the option gpu"},
	{"gpus", "G", "set resources, and the option gpu"},
	{"gpus-per-node", "", "set resources, and the option gpu"},
	{"gpus-per-task", "", "set resources, and the option gpu"},
	{"output", "o", logged},
	{"error", "e", logged},
	{"open-mode", "", logged},
	{"label", "l", logged},
	{"pty", "", logged},
	{"job-name", "J", ""},
	{"comment", "", ""},
	{"array", "a", ""},
	{"wrap", "", ""},
	{"wait", "W", ""},
	{"requeue", "", ""},
	{"test-only", "", ""},
	{"parsable", "", ""},
	{"help", "h", ""},
	{"usage", "", ""},
	{"version", "V", ""},
	{"quiet", "Q", ""},
	{"verbose", "v", ""},
	{"jobid", "", ""},
	{"multi-prog", "", ""},
}

// logged is where the output of jobs is. tunehost reads it there, in an allocation also where bundles are.
const logged = "tunehost writes what jobs print into .slurm/NAME.log of the experiment's directory"

// checkArgs refuses arguments that this plugin sets itself.
func (o *options) checkArgs() error {
	value := false // the next argument may be the value of the one before
	for _, a := range o.Args {
		switch {
		case strings.ContainsAny(a, "\x00\n\r"):
			return option.Wrong("args", a, "arguments of one line")
		case !strings.HasPrefix(a, "-"):
			if !value || a == ":" {
				return option.Wrong("args", a, "arguments that begin with -, and their values")
			}
			value = false
			continue
		case a == "-" || a == "--":
			return option.Wrong("args", a, "arguments of sbatch, such as --account=lab")
		}
		for _, m := range ownArguments {
			if names(a, m.long, m.short) {
				return option.Wrong("args", a, "other arguments; %s",
					cmp.Or(m.instead, "tunehost sets this one itself"))
			}
		}
		value = !strings.Contains(a, "=")
	}
	return nil
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// names reports whether an argument is the option, as getopt reads it: long names may be abbreviated.
func names(arg, long, short string) bool {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, _ = strings.Cut(name, "=")
		return name == long || len(name) >= 2 && strings.HasPrefix(long, name) && !slices.Contains(unambiguous, name)
	}
	return short != "" && strings.HasPrefix(arg, "-"+short)
}

// unambiguous are names of other arguments of sbatch that are also the beginning of one of ownArguments.
var unambiguous = []string{"qos", "gid", "uid", "export", "constraint", "nice"}
