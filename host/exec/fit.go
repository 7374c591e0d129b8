package exec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// maxName bounds the name of a device in a message.
const maxName = 60

// misfit returns what is wrong with a grant, or "". The request of an adopted lease is unknown
// here.
func (l *lease) misfit(granted []sdk.GrantedBundle) string {
	if why := misnamed(granted); why != "" || l.adopted {
		return why
	}
	asked := l.request.Bundles()
	if len(granted) != len(asked) {
		return fmt.Sprintf("%d bundles of %d", len(granted), len(asked))
	}
	for i, b := range granted {
		if want := devicesOf(asked[i]); len(b.Devices) != want {
			return fmt.Sprintf("%d devices in a bundle of %d", len(b.Devices), want)
		}
	}
	return grantedTwice(asked, granted)
}

// devicesOf returns how many devices a bundle has. A share of a device counts as one.
func devicesOf(b resource.Bundle) int { return int(math.Ceil(number(b.Get(resource.GPU)))) }

// misnamed returns what is wrong with the names of devices, which are joined with commas in the
// environment of processes.
func misnamed(granted []sdk.GrantedBundle) string {
	for _, b := range granted {
		for i, d := range b.Devices {
			if d == "" || strings.ContainsFunc(d, func(r rune) bool { return r == ',' || unicode.IsControl(r) }) {
				return "a device with the name " + quoted(d)
			}
			if slices.Contains(b.Devices[:i], d) {
				return fmt.Sprintf("the device %s twice", quoted(d))
			}
		}
	}
	return ""
}

// grantedTwice returns a device that was granted twice. Only shares of a device may be granted more
// than once.
func grantedTwice(asked []resource.Bundle, granted []sdk.GrantedBundle) string {
	type device struct{ node, name string }
	whole, seen := map[device]bool{}, map[device]bool{}
	for i, b := range granted {
		all := number(asked[i].Get(resource.GPU)) >= 1
		for _, name := range b.Devices {
			d := device{b.Node, name}
			if seen[d] && (all || whole[d]) {
				return fmt.Sprintf("the device %s twice", quoted(name))
			}
			seen[d], whole[d] = true, all
		}
	}
	return ""
}

func quoted(name string) string { return fmt.Sprintf("%q", untrusted.Line(name, maxName)) }
