package toolcache

import "io/fs"

// mayWrite is not known there before it is tried; the attribute of a folder says nothing.
func mayWrite(string, fs.FileInfo) bool { return true }
