package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// template is the user's pod below those of tunehost.
type template struct {
	corev1.Pod
	file *copyOf // nil: the pod is in the option
}

// copyOf is a template's file as it was when the experiment last read it. It is kept in the experiment's directory:
// `tunehost interrupt` and `tunehost resume` may be started where the path leads to no file, or to another one.
type copyOf struct {
	Path string `json:"path"` // as in the option
	Text string `json:"text"`
}

const (
	copyDir  = ".kubernetes" // in the experiment's directory
	copyFile = "template.json"
)

// readTemplate reads the template of the pods.
func (o *options) readTemplate() error {
	text := []byte(o.Template)
	var path string
	if json.Unmarshal(o.Template, &path) == nil {
		if path == "" {
			return nil
		}
		var err error
		if text, err = o.readFile(path); err != nil {
			return err
		}
	}
	wrong := func(is string, args ...any) error { return option.Wrong("template", o.Template, is, args...) }
	text, several := onlyDocument(text)
	switch {
	case several:
		return wrong("one pod, and not several YAML documents; leave out what is below the pod")
	case text == nil:
		return wrong("a file with a pod; this one is empty")
	}
	if err := yaml.UnmarshalStrict(text, &o.template.Pod); err != nil {
		return wrong("a pod: %s", briefly(err))
	}
	if kind := o.template.Kind; kind != "" && kind != "Pod" {
		return wrong("a pod (kind: Pod), and not a %s", kind)
	}
	return nil
}

// readFile reads the template's file, or the copy of it if it is not there.
func (o *options) readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(fromUser(path))
	kept := readCopy(o.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && kept != nil && kept.Path == path:
		o.warnings = append(o.warnings, fmt.Sprintf("template: there is no file %s: pods are made as before, from the "+
			"copy of %s in the experiment's directory", fromUser(path), path))
		text = []byte(kept.Text)
	case err != nil:
		return nil, option.Wrong("template", path, "a file: %v", err)
	case kept != nil && kept.Path == path && kept.Text != string(text):
		o.warnings = append(o.warnings, fmt.Sprintf("template: %s is not what the earlier pods of this experiment "+
			"were made from: later ones are made from it as it is now", fromUser(path)))
	}
	o.template.file = &copyOf{path, string(text)}
	return text, nil
}

// readCopy returns what is kept of a template in an experiment's directory; nil: nothing that can be read.
func readCopy(dir string) *copyOf {
	var c copyOf
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	text, err := root.ReadFile(filepath.Join(copyDir, copyFile))
	if err != nil || json.Unmarshal(text, &c) != nil {
		return nil
	}
	return &c
}

// keepTemplate keeps a copy of the template's file.
func (o *options) keepTemplate() error {
	if o.dir == "" || o.template.file == nil {
		return nil
	}
	text, err := json.Marshal(o.template.file)
	if err == nil {
		err = writeCopy(o.dir, text)
	}
	if err != nil {
		return fmt.Errorf("the copy of the template could not be written: %w", err)
	}
	return nil
}

// writeCopy replaces the copy in an experiment's directory. Trials may write in that directory: no link in it is
// followed, as it could lead to a file of the user's.
func writeCopy(dir string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.Mkdir(copyDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(copyDir); err != nil || !info.IsDir() {
		return cmp.Or(err, fmt.Errorf("%s is not a folder: remove it", filepath.Join(dir, copyDir)))
	}
	path := filepath.Join(copyDir, copyFile)
	if err := root.RemoveAll(path + ".new"); err != nil { // the file of a host that was killed, or a link
		return err
	}
	f, err := root.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(path+".new", path)
}

// onlyDocument returns the document of a YAML text that is not empty, or nil; several: there are more.
func onlyDocument(text []byte) (only []byte, several bool) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		one, err := r.Read()
		if err == io.EOF {
			return only, false
		}
		if err != nil {
			return text, false // its parser says what is wrong
		}
		if is, err := yaml.YAMLToJSON(one); err == nil && string(bytes.TrimSpace(is)) == "null" {
			continue
		}
		if only != nil {
			return nil, true
		}
		only = one
	}
}

// briefly is what a YAML library says, without how it came to it.
func briefly(err error) string {
	text := oneLine(err.Error())
	for _, how := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: ",
		"error converting YAML to JSON: ", "yaml: "} {
		text = strings.TrimPrefix(text, how)
	}
	return text
}
