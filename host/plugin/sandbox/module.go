package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/tunehost/tunehost/host/plugin/sandbox/scan"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
)

// module is a compiled module, from which instances are made.
type module struct {
	config   *Config
	log      hclog.Logger
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	settings wazero.ModuleConfig
	roots    []*os.Root // the directories that it may read
}

// Compile compiles a module into the cache, without running any of it.
func Compile(ctx context.Context, c Config) error {
	c.CompileTime = cmp.Or(c.CompileTime, math.MaxInt64) // the process may be doing other work too
	m, err := load(ctx, &c, hclog.NewNullLogger())
	if err == nil {
		m.close(ctx)
	}
	return err
}

// load makes a module ready to be instantiated.
func load(ctx context.Context, c *Config, log hclog.Logger) (*module, error) {
	wasm, err := read(c)
	if err != nil {
		return nil, err
	}
	found, err := scan.Check(wasm, c.memory())
	if err == nil {
		err = conforms(found)
	}
	if err != nil {
		return nil, err
	}
	m := &module{config: c, log: log}
	if err := m.build(ctx, found.Code); err != nil {
		m.close(ctx)
		return nil, err
	}
	return m, nil
}

// read reads the module's file once, so that what is checked is what runs.
func read(c *Config) ([]byte, error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	wasm, err := io.ReadAll(io.LimitReader(f, abi.MaxModuleBytes+1))
	if err != nil {
		return nil, err
	}
	if len(wasm) > abi.MaxModuleBytes {
		return nil, fmt.Errorf("it is larger than the %d MiB allowed", abi.MaxModuleBytes>>20)
	}
	sum := sha256.Sum256(wasm)
	if got := hex.EncodeToString(sum[:]); c.SHA256 != "" && got != c.SHA256 {
		return nil, fmt.Errorf("%s has changed: its SHA-256 is %s, the lock file says %s", c.Path, got, c.SHA256)
	}
	return wasm, nil
}

// build compiles the module and provides its imports.
func (m *module) build(ctx context.Context, code []byte) (err error) {
	settings := wazero.NewRuntimeConfig().WithMemoryLimitPages(m.config.pages()).WithDebugInfoEnabled(false)
	if cache := openCache(m.config.Cache, m.log); cache != nil {
		settings = settings.WithCompilationCache(cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, settings)
	if err := m.compile(ctx, code); err != nil {
		return err
	}
	if err := m.provideWASI(ctx); err != nil {
		return err
	}
	if err := m.provide(ctx); err != nil {
		return err
	}
	m.settings, err = m.environment()
	return err
}

// provideWASI provides the functions of WASI, and checks that they include those that the module
// imports.
func (m *module) provideWASI(ctx context.Context) error {
	_, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime)
	if err != nil {
		return err
	}
	there := m.runtime.Module(wasi).ExportedFunctionDefinitions()
	for _, f := range m.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		have, ok := there[name]
		if module == wasi && !(ok && slices.Equal(f.ParamTypes(), have.ParamTypes()) &&
			slices.Equal(f.ResultTypes(), have.ResultTypes())) {
			return fmt.Errorf("it imports %q of %q, which does not exist there, or not with these types", name, wasi)
		}
	}
	return nil
}

// environment is what the module may use: its grants, and nothing else. wazero's own clock and random
// numbers are the same at each start.
func (m *module) environment() (wazero.ModuleConfig, error) {
	grants := &m.config.Grants
	settings := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	for _, name := range grants.Env {
		if value, ok := os.LookupEnv(name); ok {
			settings = settings.WithEnv(name, value)
		}
	}
	if grants.Clock {
		settings = settings.WithSysWalltime().WithSysNanotime().WithSysNanosleep()
	}
	if len(grants.Read) == 0 {
		return settings, nil
	}
	files := wazero.NewFSConfig()
	for _, dir := range grants.Read {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("the directory that it may read cannot be opened: %w", err)
		}
		m.roots = append(m.roots, root)
		// Never WithDirMount: it follows links out of the directory.
		files = files.WithFSMount(root.FS(), dir)
	}
	return settings.WithFSConfig(files), nil
}

func (m *module) close(ctx context.Context) {
	if m.runtime != nil {
		_ = m.runtime.Close(ctx)
	}
	for _, root := range m.roots {
		_ = root.Close()
	}
}

// withMemory makes instances use our memory.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(newMemory))
}

// firstLine returns an error without wazero's stack.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
