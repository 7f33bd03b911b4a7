// Package gateway runs Collie as a whole for tests: the real program, in a home of its own, with servers from
// package mcptest and clients of either era.
//
// [BuildAndRun], called in TestMain, builds the programs once. [Programs.Serve] runs `collie serve`,
// [Programs.DialStdio] runs `collie stdio`, and [Programs.Run] any other command. Everything ends with its test;
// [Programs.Running] returns what was left behind.
package gateway
