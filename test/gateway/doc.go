// Package gateway runs Collie as a whole for tests: the real program, in a home of its own,
// with servers from package mcptest behind it, and clients of either era in front.
//
// A test binary builds the programs once by calling [Main] in its TestMain. [Serve] runs
// `collie serve`, [Stdio] `collie stdio`, [Run] any other command. What is started ends
// with its test; [Programs.Running] tells what was left behind.
package gateway
