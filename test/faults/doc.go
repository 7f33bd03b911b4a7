// Package faults tests what the whole program does when servers, clients and people misbehave: it reports
// what happened, the other servers go on, and nothing is left behind. Time limits are five times the promised
// figures, because the machine may be busy.
//
// The long forms have the build tag stories.
package faults
