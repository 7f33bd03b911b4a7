package workspace

import (
	"slices"
	"sync"
)

const (
	// maxRemembered bounds how many values a [Memory] has.
	maxRemembered = 16
	// maxChanged bounds the changed blocks of a value. After more changes, the value is dropped.
	maxChanged = 4096
)

// Memory is a small cache of values that are derived from blocks; see [Keys.Remembered]. It keeps the values that were used
// last. It is safe for concurrent use; the zero value is empty. Values are shared, so nobody may change them.
type Memory struct {
	mu     sync.Mutex
	keys   []string // the latest first
	values map[string]Remembered
}

// Remembered is a value of a [Memory].
type Remembered struct {
	Value any
	// Changed are the numbers of the blocks that were written or removed since Value was computed. If there are none,
	// Value is up to date.
	Changed []int64
}

// Get returns the value of a key; its Value is nil if it is not remembered.
func (m *Memory) Get(key string) Remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.values[key]
	if found {
		m.first(key)
	}
	return r
}

// Put remembers a value that is up to date. If there are too many, the least recently used one is dropped.
func (m *Memory) Put(key string, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[string]Remembered{}
	}
	m.values[key] = Remembered{Value: value}
	if m.first(key); len(m.keys) > maxRemembered {
		delete(m.values, m.keys[maxRemembered])
		m.keys = m.keys[:maxRemembered]
	}
}

// first moves a key to the front.
func (m *Memory) first(key string) {
	for i, k := range m.keys {
		if k == key {
			copy(m.keys[1:i+1], m.keys[:i])
			m.keys[0] = key
			return
		}
	}
	m.keys = append([]string{key}, m.keys...)
}

// inherit copies the values of an earlier memory into m, which must be empty, and adds to each the blocks that have changed
// since.
func (m *Memory) inherit(earlier *Memory, changed []int64) {
	if len(changed) > maxChanged {
		return
	}
	earlier.mu.Lock()
	defer earlier.mu.Unlock()
	m.values = map[string]Remembered{}
	for _, key := range earlier.keys {
		r := earlier.values[key]
		if len(r.Changed)+len(changed) > maxChanged {
			continue
		}
		m.keys = append(m.keys, key)
		m.values[key] = Remembered{Value: r.Value, Changed: slices.Concat(r.Changed, changed)}
	}
}
