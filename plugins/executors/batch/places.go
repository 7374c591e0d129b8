package batch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// settle is how long a running job may take to write its places, for file systems that show new
// files late. If nodes do not see the folder at all, the executor waits once.
const settle = 20 * time.Second

// places returns the nodes of a running job, as its bundles have written them, or else as the
// batch system prints them; nil as long as the bundles may still write them. e.mu is held.
func (e *executor) places(name string, l *lease, text string) []sdk.GrantedBundle {
	places := make([]sdk.GrantedBundle, l.Bundles)
	hosts := e.hostsIn(text)
	for i := range places {
		if note := e.store.note(fmt.Sprint(name, placeSuffix, i)); note != nil {
			places[i] = place(note, l.GPUs)
			continue
		}
		if l.runs++; !e.apart && time.Duration(l.runs)*e.poll < settle {
			return nil
		}
		e.apart = true
		places[i] = sdk.GrantedBundle{Node: fmt.Sprintf("node %d of job %s", i, l.ID), Devices: numbers(l.GPUs)}
		if i < len(hosts) {
			places[i].Node = hosts[i]
		}
	}
	return places
}

// place returns what a bundle has written: its node, and CUDA_VISIBLE_DEVICES. If the batch system
// does not set that variable, a job sees only its own GPUs, with the first numbers.
func place(note []string, gpus int) sdk.GrantedBundle {
	b := sdk.GrantedBundle{Node: oneLine(note[0])}
	if len(note) > 1 && note[1] != "" && gpus > 0 {
		for d := range strings.SplitSeq(note[1], ",") {
			b.Devices = append(b.Devices, strings.TrimSpace(d))
		}
	}
	if len(b.Devices) != gpus || slices.Contains(b.Devices, "") {
		b.Devices = numbers(gpus)
	}
	return b
}

func numbers(n int) (list []string) {
	for i := range n {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

// maxHosts bounds the nodes of a job.
const maxHosts = 10_000

// expand returns the names that a list means, such as n08 and n09 of n[08-09].
func expand(list []string) (names []string) {
	for _, name := range list {
		before, rest, brackets := strings.Cut(name, "[")
		ranges, after, closed := strings.Cut(rest, "]")
		if !brackets || !closed {
			names = append(names, name)
			continue
		}
		for r := range strings.SplitSeq(ranges, ",") {
			first, last, _ := strings.Cut(r, "-")
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(cmp.Or(last, first))
			if err1 != nil || err2 != nil || to-from > maxHosts {
				return nil // it is no list of nodes
			}
			for n := from; n <= to && len(names) < maxHosts; n++ {
				names = append(names, expand([]string{fmt.Sprintf("%s%0*d%s", before, len(first), n, after)})...)
			}
		}
	}
	return names
}

// hostsIn returns the nodes in what the batch system prints of a job, such as n1/0*4+n2/0*4,
// 4*n1:4*n2 or n[1-2].
func (e *executor) hostsIn(text string) (hosts []string) {
	if e.hosts == nil {
		return nil
	}
	text = strings.ReplaceAll(text, "\n\t", "")
	depth := 0
	separates := func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return depth <= 0 && strings.ContainsRune("+:, ", r)
	}
	for _, h := range expand(strings.FieldsFunc(found(e.hosts, text), separates)) {
		h, _, _ = strings.Cut(h, "/")
		h = h[strings.LastIndexAny(h, "*@")+1:]
		if h != "" && h != "-" && h != "undefined" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}
