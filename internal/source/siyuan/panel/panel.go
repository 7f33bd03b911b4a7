// Package panel puts a small plugin into the workspace of a SiYuan kernel, and takes it out again (ADR 74). The plugin shows pages
// of Collie in a dock, and the puppy over SiYuan's window. It is built from web/panel in the repository and lies in the program
// as one archive; nobody needs Node to build Collie.
//
// The entry points are [Install] and [Remove].
package panel

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// archive is web/dist-panel as tools/pack packs it.
//
//go:generate go -C ../../../../tools run ./pack ../web/dist-panel ../internal/source/siyuan/panel/panel.zip
//go:embed panel.zip
var archive []byte

const (
	// pluginName is the plugin's name in SiYuan.
	pluginName = "collie-panel"
	// folder is where it lies in the workspace.
	folder = "/data/plugins/" + pluginName
	// manifest is written first and removed last, because it shows whose folder this is.
	manifest  = "plugin.json"
	placeFile = "panel.json"
	author    = "Collie"
)

// Place tells the plugin where the gateway is.
type Place struct {
	// Address is where the gateway is, scheme://host[:port].
	Address string `json:"address"`
	// Origins are those that the gateway lets show the panel in a frame (setting web.frameOrigins).
	Origins []string `json:"origins"`
}

// File is the outcome for one file in the workspace.
type File struct {
	Path  string `json:"path"`
	State string `json:"state"` // one of the constants below
}

// The values of [File.State].
const (
	Written   = "written"
	unchanged = "unchanged"
	Removed   = "removed"
	left      = "left" // the file is not part of our plugin
)

// Report lists what was done, including what was done before an error.
type Report struct {
	Files []File `json:"files"`
	// Untrusted means that SiYuan does not load plugins yet: a person has to trust them once in its settings.
	Untrusted bool `json:"untrusted,omitempty"`
}

func (r *Report) add(name, state string) {
	path := folder
	if name != "" {
		path += "/" + name
	}
	r.Files = append(r.Files, File{path, state})
}

// Install writes the plugin, or brings it up to date, and switches it on. version is Collie's. A file that is as it should be is
// not written again. If the folder holds a plugin of somebody else, nothing is written, and the error is of kind Conflict.
func Install(ctx context.Context, k *kernel.Client, place Place, version string) (Report, error) {
	r := Report{Files: []File{}}
	if _, err := listOwnFolder(ctx, k, "install"); err != nil {
		return r, err
	}
	files, err := unpack(place, version)
	if err != nil {
		return r, err
	}
	for _, f := range files {
		had, err := k.ReadFile(ctx, folder+"/"+f.name)
		switch {
		case err == nil && bytes.Equal(had, f.content):
			r.add(f.name, unchanged)
			continue
		case err != nil && tool.KindOf(err) != tool.NotFound:
			return r, err
		}
		if err := k.WriteFile(ctx, folder+"/"+f.name, f.content); err != nil {
			return r, err
		}
		r.add(f.name, Written)
	}
	if err := k.SwitchPlugin(ctx, pluginName, true); err != nil {
		return r, err
	}
	if loads, err := k.LoadsPlugins(ctx); err == nil {
		r.Untrusted = !loads
	}
	return r, nil
}

// Remove switches the plugin off and removes its files. Other files in its folder stay, and then the folder does too.
// If there is no such plugin, nothing is done; if it belongs to another program, the error is of kind Conflict.
func Remove(ctx context.Context, k *kernel.Client) (Report, error) {
	r := Report{Files: []File{}}
	entries, err := listOwnFolder(ctx, k, "remove")
	if err != nil || entries == nil {
		return r, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e kernel.DirEntry) bool { return e.Name == name && !e.IsDir })
	}
	files, err := unpack(Place{}, "")
	if err != nil {
		return r, err
	}
	if has(manifest) {
		if err := k.SwitchPlugin(ctx, pluginName, false); err != nil {
			return r, err
		}
	}
	slices.Reverse(files)
	for _, f := range files {
		if !has(f.name) {
			continue
		}
		if err := k.RemoveFile(ctx, folder+"/"+f.name); err != nil {
			return r, err
		}
		r.add(f.name, Removed)
	}
	rest, err := k.ReadDir(ctx, folder)
	if err != nil {
		return r, err
	}
	for _, e := range rest {
		r.add(e.Name, left)
	}
	if len(rest) == 0 {
		if err := k.RemoveFile(ctx, folder); err != nil {
			return r, err
		}
		r.add("", Removed)
	}
	return r, nil
}

// listOwnFolder lists the folder of the plugin; nil if there is none. It is an error if the plugin in it is not
// Collie's.
func listOwnFolder(ctx context.Context, k *kernel.Client, op string) ([]kernel.DirEntry, error) {
	entries, err := k.ReadDir(ctx, folder)
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return []kernel.DirEntry{}, nil
	}
	var said struct {
		Name   string `json:"name"`
		Author string `json:"author"`
	}
	raw, err := k.ReadFile(ctx, folder+"/"+manifest)
	if err != nil && tool.KindOf(err) != tool.NotFound {
		return nil, err
	}
	if json.Unmarshal(raw, &said) != nil || said.Name != pluginName || said.Author != author { // without a file raw is nothing
		return nil, &tool.Error{
			Op: op, Kind: tool.Conflict, Subject: folder, Message: "this folder of the workspace is not Collie's, so nothing in it was changed",
			Hint: "look at it in SiYuan under Settings - Marketplace - Downloaded, and remove it there if you do not need it",
		}
	}
	return entries, nil
}

// file is a file of the plugin.
type file struct {
	name    string
	content []byte
}

// semver are versions that SiYuan can compare.
var semver = lazyregexp.New(`^\d+\.\d+\.\d+`)

// unpack returns the files of the plugin, the manifest first.
func unpack(place Place, version string) ([]file, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("read the archive of the panel: %w", err)
	}
	where, err := json.Marshal(place)
	if err != nil {
		return nil, err
	}
	files := []file{{placeFile, where}}
	for _, f := range z.File {
		content, err := readZipped(f)
		if err != nil {
			return nil, fmt.Errorf("read the archive of the panel: %w", err)
		}
		if f.Name == manifest {
			if v := semver.FindString(strings.TrimPrefix(version, "v")); v != "" {
				content = bytes.Replace(content, []byte(`"version": "0.0.0"`), []byte(`"version": "`+v+`"`), 1)
			}
			files = append([]file{{manifest, content}}, files...)
			continue
		}
		files = append(files, file{f.Name, content})
	}
	return files, nil
}

func readZipped(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}
