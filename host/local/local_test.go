package local

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func files(fs map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range fs {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

const meminfo = "MemTotal:       16777216 kB\nMemFree:         100 kB\n"

func TestCPUsAndMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		cpu, memory string
	}{
		"nothing": {map[string]string{}, "8", "0"},
		"no limits": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/cpu.max": "max 100000\n", "sys/fs/cgroup/a/memory.max": "max\n"}, "8", "17179869184"},
		"version 2, the parent is tighter": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "1073741824\n"}, "1.5",
			"1073741824"},
		"container": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../x\n",
			"sys/fs/cgroup/cpu.max": "200000 100000\n"}, "2", "17179869184"},
		"tiny": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "20000 100000\n"}, "1",
			"0"},
		"version 1": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu,cpuacct:/j\n2:memory:/j\n",
			"sys/fs/cgroup/cpu,cpuacct/j/cpu.cfs_quota_us":  "250000\n",
			"sys/fs/cgroup/cpu,cpuacct/j/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
			"sys/fs/cgroup/memory/j/memory.limit_in_bytes":  "9223372036854771712\n"}, "2.5", "17179869184"},
		"garbage": {map[string]string{"proc/meminfo": "x", "proc/self/cgroup": ":\n::\n0::/\n",
			"sys/fs/cgroup/cpu.max": "1 0", "sys/fs/cgroup/memory.max": "-5"}, "8", "0"},
	} {
		n := Node{Amounts: map[string]string{}}
		root := files(c.files)
		n.Amounts["cpu"] = cpus(root, 8)
		if want := "cpu=" + c.cpu; n.String() != want {
			t.Errorf("%s: %s, want %s", name, n, want)
		}
		if got := memory(root); milliText(got*1000) != c.memory {
			t.Errorf("%s: memory %d, want %s", name, got, c.memory)
		}
	}
}

const smi = "0, GPU-aaaa, 81559, NVIDIA H100\n1, GPU-bbbb, 81559, NVIDIA H100\n2, GPU-cccc, [N/A], Other, odd " +
	"\"name\"\n"

// B-031: GPUs that the user hid from this process are not offered.
func TestVisibleGPUs(t *testing.T) {
	all, err := parseGPUs(smi)
	if err != nil || len(all) != 3 || all[1] != (GPU{ID: "1", Index: "1", UUID: "GPU-bbbb", MemoryMiB: 81559,
		Model: "NVIDIA H100"}) {
		t.Fatalf("%v, %v", all, err)
	}
	if n := len(visibleGPUs(all, "", false)); n != 3 {
		t.Errorf("unset: %d", n)
	}
	for visible, want := range map[string][]string{
		"": {}, "-1": {}, "NoDevFiles": {}, "1": {"1"}, "2,0": {"2", "0"}, " 1 , 2": {"1", "2"},
		"GPU-bb,GPU-cccc": {"GPU-bb", "GPU-cccc"}, "0,7,1": {"0"}, "0,0": {"0"},
	} {
		n := Node{GPUs: visibleGPUs(all, visible, true)}
		if got := n.IDs(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", visible, got, want)
		}
	}
	for _, bad := range []string{"NVIDIA-SMI has failed\n", "0, GPU-a\n", "0, \"GPU-a\nx"} {
		if gpus, err := parseGPUs(bad); err == nil {
			t.Errorf("%q gave %v", bad, gpus)
		}
	}
}

func fakeSMI(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestDetect(t *testing.T) {
	fakeSMI(t, "printf '"+strings.ReplaceAll(strings.ReplaceAll(smi, "\n", `\n`), `"`, `"`)+"'\n")
	t.Setenv("CUDA_VISIBLE_DEVICES", "2,1")
	n, warning := Detect(context.Background())
	if warning != "" || !slices.Equal(n.IDs(), []string{"2", "1"}) || n.Amounts["gpu"] != "2" ||
		n.Amounts["cpu"] == "" {
		t.Errorf("%+v, %s", n, warning)
	}
	fakeSMI(t, "echo broken; exit 9\n")
	n, warning = Detect(context.Background())
	if !strings.Contains(warning, "exit status 9") || n.Amounts["gpu"] != "" {
		t.Errorf("%+v, %q", n, warning)
	}
	t.Setenv("PATH", t.TempDir())
	if n, warning = Detect(context.Background()); warning != "" || len(n.GPUs) != 0 {
		t.Errorf("without the tool: %+v, %q", n, warning)
	}
}

func TestDetectGivesUp(t *testing.T) {
	fakeSMI(t, "exec sleep 1000\n")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, warning := Detect(ctx); !strings.Contains(warning, "no answer") {
		t.Errorf("warning: %q", warning)
	}
}

func TestOverride(t *testing.T) {
	found := Node{Amounts: map[string]string{"cpu": "2", "memory": "100", "gpu": "2"},
		GPUs: []GPU{{ID: "5", UUID: "GPU-a"}, {ID: "7"}}}
	before := maps.Clone(found.Amounts)
	for text, want := range map[string]struct {
		amounts string
		ids     []string
	}{
		"cpu=16":                          {"cpu=16,gpu=2,memory=100", []string{"5", "7"}},
		" cpu = 0.5 , memory=64GiB,a=1e3": {"a=1e3,cpu=0.5,gpu=2,memory=64GiB", []string{"5", "7"}},
		"gpu=1":                           {"cpu=2,gpu=1,memory=100", []string{"5"}},
		"gpu=0":                           {"cpu=2,memory=100", []string{}},
		"gpu=3":                           {"cpu=2,gpu=3,memory=100", []string{"0", "1", "2"}},
	} {
		n, err := Override(found, text)
		if err != nil || n.String() != want.amounts || !slices.Equal(n.IDs(), want.ids) {
			t.Errorf("%q: %v %v, %v", text, n, n.IDs(), err)
		}
	}
	if !maps.Equal(found.Amounts, before) {
		t.Error("the node that was given has changed")
	}
	for _, bad := range []string{"", "cpu", "cpu=", "=1", "cpu=1,cpu=2", "cpu=-1", "cpu=NaN", "gpu=0.5", "gpu=99999",
		"a b=1", "cpu=1,,gpu=1"} {
		if n, err := Override(found, bad); err == nil {
			t.Errorf("%q gave %v", bad, n)
		}
	}
}

func TestVirtual(t *testing.T) {
	nodes, err := Virtual("2x(cpu=4,gpu=1) + (cpu=64,memory=1TiB)")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		got = append(got, n.Name+" "+n.String()+" "+strings.Join(n.IDs(), ","))
	}
	want := []string{"node0 cpu=4,gpu=1 0", "node1 cpu=4,gpu=1 0", "node2 cpu=64,memory=1TiB "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"", "cpu=4", "0x(cpu=1)", "2(cpu=1)", "x(cpu=1)", "2x(cpu=1", "2x()", "2x(cpu=1)+",
		"99999999x(cpu=1)"} {
		if nodes, err := Virtual(bad); err == nil {
			t.Errorf("%q gave %v", bad, nodes)
		}
	}
}
