// Package examples tests that the settings in the folder examples/ of the repository work. The tests have the build tag
// stories:
//
//	go test -tags stories -v ./test/examples
//
// Needed on the machine: npx, and the network of its registry for the first run.
package examples
