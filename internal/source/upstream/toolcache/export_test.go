package toolcache

import "time"

// File lets the tests use the cache file as a backend.
type File = file

// NewFile returns a File for path.
func NewFile(path string, o Options) *File {
	o.Path = path
	o.setDefaults()
	return newFile(o)
}

// Version is the format that is written.
const Version = version

// States that only a Cache sets.
const (
	Active  = active
	Removed = removed
	Invalid = invalid
)

// SeverityWarning is the severity of findings that leave an entry usable.
const SeverityWarning = severityWarning

// SlowFile returns a File that calls before ahead of each operation, with limit in place of the usual time limit.
func SlowFile(path string, o Options, limit time.Duration, before func(op string)) *File {
	f := NewFile(path, o)
	f.limit, f.before = limit, before
	return f
}

// WithFile makes a Cache use f.
func WithFile(o *Options, f *File) { o.file = f }

// WithInstance names a Cache.
func WithInstance(o *Options, name string) { o.instance = name }

// These are Verify, Migrate and Import with a given time or time zone.
var (
	VerifyAt    = verify
	MigrateFrom = migrateFrom
	ImportFrom  = (*Cache).importFrom
)

// Sign signs an entry as a Cache does for its shared place.
var Sign = sign

// SharedName returns the name of a server's entry in a shared place.
var SharedName = sharedName
