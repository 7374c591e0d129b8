package local

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Limits of virtual devices: GPUs of a node, nodes, and GPUs of all nodes.
const (
	maxGPUs    = 4096
	maxNodes   = 100_000
	maxAllGPUs = 1 << 20
)

// Override changes what a node offers: "cpu=16,gpu=2,NAME=n,memory=64GiB". Unnamed resources stay as
// they were found. Additional GPUs are virtual, with the ids "0", "1", ….
func Override(n Node, text string) (Node, error) {
	amounts, err := parseAmounts(text)
	if err != nil {
		return Node{}, fmt.Errorf("resources %q: %w", text, err)
	}
	n.Amounts = maps.Clone(n.Amounts)
	if n.Amounts == nil {
		n.Amounts = map[string]string{}
	}
	maps.Copy(n.Amounts, amounts)
	if gpu, ok := amounts["gpu"]; ok {
		count, err := strconv.Atoi(gpu)
		if err != nil || count < 0 || count > maxGPUs {
			return Node{}, fmt.Errorf("resources %q: gpu is %q: expected a whole number from 0 to %d", text, gpu,
				maxGPUs)
		}
		n.setGPUs(someGPUs(n.GPUs, count))
	}
	return n, nil
}

func someGPUs(found []GPU, count int) []GPU {
	if count <= len(found) {
		return slices.Clone(found[:count])
	}
	gpus := make([]GPU, count)
	for i := range gpus {
		gpus[i].ID, gpus[i].Index = strconv.Itoa(i), strconv.Itoa(i)
	}
	return gpus
}

// parseAmounts reads NAME=AMOUNT, …; the amounts stay text.
func parseAmounts(text string) (map[string]string, error) {
	amounts := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, ok := strings.Cut(part, "=")
		name, amount = strings.TrimSpace(name), strings.TrimSpace(amount)
		switch {
		case !ok || name == "" || amount == "" || strings.ContainsAny(name, " \t()"):
			return nil, fmt.Errorf("%q is not NAME=AMOUNT, as in cpu=16,gpu=2,memory=64GiB", part)
		case amounts[name] != "":
			return nil, fmt.Errorf("%s is given twice", name)
		case amount[0] < '0' || amount[0] > '9':
			return nil, fmt.Errorf("%s is %q: expected a number from 0, with a unit if any", name, amount)
		}
		amounts[name] = amount
	}
	return amounts, nil
}

// Virtual makes nodes that do not exist, for tests and simulation: "2x(cpu=4,gpu=1)+1x(cpu=64)" or
// "(cpu=4)". Each has GPUs of its own, "0", "1", ….
func Virtual(text string) ([]Node, error) {
	var nodes []Node
	gpus := 0
	for part := range strings.SplitSeq(text, "+") {
		count, inner, err := parseGroup(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("nodes %q: %w", text, err)
		}
		n, err := Override(Node{}, inner)
		if err != nil {
			return nil, fmt.Errorf("nodes %q: %w", text, err)
		}
		if len(nodes)+count > maxNodes {
			return nil, fmt.Errorf("nodes %q: more than %d", text, maxNodes)
		}
		if gpus += count * len(n.GPUs); gpus > maxAllGPUs {
			return nil, fmt.Errorf("nodes %q: more than %d GPUs", text, maxAllGPUs)
		}
		for range count {
			n.Name = "node" + strconv.Itoa(len(nodes))
			n.Amounts, n.GPUs = maps.Clone(n.Amounts), slices.Clone(n.GPUs)
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// parseGroup splits "2x(…)" or "(…)".
func parseGroup(part string) (count int, inner string, err error) {
	times, rest, ok := strings.Cut(part, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return 0, "", fmt.Errorf("%q is not a group, as in 2x(cpu=4,gpu=1)", part)
	}
	if times == "" {
		return 1, inner, nil
	}
	times, hasX := strings.CutSuffix(strings.TrimSpace(times), "x")
	count, err = strconv.Atoi(times)
	if !hasX || err != nil || count < 1 {
		return 0, "", fmt.Errorf("%q is not a number of nodes, as in 2x(cpu=4,gpu=1)", part)
	}
	return count, inner, nil
}
