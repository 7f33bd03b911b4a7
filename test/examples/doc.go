// Package examples tests that the files of examples/ do what they show. The tests are
// stories, behind the build tag stories:
//
//	go test -tags stories -v ./test/examples
//
// Needed on the machine: npx, and the network of its registry for the first run.
package examples
