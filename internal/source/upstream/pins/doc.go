// Package pins remembers the definitions of tools as they were first seen, so that a server
// that changes one later is noticed.
//
//	first sight ──▶ pinned ──another definition──▶ pinned + pending ──approve──▶ pinned
//	                   ▲                                  │
//	                   └──────the pinned one again────────┘
//
// Pins lie in one file that several processes share, with the pinned definition itself, for
// the difference to be shown. A definition that was pinned once is replaced by a person's
// approval only: processes that disagree leave the other one's pin and note what they saw as
// pending. What a change means, a warning or a tool that is hidden, is its user's business,
// and so is the hash of a definition.
//
// The entry point is [Open].
package pins
