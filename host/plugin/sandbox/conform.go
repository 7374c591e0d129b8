package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/plugin/sandbox/scan"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
)

// wasi is the only other module whose functions may be imported; wazero checks these imports.
const wasi = "wasi_snapshot_preview1"

func signature(results string, params ...scan.ValType) (t scan.FuncType) {
	t.Params = params
	switch results {
	case "i32":
		t.Results = []scan.ValType{scan.I32}
	case "i64":
		t.Results = []scan.ValType{scan.I64}
	}
	return t
}

// imports and exports are the functions of package abi.
var (
	imports = map[string]scan.FuncType{
		abi.ImportLog:     signature("", scan.I32, scan.I32, scan.I32),
		abi.ImportReport:  signature("i32", scan.I32, scan.I32),
		abi.ImportSaved:   signature("i32", scan.I32, scan.I32),
		abi.ImportStopped: signature("i32"),
	}
	exports = map[string]scan.FuncType{
		abi.ExportVersion: signature("i32"),
		abi.ExportAlloc:   signature("i32", scan.I32),
		abi.ExportInvoke:  signature("i64", scan.I32, scan.I32),
	}
	optional = map[string]scan.FuncType{
		abi.ExportInitialize: signature(""),
	}
)

// conforms checks the imports and exports of a module against package abi.
func conforms(m *scan.Module) error {
	for _, i := range m.Imports {
		if i.Module == wasi {
			continue
		}
		want, ok := imports[i.Name]
		switch {
		case i.Module != abi.Module || !ok:
			return fmt.Errorf("it imports %q of %q, which tunehost does not have: there are %s of %q, and %q",
				i.Name, i.Module, strings.Join(slices.Sorted(maps.Keys(imports)), ", "), abi.Module, wasi)
		case !same(i.Type, want):
			return fmt.Errorf("it imports %q as %v; it is %v", i.Name, i.Type, want)
		}
	}
	if e, ok := m.Exports[abi.ExportMemory]; !ok || e.Kind != scan.Memory {
		return fmt.Errorf("it does not export its memory as %q", abi.ExportMemory)
	}
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		e, ok := m.Exports[name]
		if !ok || e.Kind != scan.Func {
			return fmt.Errorf("it does not export the function %q: it is not a tunehost plugin%s", name, command(m))
		}
		if !same(e.Type, exports[name]) {
			return fmt.Errorf("its function %q is %v; it must be %v", name, e.Type, exports[name])
		}
	}
	for name, want := range optional {
		if e, ok := m.Exports[name]; ok && (e.Kind != scan.Func || !same(e.Type, want)) {
			return fmt.Errorf("its function %q is %v; it must be %v", name, e.Type, want)
		}
	}
	return nil
}

// command returns a hint for authors who built a program instead of a library.
func command(m *scan.Module) string {
	if _, ok := m.Exports["_start"]; ok {
		return "; it is a program with a _start function (in Go, build it with -buildmode=c-shared)"
	}
	return ""
}

func same(a, b scan.FuncType) bool {
	return slices.Equal(a.Params, b.Params) && slices.Equal(a.Results, b.Results)
}
