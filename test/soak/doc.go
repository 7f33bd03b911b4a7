// Package soak runs one gateway with thirty servers and two hundred clients for a while. Meanwhile servers
// are killed, change their lists, are restarted, and are edited in the settings.
//
// Every answer is checked; a call may fail only in the ways a crash can make it fail, and only
// around a disturbance of its own server. No call waits for ever, no list ever lacks a server,
// and memory, goroutines, descriptors and processes stay level.
//
// It takes half a minute; `make soak` runs for an hour, or for what -for says. What happens when is up to -seed.
package soak
