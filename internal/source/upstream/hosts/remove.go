package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collie/internal/jsonc"
)

// This file takes entries out of a host's file and puts them back.

// Piece is an entry as it stood in a file, to the letter.
type Piece struct {
	Path   []string `json:"path"`
	Source string   `json:"source"`
}

// Text is the file as it will be; nil if there will be none.
func (p *Plan) Text() []byte { return p.after }

// Before is the file as it is; nil if there is none.
func (p *Plan) Before() []byte { return p.before }

// Become makes a text what the file will be; nil removes it.
func (p *Plan) Become(text []byte) { p.after = text }

// Servers are those that the file will define.
func (p *Plan) Servers() ([]Found, error) { return p.Host.Parse(Place{File: p.File}, p.after) }

// Remove takes the entry at path out of the file. All else in it stays as it is.
func (p *Plan) Remove(path []string) (Piece, error) {
	var out []byte
	var source string
	var err error
	switch p.Host.format {
	case jsonText:
		raw, there := jsonc.Source(p.after, path)
		if !there {
			return Piece{}, failed(p.File, "", fmt.Errorf("it has no %s", strings.Join(path, ".")))
		}
		source = string(raw)
		out, err = jsonc.Remove(p.after, path)
	case tomlText:
		out, source, err = cutTOML(p.after, path)
	case yamlText:
		err = errors.New("YAML is not changed, so that its comments stay; take the entry out by hand")
	}
	if err != nil {
		return Piece{}, failed(p.File, "", err)
	}
	p.after = out
	return Piece{path, source}, nil
}

// Put puts a piece back; ok is false where the file has an entry of that name.
func (p *Plan) Put(piece Piece) (ok bool, err error) {
	there, err := p.Host.format.parse(p.after)
	if err != nil {
		return false, failed(p.File, repair, err)
	}
	if at(there.object, piece.Path) != nil {
		return false, nil
	}
	var out []byte
	if p.Host.format == tomlText {
		out, err = setTOML(p.after, piece.Path, piece.Source)
	} else {
		out, err = jsonc.SetSource(p.after, piece.Path, piece.Source)
	}
	if err != nil {
		return false, failed(p.File, "", err)
	}
	p.after = out
	return true, nil
}

// cutTOML takes the tables of a server out. All else must mean the same afterwards.
func cutTOML(text []byte, path []string) (rest []byte, tables string, err error) {
	before, err := tomlText.parse(text)
	if err != nil {
		return nil, "", err
	}
	var kept, cut []string
	inside := false
	for line := range strings.Lines(string(text)) {
		if header, ok := tomlHeader(line); ok {
			was := inside
			inside = slices.Equal(header[:min(len(header), len(path))], path)
			if was && !inside { // what stands right above a table belongs to it
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
	if err != nil || len(cut) == 0 || !sameBeside(after, before, path) {
		return nil, "", fmt.Errorf("[%s] is written in a way that cannot be changed safely; change it by hand", tomlPath(path))
	}
	return out, strings.TrimRight(strings.Join(cut, ""), " \t\r\n") + "\n", nil
}

// aboveTable is where the comments begin that end lines, and the empty lines before them.
func aboveTable(lines []string) int {
	n := len(lines)
	for n > 0 && strings.HasPrefix(strings.TrimSpace(lines[n-1]), "#") {
		n--
	}
	return n
}

// Undo is how a text becomes the one that it was made of.
type Undo struct {
	At     int    `json:"at"`               // where it was changed
	Remove int    `json:"remove"`           // so many bytes
	Insert []byte `json:"insert"`           // in their place
	Absent bool   `json:"absent,omitempty"` // there was no file
}

// UndoOf is how after becomes before.
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

// Apply is the text that a text was made of.
func (u Undo) Apply(text []byte) ([]byte, error) {
	switch {
	case u.Absent:
		return nil, nil
	case u.At < 0 || u.Remove < 0 || u.At > len(text) || u.Remove > len(text)-u.At:
		return nil, errors.New("the note of the change does not fit the file")
	}
	return slices.Concat(bytes.Clone(text[:u.At]), u.Insert, text[u.At+u.Remove:]), nil
}
