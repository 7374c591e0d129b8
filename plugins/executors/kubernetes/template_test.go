package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A template's file has one pod: nothing in it is ignored silently, and no file is taken for a pod that has none.
func TestTemplateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pod.yaml")
	const pod = "kind: Pod\nmetadata: {labels: {a: b}}\n"
	for text, want := range map[string]string{
		pod:                                     "",
		"---\n" + pod:                           "",
		"# a comment\n---\n" + pod + "---\n#\n": "",
		pod + "---\nkind: ConfigMap\n":          "allowed: one pod, and not several YAML documents",
		"":                                      "allowed: a file with a pod; this one is empty",
		"# a comment\n":                         "allowed: a file with a pod; this one is empty",
		"kind: [\n":                             "allowed: a pod: line ",
		"kind: Pod\nspecs: {}\n":                `allowed: a pod: unknown field "specs"`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := read([]byte(`{"image": "x", "template": "`+path+`"}`), "")
		switch {
		case want == "" && (err != nil || o.template.Labels["a"] != "b"):
			t.Errorf("%q: %v %v", text, err, o.template.Labels)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A host that is started elsewhere makes the same pods as the one before, or says that they are others.
func TestTemplateElsewhere(t *testing.T) {
	dir, here, other, empty := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for folder, who := range map[string]string{here: "here", other: "other"} {
		if err := os.WriteFile(filepath.Join(folder, "pod.yaml"), []byte("metadata: {labels: {who: "+who+"}}"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ from, who, warning string }{
		{here, "here", ""},
		{here, "here", ""},
		{empty, "here", "pods are made as before"},
		{other, "other", "later ones are made from it"},
		{other, "other", ""},
		{empty, "other", "pods are made as before"},
	} {
		t.Setenv("PWD", c.from)
		o, err := read([]byte(`{"image": "x", "template": "pod.yaml"}`), dir)
		said := strings.Join(o.warnings, "; ")
		if err != nil || o.template.Labels["who"] != c.who || (said != "") != (c.warning != "") ||
			!strings.Contains(said, c.warning) {
			t.Errorf("%d: %v, who: %s, %q; want %s, %q", i, err, o.template.Labels["who"], said, c.who, c.warning)
		}
	}
	t.Setenv("PWD", empty)
	if _, err := read([]byte(`{"image": "x", "template": "new.yaml"}`), dir); err == nil {
		t.Error("the copy of another file is taken")
	}
}

// Trials may write in the experiment's directory: links in the place of the copy lead nothing elsewhere.
func TestTemplateBehindLinks(t *testing.T) {
	for name, link := range map[string]string{
		"the folder":               copyDir,
		"the copy":                 filepath.Join(copyDir, copyFile),
		"the copy that is written": filepath.Join(copyDir, copyFile+".new"),
	} {
		for where, target := range map[string]string{"elsewhere": t.TempDir(), "within": "kept"} {
			dir := t.TempDir()
			kept := filepath.Join(dir, "kept", "precious")
			if filepath.IsAbs(target) {
				kept = filepath.Join(target, "precious")
			}
			must(t, os.MkdirAll(filepath.Join(dir, "kept"), 0o700), os.WriteFile(kept, []byte("precious"), 0o600))
			if link != copyDir {
				must(t, os.Mkdir(filepath.Join(dir, copyDir), 0o700))
				target = kept
			}
			must(t, os.Symlink(target, filepath.Join(dir, link)))
			err := writeCopy(dir, []byte("new"))
			if (err != nil) != (link == copyDir) {
				t.Errorf("%s %s: %v", name, where, err)
			}
			left, _ := os.ReadDir(filepath.Dir(kept))
			if text, err := os.ReadFile(kept); string(text) != "precious" || len(left) != 1 {
				t.Errorf("%s %s: %q, %v, %v", name, where, text, left, err)
			}
		}
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
