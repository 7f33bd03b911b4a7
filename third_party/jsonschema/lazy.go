package jsonschema

import (
	"strings"
	"sync"
)

// metaschemas are those of a draft, compiled at their first use: no program that only links this package waits for them.
type metaschemas struct {
	once   sync.Once
	sch    *Schema
	vocabs map[string]*Schema
}

var metas = map[*Draft]*metaschemas{Draft4: {}, Draft6: {}, Draft7: {}, Draft2019: {}, Draft2020: {}}

// meta returns the compiled metaschemas of the draft. It does not call itself, since metaschemas are not validated when
// they are compiled.
func (d *Draft) meta() *metaschemas {
	m := metas[d]
	m.once.Do(func() {
		c := NewCompiler()
		c.AssertFormat()
		m.sch = c.MustCompile(d.url)
		m.vocabs = make(map[string]*Schema, len(d.allVocabs))
		for name := range d.allVocabs {
			m.vocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, "schema") + "meta/" + name)
		}
	})
	return m
}

// SkipMetaschemas compiles schemas without holding them to the metaschema of their draft. It is for a program's own schemas, which
// its tests have held to it: the metaschema is then not compiled either, which takes longer than a small schema.
func (c *Compiler) SkipMetaschemas() { c.roots.sound = true }
