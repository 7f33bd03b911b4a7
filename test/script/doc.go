// Package script runs the stories in testdata/script: sessions with the real program as a
// user types them, each in a folder and a home of its own. See [testscript] for their
// language.
//
// On top of it a script has the programs collie and fakemcp on its PATH and their files in
// $COLLIE and $FAKEMCP, COLLIE_HOME and HOME inside $WORK, and the commands that runner.go
// defines.
//
// [testscript]: https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript
package script
