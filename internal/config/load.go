package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"collie/internal/jsonc"
	"collie/internal/units"
)

// This file finds and reads the settings files and merges them into one Config.

// MaxSize is the maximum size of a settings file in bytes.
const MaxSize = 4 << 20

// Options say where [Load] looks.
type Options struct {
	// Files are the files of --config. A later file overrides an earlier one, setting by setting and server
	// by server. If empty, COLLIE_CONFIG is used, and without that the default file.
	Files []string
	// Project is the working folder. If no file is named, its ./.collie/collie.json is read too; once
	// trusted, it overrides the default file server by server; see [Project]. Empty means that there is no
	// project.
	Project string
	// Home is the value of --home; see [FindPaths].
	Home string
	// Env is the environment; the zero value is an empty one.
	Env Env
	// NameFor proposes a name for a server entry that stands alone in a file of --config, empty if it cannot tell.
	// Nil: such a file is an error.
	NameFor func(entry json.RawMessage) string
}

// Load reads the settings. A missing default file counts as empty, but a named file must exist. If the files
// were read and have errors, the error is an [*Error] with all findings, and the Config holds what could be
// read. With any other error the Config is nil.
func Load(o Options) (*Config, error) {
	paths, err := FindPaths(o.Home, o.Env)
	if err != nil {
		return nil, err
	}
	c := defaultConfig(paths)
	files, named := o.files(paths)
	c.seen = fileStates{}
	c.seen.update(o.allFiles(paths))
	var d decoder
	if named {
		d.nameFor = o.NameFor
	}
	for _, file := range files {
		text, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) && !named {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read settings: %w; check --config and COLLIE_CONFIG", err)
		}
		c.Files = append(c.Files, file)
		if err := c.read(&d, file, text); err != nil {
			return nil, err
		}
	}
	if o.Project != "" && !named {
		c.readProject(&d, o.Project)
	}
	if err := c.placeCache(o.Env, files); err != nil {
		return nil, err
	}
	for _, f := range d.findings {
		if f.Severity == SeverityWarning {
			c.Warnings = append(c.Warnings, f)
		}
	}
	if hasErrors(d.findings) {
		return c, &Error{d.findings}
	}
	return c, nil
}

// files returns the settings files to read, without the project's. If none is named, that is the default
// file, which need not exist.
func (o *Options) files(paths Paths) (files []string, named bool) {
	if len(o.Files) > 0 {
		return o.Files, true
	}
	if env := o.Env.Get("COLLIE_CONFIG"); env != "" {
		return []string{env}, true
	}
	return []string{paths.ConfigFile}, false
}

// allFiles returns all files whose content matters, existing or not.
func (o *Options) allFiles(paths Paths) []string {
	list, named := o.files(paths)
	if o.Project == "" || named {
		return list
	}
	return append(slices.Clone(list), ProjectPath(o.Project), trustFile(paths))
}

// Named returns the absolute paths of the named settings files; none if the default file is used.
func (o *Options) Named() ([]string, error) {
	files, named := o.files(Paths{})
	if !named {
		return nil, nil
	}
	out := make([]string, len(files))
	for i, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		out[i] = abs
	}
	return out, nil
}

// cacheFileName is the name of the tool cache beside the settings file.
const cacheFileName = "collie.cache.json"

// placeCache sets the path of the tool cache: beside the settings if those are in our own folder, else in the
// cache folder.
func (c *Config) placeCache(env Env, files []string) error {
	if chosen := env.Get("COLLIE_CACHE_FILE"); chosen != "" {
		c.Cache.File = chosen
	}
	if c.Cache.File != "" {
		abs, err := filepath.Abs(c.Cache.File)
		c.Cache.File = abs
		return err
	}
	abs, err := filepath.Abs(files[len(files)-1])
	elsewhere := filepath.Join(c.Paths.Cache, digest([]byte(abs))[:16]+".json")
	if filepath.Dir(abs) != c.Paths.Config { // a settings file elsewhere: other people's folders are not ours to write to
		c.Cache.File = elsewhere
		return err
	}
	c.Cache.File, c.Cache.Fallback = filepath.Join(c.Paths.Config, cacheFileName), elsewhere
	return err
}

// readFile reads a file, at most one byte more than MaxSize.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// read merges the text of one file into c. What is wrong with the text goes to d; the error is about the path
// alone.
func (c *Config) read(d *decoder, file string, text []byte) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("read settings %q: %w", file, err)
	}
	if len(text) > MaxSize {
		d.findings = append(d.findings, Finding{
			File: file, Rule: "R-CF-3", Severity: SeverityError,
			Message: fmt.Sprintf("the file has more than %s", units.SizeText(MaxSize)),
		})
		return nil
	}
	parsed, err := jsonc.Parse(text)
	if e, ok := errors.AsType[*jsonc.Error](err); ok {
		d.findings = append(d.findings, Finding{
			File: file, Line: e.Line, Column: e.Column,
			Rule: "syntax", Severity: SeverityError, Message: e.Message,
		})
		return nil
	}
	doc := &document{Document: parsed, file: file, dir: filepath.Dir(abs)}
	root := node{doc, parsed.Root(), ""}
	d.reportDuplicates(root)
	c.readRoot(d, root)
	return nil
}

// reportDuplicates reports the keys that a document has twice; root is its root.
func (d *decoder) reportDuplicates(root node) {
	for _, dup := range root.doc.Duplicates() {
		line, _ := root.doc.Position(dup.First)
		d.report(node{root.doc, root.value, dup.Pointer}, dup.Offset, "R-CF-3", SeverityError,
			"duplicate key %q; it is in line %d too", dup.Name, line)
	}
}

// readRoot reads the value of a whole file. Besides an object of sections, that may be a bare list of servers, or a single
// server entry if a name can be proposed for it.
func (c *Config) readRoot(d *decoder, root node) {
	known := c.fields()
	if c.Project != nil {
		known = c.projectFields()
	}
	switch {
	case root.isBareList(known):
		d.report(root, root.value.StartOffset, "shape", SeverityWarning,
			`servers are at the top level of the file; put them under "mcpServers"`)
		c.readServers(d, root)
	case looksLikeServer(root.value):
		if d.nameFor != nil {
			if name := d.nameFor(jsonc.Standard(root.value)); name != "" {
				d.report(root, root.value.StartOffset, "shape", SeverityWarning, `this is one server entry without a name; it is called %q here`, name)
				c.addServer(d, root, name)
				return
			}
		}
		d.fail(root, "shape", `this is one server entry without a name; wrap it as {"mcpServers": {"name": …}}`)
	default:
		known.read(d, root)
	}
}
