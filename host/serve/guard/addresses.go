package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/usererror"
)

// addressesName is the file with the addresses of earlier servers, in the folder of the tokens. Pages that are still
// open there find the next server.
const addressesName = "serve-addresses"

const (
	// mostAddressesOf is how many addresses of a folder of experiments are kept, mostFolders of how many folders.
	mostAddressesOf = 8
	mostFolders     = 200
	maxAddresses    = 1 << 20 // bytes
)

// addressed are the addresses that servers of a folder of experiments had, the newest first.
type addressed struct {
	Dir       string   `json:"dir"`
	Addresses []string `json:"addresses"`
}

// Addresses returns the addresses at which servers of some folders, or of experiments in them, have listened, the
// newest first.
func Addresses(tokens string, dirs []string) (list []string, err error) {
	all, err := readAddresses(tokens)
	for _, one := range all {
		if slices.ContainsFunc(dirs, func(dir string) bool { return one.Dir == dir || filepath.Dir(one.Dir) == dir }) {
			list = append(list, one.Addresses...)
		}
	}
	return list[:min(len(list), mostAddressesOf)], err
}

// Remember notes the addresses of a server of some folders, the newest first.
func Remember(tokens string, dirs, addresses []string) error {
	all, _ := readAddresses(tokens) // what cannot be used is replaced
	for _, dir := range dirs {
		all = slices.DeleteFunc(all, func(one addressed) bool { return one.Dir == dir })
		all = append([]addressed{{dir, addresses[:min(len(addresses), mostAddressesOf)]}}, all...)
	}
	var text []byte
	for _, one := range all[:min(len(all), mostFolders)] {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	path := filepath.Join(tokens, addressesName)
	f, err := nolink.Temporary(path, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return nolink.Settle(f, path, err)
}

// readAddresses reads the file if it is this user's own, and nobody else can change it. Lines that are not understood
// are left out, as are addresses that other machines reach.
func readAddresses(tokens string) (all []addressed, err error) {
	path := filepath.Join(tokens, addressesName)
	info, err := nolink.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || own(path, info, os.Geteuid()) != nil:
		return nil, usererror.Errorf("%s is not a file of yours alone: it is written anew", path)
	}
	text, err := nolink.ReadFile(path, maxAddresses)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var one addressed
		if json.Unmarshal(line, &one) == nil {
			one.Addresses = slices.DeleteFunc(one.Addresses, func(a string) bool { return !ofThisMachine(a) })
			all = append(all, one)
		}
	}
	return all, nil
}

// ofThisMachine reports whether an address is one that a server can have had here, and no other machine reaches.
func ofThisMachine(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback() && at.Port() >= 1024
}
