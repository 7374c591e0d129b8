package local

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The limit of a control group holds for the groups below it, so that the smallest of the enclosing
// groups counts. Groups that cannot be read (a container sees only its own) limit nothing.

// groups returns the folders of this process's control groups below /sys/fs/cgroup, from its own up to
// the root, for a controller of version 1 or for version 2.
func groups(root fs.FS, controller string) []string {
	b, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		base := "sys/fs/cgroup"
		switch {
		case f[1] == "" && controller == "":
		case controller != "" && slices.Contains(strings.Split(f[1], ","), controller):
			base = path.Join(base, f[1])
		default:
			continue
		}
		dirs = append(dirs, ancestors(base, f[2])...)
	}
	return dirs
}

func ancestors(base, group string) []string {
	var dirs []string
	for g := path.Join("/", group); ; g = path.Dir(g) {
		dirs = append(dirs, path.Join(base, g))
		if g == "/" {
			return dirs
		}
	}
}

func fieldsOf(root fs.FS, parts ...string) []string {
	b, err := fs.ReadFile(root, path.Join(parts...))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// cpuQuotaMilli returns the quota in thousandths of a CPU.
func cpuQuotaMilli(root fs.FS) (least uint64, ok bool) {
	take := func(quota, period string) {
		q, err1 := strconv.ParseUint(quota, 10, 53) // "max" and -1 are no limit
		p, err2 := strconv.ParseUint(period, 10, 53)
		if err1 != nil || err2 != nil || p == 0 {
			return
		}
		if milli := q * 1000 / p; !ok || milli < least {
			least, ok = milli, true
		}
	}
	for _, g := range groups(root, "") {
		if w := fieldsOf(root, g, "cpu.max"); len(w) == 2 {
			take(w[0], w[1])
		}
	}
	for _, g := range groups(root, "cpu") {
		q, p := fieldsOf(root, g, "cpu.cfs_quota_us"), fieldsOf(root, g, "cpu.cfs_period_us")
		if len(q) == 1 && len(p) == 1 {
			take(q[0], p[0])
		}
	}
	return least, ok
}

// memoryLimit returns bytes. Version 1 writes a huge number for no limit.
func memoryLimit(root fs.FS) (least uint64, ok bool) {
	take := func(w []string) {
		if len(w) != 1 {
			return
		}
		if n, err := strconv.ParseUint(w[0], 10, 63); err == nil && (!ok || n < least) {
			least, ok = n, true
		}
	}
	for _, g := range groups(root, "") {
		take(fieldsOf(root, g, "memory.max"))
	}
	for _, g := range groups(root, "memory") {
		take(fieldsOf(root, g, "memory.limit_in_bytes"))
	}
	return least, ok
}
