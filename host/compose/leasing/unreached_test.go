package leasing

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Nothing that the file sets is ignored silently: where nothing connects to the host, its address is not used.
func TestAddressesWithoutAgents(t *testing.T) {
	for options, want := range map[string]string{
		"nodes: 2":          "",
		"host_address: me":  "a.yaml:4:26: host_address has no effect: the executor \"fake\" starts no agents",
		"host_port: 4000":   "a.yaml:4:26: host_port has no effect: the executor \"fake\" starts no agents",
		"host_grace: 1h":    "",
		"idle: 1m, cpu: 20": "",
	} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [train]}\nexecutor: {plugin: fake, "+options+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, agents := range []bool{false, true} {
			got := unreached(e, sdk.ExecutorTraits{Agents: agents})
			if agents && got != "" || !agents && (!strings.HasPrefix(got, want) || (got == "") != (want == "")) {
				t.Errorf("%s, agents %t: %q, want %q", options, agents, got, want)
			}
		}
	}
}
