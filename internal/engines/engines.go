// Package engines has what the real clusters for tests share: scripts that start and remove them.
package engines

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Script runs a script of a cluster's folder. The daemons that it starts hold its output open, so the
// output goes into a file.
func Script(dir, name string, env []string, limit time.Duration) error {
	out, err := os.Create(filepath.Join(dir, name+".out"))
	if err != nil {
		return err
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, name))
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(text))
	}
	return nil
}

// Number returns n, or the usual number for 0, as a variable for a script.
func Number(n, usual int) string {
	if n == 0 {
		n = usual
	}
	return strconv.Itoa(n)
}
