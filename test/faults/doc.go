// Package faults shows what the whole program does when servers, clients and people do what
// they should not: it says what happened, the other servers go on, and nothing is left
// behind. Bounds of time are five times the figures promised, since the machine may be busy.
//
// The long forms have the build tag stories.
package faults
