package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

const pluginPage = "../../docs/PLUGINS.md"

// TestPluginPage checks that docs/PLUGINS.md has the options of the bundled plugins as declared.
func TestPluginPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Bundled plugins and their options\n\n" +
		"`tunehost plugins describe NAME` prints the same. The `doc.go` of each plugin in [plugins](../plugins)\n" +
		"explains its method and names its source. This file is generated from the plugins' declarations by\n" +
		"`go test ./cmd/tunehost -run PluginPage -rewrite`.\n")
	for _, kind := range sdk.Kinds() {
		writeKind(t, &b, kind)
	}
	if *rewrite {
		if err := os.WriteFile(pluginPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(pluginPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Error("docs/PLUGINS.md is not what the plugins declare: " +
			"run go test ./cmd/tunehost -run PluginPage -rewrite and commit what changes")
	}
}

func writeKind(t *testing.T, b *strings.Builder, kind sdk.Kind) {
	title := false
	for _, info := range slices.Concat(plugins.Infos(), ownPlugins) {
		if info.Kind != kind {
			continue
		}
		if !title {
			fmt.Fprintf(b, "\n## %ss\n", strings.ToUpper(string(kind[:1]))+string(kind[1:]))
			title = true
		}
		writePlugin(t, b, info)
	}
}

func writePlugin(t *testing.T, b *strings.Builder, info sdk.Info) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", info.Name, info.Summary)
	rows, err := option.Rows(info.Options)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		b.WriteString("It has no options.\n")
		return
	}
	b.WriteString("\n| option | value | default | |\n|---|---|---|---|\n")
	for _, r := range rows {
		if r.Default != "" && r.Default != option.Required {
			r.Default = "`" + r.Default + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.Name, r.Value, r.Default, escape(r.Doc))
	}
}

// escape makes a text one cell of a table.
func escape(text string) string {
	return strings.NewReplacer("|", "\\|", "*", "\\*", "<", "&lt;").Replace(text)
}
