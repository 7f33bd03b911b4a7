// Package live takes a tour of the SiYuan tools in the notes of a real SiYuan kernel: [Smoke] makes a notebook of its
// own, does there what people and models do, from the first document to the last, and removes it again. Each step
// calls an action through a running gateway. The only trace left in the workspace is a line in Collie's file of
// notebook levels.
//
// `make live` runs it against the kernel that SIYUAN_API_URL and SIYUAN_TOKEN name. test/acceptance runs it against
// the kernel of tests, so that the tour itself is known to work.
package live
