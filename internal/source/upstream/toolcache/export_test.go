package toolcache

import "time"

// SlowFile is a File whose work calls before first, and has limit instead of 2 s.
func SlowFile(path string, o FileOptions, limit time.Duration, before func(op string)) *File {
	o.limit, o.before = limit, before
	return NewFile(path, o)
}

// WithFile makes a Cache use a File.
func WithFile(o *Options, f *File) { o.file = f }

// Sign signs an entry as a Cache does for its shared place.
var Sign = sign

// SharedName is where the entry of a server lies in a shared place.
var SharedName = sharedName
