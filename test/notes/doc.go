// Package notes tests every action of the SiYuan tools against the levels of notebooks, through the pipeline that
// real callers use.
//
// A workspace is a kernel with three notebooks, its places: open, in which everything is allowed; shut, whose level a test sets;
// and hidden, which nobody may read. All have the same kinds of content, and everything in a notebook contains a word
// of its own, so that anything that leaks can be identified. What each action needs is written here by hand, because
// a test that took it from the actions could not find a wrong declaration.
//
// TestTwoWorkspaces makes random calls of all actions in two such workspaces, one with the hidden notebook and one
// without, and compares the answers.
//
// An action without a case fails the tests.
package notes
