package toolcache

import "time"

// The file as a backend, for its own tests.
type File = file

// NewFile makes a File for path.
func NewFile(path string, o Options) *File {
	o.Path = path
	o.defaults()
	return newFile(o)
}

// Version is the format that is written.
const Version = version

// The states that only a Cache sets.
const (
	Active  = active
	Removed = removed
	Invalid = invalid
)

// SeverityWarning is the severity of what does not keep an entry from being used.
const SeverityWarning = severityWarning

// SlowFile is a File whose work calls before first, and has limit instead of 2 s.
func SlowFile(path string, o Options, limit time.Duration, before func(op string)) *File {
	f := NewFile(path, o)
	f.limit, f.before = limit, before
	return f
}

// WithFile makes a Cache use a File.
func WithFile(o *Options, f *File) { o.file = f }

// WithInstance names a Cache.
func WithInstance(o *Options, name string) { o.instance = name }

// Verify, Migrate and Import at another moment or in another time zone.
var (
	VerifyAt    = verify
	MigrateFrom = migrateFrom
	ImportFrom  = (*Cache).importFrom
)

// Sign signs an entry as a Cache does for its shared place.
var Sign = sign

// SharedName is where the entry of a server lies in a shared place.
var SharedName = sharedName
