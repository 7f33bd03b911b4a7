// Package script runs the scripts in testdata/script at the root: sessions with the real program as people type them,
// each in a folder and a home of its own. Their language is that of [testscript].
//
// In addition, a script finds the programs collie and fakemcp on its PATH and their files in $COLLIE and $FAKEMCP.
// COLLIE_HOME and HOME are inside $WORK. runner.go defines further commands.
//
// [testscript]: https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript
package script
