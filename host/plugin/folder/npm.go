package folder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/untrusted"
)

// installed checks that a program for Node has the packages that its package.json needs: Node would say so in the
// middle of a stack, and not what to run.
func (p *Plugin) installed() error {
	if filepath.Base(p.Program) != "node" || !needsPackages(filepath.Join(p.Dir, "package.json")) {
		return nil
	}
	for dir := p.Dir; ; dir = filepath.Dir(dir) { // where Node looks for packages
		if exists(filepath.Join(dir, "node_modules")) || exists(filepath.Join(dir, ".pnp.cjs")) {
			return nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	more := ""
	if readme := filepath.Join(p.Dir, "README.md"); exists(readme) {
		more = "; " + readme + " says more"
	}
	return fmt.Errorf("%s does not exist; install the packages: cd %s && npm install --install-links%s",
		filepath.Join(p.Dir, "node_modules"), untrusted.Word(p.Dir), more)
}

// needsPackages reports whether a package.json has dependencies.
func needsPackages(file string) bool {
	text, err := os.ReadFile(file)
	var wants struct{ Dependencies map[string]string }
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // npm accepts a byte order mark
	return err == nil && json.Unmarshal(text, &wants) == nil && len(wants.Dependencies) > 0
}
