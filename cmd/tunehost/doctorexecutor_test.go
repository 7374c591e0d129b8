package main

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/validate/probe"
)

// The doctor takes from an executor where the host listens, and passes the rest to the plugin.
func TestDoctorReadsKeysOfTheHost(t *testing.T) {
	var s probe.Subject
	f := executorFlags{executor: "{plugin: slurm, partition: gpu, host_port: 7000, host_address: login1, idle: 1m}"}
	if name, err := f.ref(&s); err != nil || name != "slurm" || s.Port != 7000 || s.Address != "login1" ||
		string(s.Options) != `{"partition":"gpu"}` {
		t.Errorf("%q %+v %s %v", name, s, s.Options, err)
	}
	f.executor = "{plugin: slurm, rate: 1e-3, id: 9007199254740993}" // numbers are read as in an experiment file
	if _, err := f.ref(&s); err != nil || string(s.Options) != `{"id":9007199254740993,"rate":1e-3}` {
		t.Errorf("%s %v", s.Options, err)
	}
	for text, want := range map[string]string{
		"{plugin: slurm, host_port: 0}":      "host_port is 0; allowed: 1 to 65535",
		"{plugin: slurm, host_port: x}":      "host_port is x; allowed: 1 to 65535",
		"{plugin: slurm, host_address: [1]}": "host_address is [1]; write a name",
		"{partition: gpu}":                   "--executor has no plugin",
	} {
		f.executor = text
		if _, err := f.ref(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
