// Package pressure tests that nothing is lost if clients read more slowly than servers answer: over the pipes
// of `collie stdio`, over the bridge to a running `collie serve`, and over HTTP. The clients are raw, so that
// they read exactly as fast as a test wants. The stories print what they measured:
//
//	go test -tags stories -v ./test/pressure
package pressure
