package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// copies are the pods into which the agent's program is copied, or was.
type copies struct {
	mu       sync.Mutex
	done     map[types.UID]*copied
	uncached sync.Once // it was said
}

// copied is a pod into which the agent's program is copied.
type copied struct {
	mu      sync.Mutex
	is      bool
	why     string
	devices []string // once it is copied
}

func (c *copied) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.is
}

// trouble is why it could not be copied yet, or "".
func (c *copied) trouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

func (c *copies) of(uid types.UID) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done[uid]
}

// clear forgets all, whose leases have ended.
func (c *copies) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.done)
}

func (c *copies) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.done, uid)
}

// begin copies the agent's program into a pod, until it succeeds or the lease ends.
func (c *copies) begin(e *executor, ctx context.Context, p *corev1.Pod) {
	one := &copied{}
	c.mu.Lock()
	c.done[p.UID] = one
	c.mu.Unlock()
	e.following.Go(func() {
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
			devices, err := e.prepare(ctx, p)
			one.mu.Lock()
			if err == nil {
				one.is, one.why, one.devices = true, "", devices
			} else {
				one.why = fmt.Sprintf("the tunehost program could not be copied into the pod %s: %s", p.Name,
					oneLine(err.Error()))
			}
			one.mu.Unlock()
			e.soon()
			if err == nil {
				for i := range gpusOf(p) {
					e.following.Go(func() { e.keepBridge(ctx, p, firstBundle(p)+i) })
				}
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
}

// prepareWithin bounds the copying.
const prepareWithin = 10 * time.Minute

// prepare copies the agent's program into a pod, and asks which GPUs it has.
func (e *executor) prepare(ctx context.Context, p *corev1.Pod) (devices []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	if e.x.Agent != nil && e.Program == "" {
		if err := e.copyAgent(ctx, p.Name); err != nil {
			return nil, err
		}
	}
	if slices.Max(gpusOf(p)) == 0 {
		return nil, nil
	}
	return e.devices(ctx, p)
}

// copyScript takes the program from the cache of the node, or else from its input, compressed if the first argument
// says so. Only a program with the right checksum gets the name that startScript waits for. It prints uncached if the
// cache could not take the program.
const copyScript = `set -e
umask 022
sum=$1 how=$2 cache=$3
right() { [ "$(sha256sum < "$1" | cut -c1-64)" = "$sum" ]; }
mkdir -p /tunehost/bin
new=/tunehost/bin/new.$$
trap 'rm -f "$new"' EXIT
case $how in
test)
	[ ! -x /tunehost/bin/tunehost ] || { echo there; exit 0; }
	if [ -n "$cache" ] && [ -f "$cache/$sum" ] && cp "$cache/$sum" "$new" 2>/dev/null && right "$new"; then
		chmod 755 "$new"; mv "$new" /tunehost/bin/tunehost; echo there; exit 0
	fi
	if command -v gzip >/dev/null; then echo gzip; else echo plain; fi; exit 0 ;;
gzip) gzip -dc > "$new" ;;
plain) cat > "$new" ;;
esac
right "$new" || { echo "the copy has another checksum" >&2; exit 1; }
chmod 755 "$new"
if [ -n "$cache" ] && ! { cp "$new" "$cache/new.$$" && mv -f "$cache/new.$$" "$cache/$sum"; } 2>/dev/null; then
	rm -f "$cache/new.$$" 2>/dev/null || :
	echo uncached
fi
mv "$new" /tunehost/bin/tunehost`

// copyAgent copies the agent's program into a pod.
func (e *executor) copyAgent(ctx context.Context, pod string) error {
	cache := ""
	if e.Cache != "" {
		cache = cached
	}
	script := func(how string, in io.Reader) (string, error) {
		return e.output(ctx, pod, in, "sh", "-c", copyScript, "sh", e.x.Agent.SHA256, how, cache)
	}
	how, err := script("test", nil)
	if err != nil || how == "there" {
		return err
	}
	if how == "gzip" {
		in, err := e.packed.open(e.x.Agent.Path)
		if err != nil {
			return err
		}
		return e.cachedBy(script(how, in))
	}
	f, err := os.Open(e.x.Agent.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	return e.cachedBy(script(how, f))
}

// cachedBy warns once if the cache does not take the program: pods whose user is not root may not be able to write
// there, since the kubelet makes the folder for root.
func (e *executor) cachedBy(said string, err error) error {
	if err == nil && said == "uncached" {
		e.copies.uncached.Do(func() {
			warn(fmt.Sprintf("cache: pods cannot write to the folder %s of their node, so that tunehost's program is "+
				"copied into each of them: make it writable for the user of the pods on each node, or leave cache out",
				e.Cache))
		})
	}
	return err
}

// packed is the agent's program, compressed once for all pods. Its file has no name, so that nothing is left of it.
type packed struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// open returns what is to be sent.
func (p *packed) open(path string) (io.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		file, err := os.CreateTemp("", "tunehost-packed-")
		if err != nil {
			return nil, err
		}
		_ = os.Remove(file.Name()) // the system removes what is left of it
		if p.size, err = compress(path, file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		p.file = file
	}
	return io.NewSectionReader(p.file, 0, p.size), nil
}

func (p *packed) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close()
	}
}

// compress compresses a file, and returns the size of the result.
func compress(path string, to *os.File) (size int64, err error) {
	from, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(z, from); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return to.Seek(0, io.SeekCurrent)
}

// output runs a command in a pod and returns what it prints.
func (e *executor) output(ctx context.Context, pod string, in io.Reader, command ...string) (string, error) {
	var out, errs bytes.Buffer
	err := e.cluster.exec(ctx, pod, command, in, &out, &errs)
	if err != nil && errs.Len() > 0 {
		return "", fmt.Errorf("%s: %w", lastLine(errs.String()), err)
	}
	return strings.TrimSpace(out.String()), err
}

// devicesScript prints the GPUs of a container by their UUIDs, as the device plugin or the driver names them.
const devicesScript = `case $NVIDIA_VISIBLE_DEVICES in
GPU-*|MIG-*) echo "$NVIDIA_VISIBLE_DEVICES" ;;
*) nvidia-smi --query-gpu=uuid --format=csv,noheader 2>/dev/null | paste -sd, ;;
esac; exit 0`

// devices are the GPUs of a pod, as CUDA_VISIBLE_DEVICES names them there. Without UUIDs they have the numbers from 0
// that they have in the container.
func (e *executor) devices(ctx context.Context, p *corev1.Pod) ([]string, error) {
	text, err := e.output(ctx, p.Name, nil, "sh", "-c", devicesScript)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, gpus := range gpusOf(p) {
		n += gpus
	}
	if list := strings.Split(strings.ReplaceAll(text, " ", ""), ","); len(list) == n && list[0] != "" {
		return list, nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list, nil
}
