// Command bundle makes the dashboard's bundle of its sources. It runs in host/web, after `npm ci`:
//
//	go run ./bundle FOLDER
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle FOLDER")
		os.Exit(2)
	}
	if err := bundle(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// bundle writes the files of the dashboard into a folder.
func bundle(to string) error {
	out := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "app"},
			{InputPath: "src/style.css", OutputPath: "app"}},
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Outdir: to, Write: true, Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", LegalComments: api.LegalCommentsEndOfFile,
		LogLevel: api.LogLevelWarning, LineLimit: 4000,
	})
	if len(out.Errors) > 0 {
		return fmt.Errorf("%d errors", len(out.Errors))
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		b, err := os.ReadFile(filepath.Join("src", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
