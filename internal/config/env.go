package config

import (
	"os"
	"slices"
	"strings"
)

// Env is an environment: that of the process from [FromOS], or one for a test from [EnvOf]. The zero value is
// empty. It is safe for concurrent use.
type Env struct {
	lookup func(string) (string, bool)
	list   []string
}

// FromOS returns the present environment of this process.
func FromOS() Env { return Env{lookup: os.LookupEnv, list: os.Environ()} }

// EnvOf returns an environment of NAME=value pairs. If a name occurs twice, the last value counts.
func EnvOf(pairs ...string) Env {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		m[name] = value
	}
	return Env{
		lookup: func(name string) (string, bool) { v, ok := m[name]; return v, ok },
		list:   slices.Clone(pairs),
	}
}

// Lookup returns the value of a variable and whether it is set.
func (e Env) Lookup(name string) (string, bool) {
	if e.lookup == nil {
		return "", false
	}
	return e.lookup(name)
}

// Get returns the value of a variable, empty if it is not set.
func (e Env) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// First returns the first value among names that is set and not empty.
func (e Env) First(names ...string) string {
	for _, n := range names {
		if v := e.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// List returns all variables as NAME=value. The caller may change the slice.
func (e Env) List() []string { return slices.Clone(e.list) }
