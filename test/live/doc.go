// Package live works in the notes of a real SiYuan kernel: [Smoke] makes a notebook of its own,
// does there what people and models do, from the first document to the last, each step through a
// running gateway, and leaves nothing behind but a line in Collie's file of levels.
//
// `make live` runs it against the kernel that SIYUAN_API_URL and SIYUAN_TOKEN name. The same runs
// against the kernel of tests in test/acceptance, so that it is known to work.
package live
