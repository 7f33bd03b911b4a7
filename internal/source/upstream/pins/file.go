package pins

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"collie/internal/mcp"
)

// This file reads and writes the file of pins.

// state has all pins, by server and tool.
type state map[string]map[string]*record

func (st state) put(server, name string, r *record) {
	tools := st[server]
	if tools == nil {
		tools = map[string]*record{}
		st[server] = tools
	}
	tools[name] = r
}

// The file is one JSON object with one tool a line:
//
//	{"version":1,"servers":{"<server>":{"<tool>":{"hash":…,"digest":…,"firstSeen":…,
//	"approvedAt":…,"definition":{…},"pending":{"hash":…,"digest":…,"seenAt":…,"changed":[…],"definition":{…}}}}}}
const (
	version = 1
	maxFile = 64 << 20 // bytes
	timeFmt = "2006-01-02T15:04:05.000Z07:00"
)

// parse reads a file. An empty file has no pins. With keep, records hold their definitions, which share memory with
// raw; otherwise only pending definitions are held, as copies.
func parse(raw []byte, keep bool) (state, error) {
	st := state{}
	if len(raw) == 0 {
		return st, nil
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, expected at most %d", len(raw), maxFile)
	}
	r := newReader(raw, keep)
	var got struct{ version, servers bool }
	err := r.object(func(key string) error {
		switch key {
		case "version":
			v, err := r.value()
			if got.version = true; err == nil && string(v) != strconv.Itoa(version) {
				err = fmt.Errorf("the format is version %s, expected %d", v, version)
			}
			return err
		case "servers":
			got.servers = true
			return r.object(func(server string) error {
				return r.object(func(name string) error {
					p, err := r.record()
					st.put(server, name, p)
					return err
				})
			})
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("byte %d: %w", r.dec.InputOffset(), err)
	case !got.version || !got.servers:
		return nil, errors.New("version or servers is missing")
	}
	return st, nil
}

// encode returns the file for a state, always in the same order.
func (st state) encode() []byte {
	b := []byte(`{"version":` + strconv.Itoa(version) + `,"servers":{`)
	comma := ""
	for _, server := range slices.Sorted(maps.Keys(st)) {
		tools := st[server]
		if len(tools) == 0 {
			continue
		}
		b = append(append(append(b, comma...), '\n'), mcp.Quote(server)...)
		b = append(b, ":{"...)
		inner := ""
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			b = append(append(append(b, inner...), '\n'), mcp.Quote(name)...)
			b = tools[name].append(append(b, ':'))
			inner = ","
		}
		b, comma = append(b, '}'), ","
	}
	return append(b, "\n}}\n"...)
}

func (r *record) append(b []byte) []byte {
	b = append(append(append(b, `{"hash":"`...), r.hash...), '"')
	b = appendDigest(b, r.digest)
	b = appendTime(b, "firstSeen", r.firstSeen)
	b = appendTime(b, "approvedAt", r.approved)
	b = appendDefinition(b, r.definition)
	if p := r.pending; p != nil {
		b = append(append(append(b, `,"pending":{"hash":"`...), p.hash...), '"')
		b = appendDigest(b, p.digest)
		b = appendTime(b, "seenAt", p.at)
		for i, f := range p.changed {
			lead := ","
			if i == 0 {
				lead = `,"changed":[`
			}
			b = append(append(b, lead...), mcp.Quote(f)...)
		}
		if len(p.changed) > 0 {
			b = append(b, ']')
		}
		b = append(appendDefinition(b, p.definition), '}')
	}
	return append(b, '}')
}

func appendDigest(b []byte, digest string) []byte {
	if digest == "" {
		return b
	}
	return append(append(append(b, `,"digest":"`...), digest...), '"')
}

func appendTime(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":"`...)
	return append(t.UTC().AppendFormat(b, timeFmt), '"')
}

func appendDefinition(b []byte, def json.RawMessage) []byte {
	if def == nil {
		return b
	}
	return append(append(b, `,"definition":`...), def...)
}
