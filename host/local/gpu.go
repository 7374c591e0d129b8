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

// queryGPUs asks the driver's tool. Without the tool there are no GPUs; a failure of the tool is an
// error.
func queryGPUs(ctx context.Context) ([]GPU, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=index,uuid,memory.total,name",
		"--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second // for a child process that holds the pipe
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	if ctx.Err() != nil {
		err = errors.New("no answer within 10 s")
	}
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w; no GPUs are offered; if there are GPUs, use --resources gpu=N", err)
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

// visibleGPUs returns the GPUs in the user's CUDA_VISIBLE_DEVICES, in its order and by its names. As
// in CUDA, the names after an unknown one are ignored, and so are parts of devices (MIG), which
// nvidia-smi does not list.
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

// is reports whether an id in CUDA_VISIBLE_DEVICES means g: it is the index, the UUID, or the
// beginning of the UUID.
func (g GPU) is(id string) bool {
	return id == g.ID || strings.HasPrefix(id, "GPU-") && strings.HasPrefix(g.UUID, id)
}
