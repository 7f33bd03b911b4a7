package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/config/jsonc"
)

// MaxSize is how many bytes a settings file may have (R-CF-3).
const MaxSize = 4 << 20

// Options say where [Load] looks.
type Options struct {
	// Files stand for --config. A later file wins, setting by setting and server by server.
	// Empty means COLLIE_CONFIG, and without that the default file.
	Files []string
	// Home stands for --home; see [FindPaths].
	Home string
	// Env is the environment; the zero value is an empty one.
	Env Env
}

// Load reads the settings. A default file that does not exist is an empty one; a file that was
// named must exist. If files could be read but something in them is wrong, the error is an
// [*Error] with every finding, and the Config holds what could be read, for a report on the
// rest; with any other error it is nil.
func Load(o Options) (*Config, error) {
	paths, err := FindPaths(o.Home, o.Env)
	if err != nil {
		return nil, err
	}
	c := defaults(paths)
	files, named := o.Files, true
	if env := o.Env.Get("COLLIE_CONFIG"); len(files) == 0 && env != "" {
		files = []string{env}
	}
	if len(files) == 0 {
		files, named = []string{paths.ConfigFile}, false
	}
	var d decoder
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

// readFile reads a file, or as much of it as shows that it is too large.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// read puts what one file says into c. The error is for what says nothing about the text.
func (c *Config) read(d *decoder, file string, text []byte) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("read settings %q: %w", file, err)
	}
	if len(text) > MaxSize {
		d.findings = append(d.findings, Finding{
			File: file, Rule: "R-CF-3", Severity: SeverityError,
			Message: fmt.Sprintf("the file has more than %s", sizeText(MaxSize)),
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
	doc := &document{parsed, file, filepath.Dir(abs)}
	root := node{doc, parsed.Root(), ""}
	for _, dup := range parsed.Duplicates() {
		line, _ := parsed.Position(dup.First)
		d.report(node{doc, root.value, dup.Pointer}, dup.Offset, "R-CF-3", SeverityError,
			"duplicate key %q; it stands in line %d too", dup.Name, line)
	}
	c.readRoot(d, root)
	return nil
}

func (c *Config) readRoot(d *decoder, root node) {
	known := c.fields()
	switch {
	case root.bare(known):
		d.report(root, root.value.StartOffset, "shape", SeverityWarning,
			`servers stand at the top of the file; put them under "mcpServers"`)
		c.readServers(d, root)
	case looksLikeServer(root.value):
		d.fail(root, "shape", `this is one server entry without a name; wrap it as {"mcpServers": {"name": …}}`)
	default:
		known.read(d, root)
	}
}
