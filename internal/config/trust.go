package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"collie/internal/atomicfile"
)

// This file keeps which project files a person trusts.

// TrustState says whether a project's file is trusted.
type TrustState string

// The states.
const (
	Untrusted TrustState = "untrusted" // no decision yet
	Changed   TrustState = "changed"   // it has changed since it was trusted
	Trusted   TrustState = "trusted"
)

// Decision records that a person trusts a project's file with the content it had then.
type Decision struct {
	File   string    `json:"-"` // absolute
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"`
}

// trustDecisions is the content of <state>/trust.json.
type trustDecisions struct {
	Version  int                 `json:"version"`
	Projects map[string]Decision `json:"projects"` // by the path of the project's file
}

func (d trustDecisions) state(p *Project) TrustState {
	switch decision, ok := d.Projects[p.File]; {
	case !ok:
		return Untrusted
	case decision.SHA256 != p.SHA256:
		return Changed
	default:
		return Trusted
	}
}

func trustFile(paths Paths) string { return filepath.Join(paths.State, "trust.json") }

// readTrust returns the decisions. A file that other users can write counts as empty.
func readTrust(paths Paths) (trustDecisions, error) {
	file := trustFile(paths)
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return trustDecisions{}, nil
	}
	if err != nil {
		return trustDecisions{}, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return trustDecisions{}, fmt.Errorf("others can write %s; chmod 600 it", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return trustDecisions{}, err
	}
	return parseTrust(file, text)
}

// parseTrust parses the content of trust.json. file is for messages.
func parseTrust(file string, text []byte) (trustDecisions, error) {
	var d trustDecisions
	if err := json.Unmarshal(text, &d); err != nil {
		return trustDecisions{}, fmt.Errorf("%s is damaged (%w); remove it, and trust your projects again", file, err)
	}
	if d.Version != 1 {
		return trustDecisions{}, fmt.Errorf("%s is of version %d, which this program does not know", file, d.Version)
	}
	return d, nil
}

// Decisions returns the trusted projects, sorted by path. Their files may have changed or be gone; see
// [Decision.State].
func Decisions(paths Paths) ([]Decision, error) {
	d, err := readTrust(paths)
	var out []Decision
	for _, file := range slices.Sorted(maps.Keys(d.Projects)) {
		decision := d.Projects[file]
		decision.File = file
		out = append(out, decision)
	}
	return out, err
}

// State compares the present file with the trusted one. It is [Untrusted] if the file is gone.
func (d Decision) State() TrustState {
	text, err := readPlain(d.File)
	switch {
	case err != nil:
		return Untrusted
	case digest(text) != d.SHA256:
		return Changed
	}
	return Trusted
}

// Trust makes the servers of p usable for as long as its file does not change. The decision is stored in
// <state>/trust.json, which only its owner can read. A file with errors cannot be trusted.
func (p *Project) Trust(ctx context.Context, paths Paths, now time.Time) error {
	if hasErrors(p.Findings) {
		return &Error{p.Findings}
	}
	err := updateTrust(ctx, paths, func(d *trustDecisions) {
		d.Projects[p.File] = Decision{SHA256: p.SHA256, Time: now.UTC().Truncate(time.Second)}
	})
	if err == nil {
		p.State = Trusted
	}
	return err
}

// Revoke removes the trust in a project's file, which need not exist any more. found is false if it was not
// trusted.
func Revoke(ctx context.Context, paths Paths, file string) (found bool, err error) {
	err = updateTrust(ctx, paths, func(d *trustDecisions) {
		_, found = d.Projects[file]
		delete(d.Projects, file)
	})
	return found, err
}

// updateTrust changes trust.json while holding its lock, and creates it if necessary.
func updateTrust(ctx context.Context, paths Paths, change func(*trustDecisions)) error {
	file := trustFile(paths)
	if err := os.MkdirAll(paths.State, 0o700); err != nil {
		return err
	}
	return atomicfile.File{Path: file}.Update(ctx, func(old []byte) ([]byte, error) {
		d := trustDecisions{Version: 1}
		if len(strings.TrimSpace(string(old))) > 0 {
			var err error
			if d, err = parseTrust(file, old); err != nil {
				return nil, err
			}
		}
		if d.Projects == nil {
			d.Projects = map[string]Decision{}
		}
		change(&d)
		text, err := json.MarshalIndent(d, "", "  ")
		return append(text, '\n'), err
	})
}

// Edit replaces the text of a file that c was read from with what change returns for it; text is nil if there
// is no file. A new text with errors that the old one does not have is refused with an [*Error]. Nothing is
// written if the text does not change. If the file belongs to a trusted project, it stays trusted, because
// the person who runs the command knows the change; changes that others made meanwhile are not covered.
func (c *Config) Edit(ctx context.Context, file string, change func(text []byte) ([]byte, error)) error {
	if c.Project == nil || file != c.Project.File || c.Project.State != Trusted {
		return editFile(ctx, file, change)
	}
	var before, after string
	err := editFile(ctx, file, func(text []byte) ([]byte, error) {
		before = digest(text)
		text, err := change(text)
		after = digest(text)
		return text, err
	})
	if err != nil || before == after {
		return err
	}
	return updateTrust(ctx, c.Paths, func(d *trustDecisions) {
		if decision := d.Projects[file]; decision.SHA256 == before {
			decision.SHA256 = after
			d.Projects[file] = decision
		}
	})
}
