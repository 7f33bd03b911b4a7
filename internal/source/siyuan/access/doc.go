// Package access decides what may be done where: by the level of each notebook, and by the tools and actions that are
// switched on. Both are files in the SiYuan workspace, so that they hold for every program that reads them; this
// package reads, merges, migrates and writes them.
//
// Starting never creates the files: stored defaults would be synced to every machine, and would still apply after a
// later version changed the defaults. If the files cannot be read, nothing is written. No flag can replace the levels
// then, since it would open hidden notebooks just when nobody can tell which they are.
//
// Each action declares the levels it needs, and the source checks every call. The entry points are [NewLevels] and
// [NewSwitches].
package access
