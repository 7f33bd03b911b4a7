package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/rawjson"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the command `collie cache migrate`, which rewrites the cache file in the current format and shows what
// changes.

func (p commands) migrateCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "migrate [FILE]", Short: "Upgrade a cache file to the current format", Args: cobra.MaximumNArgs(1),
		Long: "A gateway reads older formats as they are and writes the current one with its next change. This\n" +
			"does so at once, in the file of the settings or in FILE, and keeps the old file beside it. With\n" +
			"--dry-run it shows field by field what would be different; - is stdin. Values of settings, which\n" +
			"other programs keep in clear, are not shown.",
		RunE: func(c *cobra.Command, args []string) error { return p.migrate(c.Context(), args, dry) },
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would change and write nothing")
	return c
}

// migrate rewrites a cache file in the current format, or with dry shows what would change.
func (p commands) migrate(ctx context.Context, args []string, dry bool) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	path, data, err := p.readCacheFile(args)
	if err != nil {
		return err
	}
	m, err := cacheadmin.Migrate(data)
	if err != nil {
		return err
	}
	changes, err := changesOf(m.Before, m.After)
	if err != nil {
		return &tool.Error{Op: "cache migrate", Kind: tool.Invalid, Subject: path, Err: err}
	}
	written := !dry && m.Changed() && path != "-"
	if written {
		o, err := p.options(cfg)
		if err != nil {
			return err
		}
		if err := cacheadmin.MigrateFile(ctx, cfg, o, path, m); err != nil {
			return err
		}
	}
	switch {
	case p.JSON:
		err = p.PrintJSON(map[string]any{
			"file": path, "from": m.From, "to": m.To, "changed": m.Changed(), "written": written, "changes": changes,
		})
	case !m.Changed():
		_, err = locale.Fprintf(p.Out, "%s already has format %s; nothing to do\n", path, m.From)
	case written:
		_, err = locale.Fprintf(p.Out, "%s: %s is %s now, the old file is %s.v%s.bak\n", path, m.From, m.To, path, m.From)
	default:
		err = p.printFieldChanges(path, m, changes)
	}
	return err
}

// printFieldChanges prints the old and new values of the fields that would change. Old values that may hold secrets are
// hidden.
func (p commands) printFieldChanges(path string, m cacheadmin.Migration, changes []fieldChange) error {
	var b strings.Builder
	locale.Fprintf(&b, "%s: %s would be %s\n", path, m.From, m.To)
	for _, c := range changes {
		if c.Was != nil || c.Now == nil {
			fmt.Fprintf(&b, "- %s %s\n", c.Pointer, output.FirstNonEmpty(string(c.Was), "***"))
		}
		if c.Now != nil {
			fmt.Fprintf(&b, "+ %s %s\n", c.Pointer, c.Now)
		}
	}
	_, err := fmt.Fprint(p.Out, output.Harmless(b.String()))
	return err
}

// fieldChange is a field whose value changes. A new field has no Was, a removed one no Now.
type fieldChange struct {
	Pointer string          `json:"pointer"`
	Was     json.RawMessage `json:"was,omitempty"`
	Now     json.RawMessage `json:"now,omitempty"`
}

// changesOf compares two JSON texts field by field.
func changesOf(before, after []byte) ([]fieldChange, error) {
	old, ok := rawjson.Decode(string(before))
	migrated, ok2 := rawjson.Decode(string(after))
	if !ok || !ok2 {
		return nil, fmt.Errorf("it is not JSON")
	}
	out := []fieldChange{}
	eachDifference("", old, migrated, func(pointer string, old, migrated any) {
		c := fieldChange{Pointer: pointer}
		if old != absent && !strings.Contains(pointer, "/serverConfig") { // the old value may hold secrets
			c.Was = compact(old)
		}
		if migrated != absent {
			c.Now = compact(migrated)
		}
		out = append(out, c)
	})
	return out, nil
}

// absent stands for a value that does not exist.
var absent any = new(struct{ _ byte })

// eachDifference calls tell for each value that differs, with its JSON pointer. Lists of different lengths differ as a whole.
func eachDifference(pointer string, before, after any, tell func(pointer string, before, after any)) {
	a, isObject := before.(map[string]any)
	b, isToo := after.(map[string]any)
	switch {
	case isObject && isToo:
		all := maps.Clone(a)
		maps.Copy(all, b)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			x, inA := a[name]
			y, inB := b[name]
			if !inA {
				x = absent
			}
			if !inB {
				y = absent
			}
			eachDifference(pointer+"/"+pointerEscapes.Replace(name), x, y, tell)
		}
		return
	case reflect.DeepEqual(before, after):
		return
	}
	x, isList := before.([]any)
	y, isToo := after.([]any)
	if !isList || !isToo || len(x) != len(y) {
		tell(pointer, before, after)
		return
	}
	for i := range x {
		eachDifference(pointer+"/"+strconv.Itoa(i), x[i], y[i], tell)
	}
}

// pointerEscapes are the escapes in a JSON pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// compact returns a value as JSON on one line.
func compact(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`"?"`)
	}
	return raw
}
