// Package notes holds the levels of notebooks against every action of the SiYuan tools, by the
// way that real callers take.
//
// A workspace is a kernel with three notebooks: open, in which everything is allowed; shut,
// whose level a test sets; and hidden, which nobody may read. All are full of the same kinds of
// content, and everything in a notebook carries a word of its own, so that whatever escapes can
// be told. What each action needs is written down here by hand: a test
// that took it from the actions could not find a wrong one.
//
// TestTwoWorkspaces makes random calls of all actions in two such workspaces, of which one has the hidden notebook and the other has
// not, and compares what they answer.
//
// An action without a case fails the tests.
package notes
