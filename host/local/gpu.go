package local

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queryGPUs asks the driver's tool. No tool is no GPU; a tool that fails is an
// error.
func queryGPUs(ctx context.Context) ([]GPU, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=index,uuid,memory.total,name", "--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second // for a child of it that holds the pipe
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	if ctx.Err() != nil {
		err = errors.New("no answer within 10 s")
	}
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w; no GPUs are offered: say --resources gpu=N if there are some", err)
	}
	return parseGPUs(string(out))
}

func parseGPUs(out string) ([]GPU, error) {
	r := csv.NewReader(strings.NewReader(out))
	r.TrimLeadingSpace, r.LazyQuotes, r.FieldsPerRecord = true, true, -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w", err)
	}
	var gpus []GPU
	for _, f := range rows {
		if len(f) < 4 || !strings.HasPrefix(f[1], "GPU-") {
			return nil, fmt.Errorf("nvidia-smi: unexpected answer %.100q; no GPUs are offered", strings.Join(f, ", "))
		}
		memory, _ := strconv.ParseUint(f[2], 10, 64) // "[N/A]" on some devices
		gpus = append(gpus, GPU{ID: f[0], Index: f[0], UUID: f[1], MemoryMiB: memory, Model: strings.Join(f[3:], ", ")})
	}
	return gpus, nil
}

// visibleGPUs are those that the user's CUDA_VISIBLE_DEVICES leaves, in its
// order and by its names. As in CUDA, what follows a name that is no device is
// not visible, and neither are parts of devices (MIG), which nvidia-smi does not
// list.
func visibleGPUs(all []GPU, visible string, isSet bool) []GPU {
	if !isSet {
		return all
	}
	var gpus []GPU
	for id := range strings.SplitSeq(visible, ",") {
		id = strings.TrimSpace(id)
		i := slices.IndexFunc(all, func(g GPU) bool { return g.is(id) })
		if i < 0 || slices.ContainsFunc(gpus, func(g GPU) bool { return g.UUID == all[i].UUID }) {
			break
		}
		g := all[i]
		g.ID = id
		gpus = append(gpus, g)
	}
	return gpus
}

// is says whether CUDA_VISIBLE_DEVICES means g by id: its index, or its UUID
// or the beginning of it.
func (g GPU) is(id string) bool {
	return id == g.ID || strings.HasPrefix(id, "GPU-") && strings.HasPrefix(g.UUID, id)
}
