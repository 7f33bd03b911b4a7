package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collie/internal/jsonc"
)

// This file removes entries from a host's file and restores them.

// Piece is a removed entry with its original text.
type Piece struct {
	Path   []string `json:"path"`
	Source string   `json:"source"`
}

// Text returns the file's planned text; nil if the file will be deleted.
func (p *Plan) Text() []byte { return p.after }

// Before returns the file's text on disk; nil if there is no file.
func (p *Plan) Before() []byte { return p.before }

// Become sets the file's planned text; nil deletes the file.
func (p *Plan) Become(text []byte) { p.after = text }

// Servers returns the servers that the file will define.
func (p *Plan) Servers() ([]Found, error) { return p.Host.Parse(Place{File: p.File}, p.after) }

// Remove removes the entry at path from the file and returns it. Everything else in the file stays.
func (p *Plan) Remove(path []string) (Piece, error) {
	var out []byte
	var source string
	var err error
	switch p.Host.format {
	case jsonText:
		raw, exists := jsonc.Source(p.after, path)
		if !exists {
			return Piece{}, planError(p.File, "", fmt.Errorf("it has no %s", strings.Join(path, ".")))
		}
		source = string(raw)
		out, err = jsonc.Remove(p.after, path)
	case tomlText:
		out, source, err = cutTOML(p.after, path)
	case yamlText:
		err = errors.New("YAML is not changed, so that its comments stay; take the entry out by hand")
	}
	if err != nil {
		return Piece{}, planError(p.File, "", err)
	}
	p.after = out
	return Piece{path, source}, nil
}

// Put restores a piece. ok is false if the file has an entry of that name.
func (p *Plan) Put(piece Piece) (ok bool, err error) {
	there, err := p.Host.format.parse(p.after)
	if err != nil {
		return false, planError(p.File, repairHint, err)
	}
	if valueAt(there.object, piece.Path) != nil {
		return false, nil
	}
	var out []byte
	if p.Host.format == tomlText {
		out, err = setTOML(p.after, piece.Path, piece.Source)
	} else {
		out, err = jsonc.SetSource(p.after, piece.Path, piece.Source)
	}
	if err != nil {
		return false, planError(p.File, "", err)
	}
	p.after = out
	return true, nil
}

// cutTOML removes the tables of a server. It fails if that would change the meaning of anything else.
func cutTOML(text []byte, path []string) (rest []byte, tables string, err error) {
	before, err := tomlText.parse(text)
	if err != nil {
		return nil, "", err
	}
	var kept, cut []string
	inside := false
	for line := range strings.Lines(string(text)) {
		if header, ok := tomlHeader(line); ok {
			wasInside := inside
			inside = slices.Equal(header[:min(len(header), len(path))], path)
			if wasInside && !inside { // comments right above a table belong to it
				n := aboveTable(cut)
				kept, cut = append(kept, cut[n:]...), cut[:n]
			}
		}
		if inside {
			cut = append(cut, line)
		} else {
			kept = append(kept, line)
		}
	}
	out := []byte(strings.Join(kept, ""))
	after, err := tomlText.parse(out)
	if err != nil || len(cut) == 0 || !equalExceptAt(after, before, path) {
		return nil, "", fmt.Errorf("[%s] is written in a way that cannot be changed safely; change it by hand", tomlPath(path))
	}
	return out, strings.TrimRight(strings.Join(cut, ""), " \t\r\n") + "\n", nil
}

// aboveTable returns the index of the first of the comment lines at the end of lines, len(lines) if there are none.
func aboveTable(lines []string) int {
	n := len(lines)
	for n > 0 && strings.HasPrefix(strings.TrimSpace(lines[n-1]), "#") {
		n--
	}
	return n
}

// Undo says how to turn a changed text back into the original.
type Undo struct {
	At     int    `json:"at"`               // offset of the change in bytes
	Remove int    `json:"remove"`           // number of bytes to remove there
	Insert []byte `json:"insert"`           // bytes to insert in their place
	Absent bool   `json:"absent,omitempty"` // there was no file
}

// UndoOf returns how to turn after back into before.
func UndoOf(before, after []byte) Undo {
	if before == nil {
		return Undo{Absent: true}
	}
	n := min(len(before), len(after))
	head := 0
	for head < n && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < n-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return Undo{At: head, Remove: len(after) - head - tail, Insert: before[head : len(before)-tail]}
}

// Apply returns the original of a changed text.
func (u Undo) Apply(text []byte) ([]byte, error) {
	switch {
	case u.Absent:
		return nil, nil
	case u.At < 0 || u.Remove < 0 || u.At > len(text) || u.Remove > len(text)-u.At:
		return nil, errors.New("the note of the change does not fit the file")
	}
	return slices.Concat(bytes.Clone(text[:u.At]), u.Insert, text[u.At+u.Remove:]), nil
}
