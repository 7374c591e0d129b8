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

// Command is the hidden first argument of a runner's process; the second is its configuration in JSON.
const Command = "plugin-sandbox"

const (
	// StartTimeout is the time to load a module, which includes compiling: about 3 s for a Go program on a
	// free processor.
	StartTimeout = 2 * time.Minute
	// closeGrace is short because a module has nothing to clean up.
	closeGrace = time.Second
	// defaultMemory is the memory of a module.
	defaultMemory = 256 << 20
)

// Config describes a module to run.
type Config struct {
	Kind sdk.Kind
	Name string
	// Path is the module's file, absolute. SHA256, if set, is its required hex checksum.
	Path   string
	SHA256 string `json:",omitempty"`
	// Memory is the module's memory limit in bytes, rounded down to 64 KiB; 0: 256 MiB.
	Memory int64
	Grants Grants
	// CompileMemory is the compiler's memory limit in bytes; 0: 1 GiB.
	CompileMemory int64 `json:",omitempty"`
	// CompileTime is the compiler's limit of processor time; 0: in proportion to the module's size.
	CompileTime time.Duration `json:",omitempty"`
	// Cache is the directory of compiled modules, made if necessary; "": none.
	Cache string
}

// Grants is what a module may use beyond the sandbox. The zero value grants nothing.
type Grants struct {
	// Read are absolute directories that the module sees at the same path and may read; links do not lead
	// out of them.
	Read []string `json:",omitempty"`
	// Write are directories that it may change. This is not supported yet: a module that asks for them is
	// not started.
	Write []string `json:",omitempty"`
	// Env names the variables of the host's environment that it sees.
	Env []string `json:",omitempty"`
	// Clock lets it see the time and sleep.
	Clock bool `json:",omitempty"`
}

// Process returns how to start the runner: program is the tunehost binary. The caller adds the log.
func (c Config) Process(program string) (process.Config, error) {
	if err := c.check(); err != nil {
		return process.Config{}, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return process.Config{}, err
	}
	return process.Config{Program: process.Program{
		Kind: c.Kind, Name: c.Name,
		Path: program, Args: []string{Command, string(text)},
		Inherit: c.Grants.Env, StartTimeout: StartTimeout, CloseGrace: closeGrace,
	}}, nil
}

func (c *Config) check() error {
	if len(c.Grants.Write) > 0 {
		return errors.New("a WASM module cannot be granted directories to write to; it may read directories, and its " +
			"trainables save states")
	}
	for _, path := range append([]string{c.Path}, c.Grants.Read...) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("the path %q is not absolute", path)
		}
	}
	return nil
}

// pages returns the memory limit of the module in WASM pages.
func (c *Config) pages() uint32 {
	memory := c.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	const page = 64 << 10
	return uint32(min(max(memory/page, 1), 1<<16))
}

func (c *Config) compileMemory() int64 { return cmp.Or(c.CompileMemory, defaultCompileMemory) }

// compileTime returns the limit for a module of this size.
func (c *Config) compileTime(size int) time.Duration {
	return cmp.Or(c.CompileTime, leastCompileTime+time.Duration(size)*compileTimePerMiB>>20)
}

func (c *Config) memory() uint64 { return uint64(c.pages()) << 16 }

// DefaultCache returns the user's directory of compiled modules, or "".
func DefaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tunehost", "wasm")
}
