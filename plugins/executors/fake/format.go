package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The marker of the file: a file without it belongs to somebody else.
const (
	formatName    = "tunehost fake cluster"
	formatVersion = 1
)

// marker is at the beginning of the file.
type marker struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// content is the whole file.
type content struct {
	marker
	cluster
}

// encode returns the content of the file.
func (c *cluster) encode() ([]byte, error) {
	return json.Marshal(content{marker{formatName, formatVersion}, *c})
}

// decode reads the content of the file.
func decode(text []byte) (*cluster, error) {
	var m marker
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if m.Format != formatName {
		return nil, fmt.Errorf("it has no \"format\": %q", formatName)
	}
	if m.Version != formatVersion {
		return nil, fmt.Errorf("its version is %d, this tunehost reads version %d", m.Version, formatVersion)
	}
	read := content{cluster: *newCluster(0)}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return nil, err
	}
	return &read.cluster, read.check()
}

// maxTime is in the year 2116. Sums of such a time and of an option fit an int64.
const maxTime = 1 << 62

// check refuses a cluster that this plugin cannot have written.
func (c *cluster) check() error {
	if c.Down == nil || c.Leases == nil || c.Hosts == nil {
		return errors.New("down, leases or hosts is null")
	}
	times := []int64{c.Now, c.Lost.Next, c.Cut.Next}
	times = slices.AppendSeq(times, maps.Values(c.Down))
	times = slices.AppendSeq(times, maps.Values(c.Hosts))
	for _, name := range slices.Sorted(maps.Keys(c.Leases)) {
		l := c.Leases[name]
		if err := l.check(name); err != nil {
			return fmt.Errorf("lease %q: %w", name, err)
		}
		times = append(times, l.Asked, l.Notice, l.End, l.Limit)
	}
	for name, list := range c.Agents {
		for _, p := range list {
			if p.PID <= 1 {
				return fmt.Errorf("lease %q: an agent is process %d", name, p.PID)
			}
			times = append(times, p.Cut, p.KillAt)
		}
	}
	if slices.ContainsFunc(times, func(t int64) bool { return t < 0 || t > maxTime }) {
		return errors.New("a time is before 1970 or after 2116")
	}
	return nil
}

// stages are what can have become of a lease.
var stages = []stage{waiting, granted, ending, lost, refused}

func (l *lease) check(name string) error {
	switch {
	case l == nil:
		return errors.New("it is null")
	case l.Request.Lease != name:
		return fmt.Errorf("its request is called %q", l.Request.Lease)
	case !slices.Contains(stages, l.Stage):
		return fmt.Errorf("there is no stage %q", l.Stage)
	case (l.holds() || len(l.Places) > 0) && len(l.Places) != len(l.Request.Bundles):
		return fmt.Errorf("it has %d places for %d bundles", len(l.Places), len(l.Request.Bundles))
	case slices.ContainsFunc(l.Places, place.negative):
		return errors.New("a node or GPU has a negative number")
	}
	return nil
}

func (p place) negative() bool {
	return p.Node < 0 || slices.ContainsFunc(p.GPUs, func(gpu int) bool { return gpu < 0 })
}
