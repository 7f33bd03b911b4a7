// Package edit is the surgery on trees that several families of endpoints need: [Put] and [Place] add blocks to a
// container, [Detach] takes them out, [Move], [Update] and [Copy] do what their names say, and [Keep] saves a document
// into the history. They do that themselves, every ten minutes at most, before they change one; who changes one without
// them calls [KeepBefore].
//
// What it upholds is that a tree can always be written as Markdown and read back: a list holds items and nothing else,
// an item lies in a list, a container is never left empty, and neither is a document. What an endpoint checks, and what
// it answers when a check fails, is for the family.
//
// The functions work on trees of one [workspace.Tx] that may write, and keep nothing themselves.
package edit
