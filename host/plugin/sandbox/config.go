package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Command is the hidden first argument of a runner's process; its configuration, in
// JSON, is the second.
const Command = "plugin-sandbox"

const (
	// StartTimeout is the time to load a module in, which is to compile it: about
	// 3 s for a Go program on a processor of its own.
	StartTimeout = 2 * time.Minute
	// closeGrace is short because a module has nothing to clean up.
	closeGrace = time.Second
	// defaultMemory is what a module may have.
	defaultMemory = 256 << 20
)

// Extension is that of a module's file.
const Extension = ".wasm"

// Config is a module to be run.
type Config struct {
	Kind sdk.Kind
	Name string
	// Path is the module's file, absolute. SHA256, if set, is the hex checksum that
	// it must have.
	Path   string
	SHA256 string `json:",omitempty"`
	// Memory is what the module may have, in bytes, rounded down to 64 KiB; 0:
	// 256 MiB.
	Memory int64
	Grants Grants
	// CompileMemory is what the compiler may take, in bytes; 0: 1 GiB.
	CompileMemory int64 `json:",omitempty"`
	// CompileTime is the processor time that the compiler may take; 0: in proportion to
	// the module's size.
	CompileTime time.Duration `json:",omitempty"`
	// Cache is the directory of compiled modules, made if need be; "": none.
	Cache string
}

// Grants is what a module may have beyond the sandbox. The zero value is nothing.
type Grants struct {
	// Read are directories, absolute, that it finds at the same place, and in which
	// it may read; links do not lead out of them.
	Read []string `json:",omitempty"`
	// Write are directories that it may change. No module can be given any yet: one
	// that asks for them is not started.
	Write []string `json:",omitempty"`
	// Env names variables of the host's environment that it sees.
	Env []string `json:",omitempty"`
	// Clock: it sees the time, and sleeps when it says so.
	Clock bool `json:",omitempty"`
}

// Process is how to start the runner: program is the tunehost binary. The caller adds
// where its log goes.
func (c Config) Process(program string) (process.Config, error) {
	if err := c.check(); err != nil {
		return process.Config{}, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return process.Config{}, err
	}
	return process.Config{
		Kind: c.Kind, Name: c.Name,
		Path: program, Args: []string{Command, string(text)},
		Inherit: c.Grants.Env, StartTimeout: StartTimeout, CloseGrace: closeGrace,
	}, nil
}

func (c *Config) check() error {
	if len(c.Grants.Write) > 0 {
		return errors.New("a WASM module cannot be granted directories to write to; it may read directories, and its trainables save states")
	}
	for _, path := range append([]string{c.Path}, c.Grants.Read...) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("the path %q is not absolute", path)
		}
	}
	return nil
}

// pages is the memory that the module may have, in the unit of WASM.
func (c *Config) pages() uint32 {
	memory := c.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	const page = 64 << 10
	return uint32(min(max(memory/page, 1), 1<<16))
}

func (c *Config) compileMemory() int64 { return cmp.Or(c.CompileMemory, defaultCompileMemory) }

// compileTime is for a module of so many bytes.
func (c *Config) compileTime(size int) time.Duration {
	return cmp.Or(c.CompileTime, leastCompileTime+time.Duration(size)*compileTimePerMiB>>20)
}

func (c *Config) memory() uint64 { return uint64(c.pages()) << 16 }

// DefaultCache is the user's directory of compiled modules; "" where there is none.
func DefaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tunehost", "wasm")
}
