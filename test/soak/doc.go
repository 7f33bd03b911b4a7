// Package soak runs one gateway with thirty servers and two hundred clients for a while. Meanwhile servers are
// killed, change their lists, are restarted, and are edited in the settings.
//
// Every answer is checked. A call may fail only in the ways that a crash can make it fail, and only around a
// disturbance of its own server. No call hangs, no list ever lacks a server, and memory, goroutines, descriptors and
// processes do not grow.
//
// The test takes half a minute; `make soak` runs for an hour, or for as long as -for says. The flag -seed decides
// what happens when.
package soak
